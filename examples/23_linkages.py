"""Linkages: coupler curves of both assembly branches, mobility where counting is wrong, and singular positions.

You learn to take mechanisms from kt.models, to find all their assembly branches, to analyze their mobility, and to
simulate one that passes positions in which it has more freedoms (problem A02 of the IFToMM benchmarks).

    python examples/23_linkages.py --plot linkages.png

Output::

    four-bar at 1 rad: coupler at 0.586 rad (open) or -1.245 rad (crossed)
    Bennett's linkage: counting gives -2, mobility 1, 3 constraint forces undetermined
    chain of four-bars: mobility 1, 3 where it is flat; after 10 s the tip is off by ... m, energy by ... J
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

TIP = (0.328458111537, 0.944518538180)  # of the first crank after 10 s, published
CRANK = np.linspace(0.0, 2.0 * np.pi, 73)


def curve(branch: int) -> np.ndarray:
    """The path of a point beside the coupler (73, 2) [m], of one branch while the crank turns once."""
    b = kt.ModelBuilder.of(kt.models.four_bar())
    b.add_frame("pen", "coupler", ((1.5, 1.0, 0.0), (0.0, 0.0, 0.0)))
    model = b.build()
    q, path = kt.closed_loops.branches(model, driver={"crank": 0.0})[branch], []
    for angle in CRANK:  # each position is the guess for the next one
        q[0] = angle
        q = kt.assemble(model, q, fixed="crank")
        path.append(kt.pose(model, q, frame="pen").p_WF[:2])
    return np.array(path)


def chain() -> tuple[float, float]:
    """Errors of the tip [m] and of the energy [J] of two four-bars in a row after 10 s, in steps of 2 ms."""
    run = kt.simulate(kt.models.four_bar_chain(2), duration=10.0, dt=2e-3)
    phi = run.q[-1, 0]
    return float(np.hypot(np.sin(phi) - TIP[0], np.cos(phi) - TIP[1])), float(np.ptp(run.energy))


def main(plot: str | None = None) -> None:
    crossed, opened = kt.closed_loops.branches(kt.models.four_bar(), driver={"crank": 1.0})
    print(f"four-bar at 1 rad: coupler at {1 + opened[1]:.3f} rad (open) or {1 + crossed[1]:.3f} rad (crossed)")
    found = kt.closed_loops.mobility(kt.models.bennett())
    print(f"Bennett's linkage: counting gives {found.gruebler}, mobility {found.mobility}, "
          f"{found.redundancy} constraint forces undetermined")  # fmt: skip
    flat = kt.closed_loops.mobility(kt.models.four_bar_chain(2, angle=np.pi / 2))
    tip, energy = chain()
    print(f"chain of four-bars: mobility {flat.generic_mobility}, {flat.mobility} where it is flat; "
          f"after 10 s the tip is off by {tip:.1e} m, energy by {energy:.1e} J")  # fmt: skip
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
        for branch, label in enumerate(("crossed", "open")):
            axis.plot(*curve(branch).T, label=label)
        axis.set(xlabel="x [m]", ylabel="y [m]", title="coupler curves of a four-bar", aspect="equal")
        axis.legend()
        figure.savefig(plot)


def check() -> None:
    """Curves are closed, the chain passes its singular positions, and its energy stays."""
    assert all(np.abs(path[0] - path[-1]).max() < 1e-9 < np.ptp(path) for path in map(curve, (0, 1)))
    tip, energy = chain()
    assert tip < 1e-8 and energy < 1e-7


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
