"""An arm with six muscles reaches by excitations alone.

You learn to build a musculoskeletal model, to start its fibers in equilibrium with their tendons, and to move it by
named excitations.

    python examples/31_reaching_with_muscles.py --plot reaching.png

Output::

    elbow from 20 deg to ... deg in 0.3 s; largest tension ... N (...)
    energy: muscles gave ... J, fibers lost ... J; ... J unexplained
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

FLEXORS, EXTENSORS = ("BIClong", "BICshort", "BRA"), ("TRIlong", "TRIlat", "TRImed")
Q0 = np.radians([0.0, 20.0])


def excitations() -> dict:
    """Flexors pull for 0.1 s, then extensors brake."""
    control = {f"{name}.excitation": lambda t: 0.25 if t < 0.1 else 0.03 for name in FLEXORS}
    return control | {f"{name}.excitation": lambda t: 0.2 if 0.1 < t < 0.25 else 0.02 for name in EXTENSORS}


def run() -> kt.Trajectory:
    arm, inputs = kt.models.arm26(tendon="compliant"), kt.Inputs(control=excitations())
    x0 = kt.muscles.equilibrate(arm, Q0, x=np.tile([0.02, 0.1], 6))
    return kt.simulate(arm, Q0, duration=0.3, dt=5e-4, x0=x0, integrator="rk4", inputs=inputs)


def main(plot: str | None = None) -> None:
    done = run()
    T = kt.muscles.tensions(done.model, done.q, done.v, x=done.x)
    _, power = kt.muscles.energies(done.model, done.q, done.v, x=done.x)
    active, lost = np.trapezoid(power.sum(axis=1), done.time, axis=0)
    strongest = done.model.muscles[int(T.max(axis=0).argmax())].name
    print(f"elbow from 20 deg to {np.degrees(done.q[-1, 1]):.0f} deg in 0.3 s; ", end="")
    print(f"largest tension {T.max():.0f} N ({strongest})")
    print(f"energy: muscles gave {active:.2f} J, fibers lost {lost:.2f} J; ", end="")
    print(f"{np.abs(done.energy_balance.remainder).max():.0e} J unexplained")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 7), layout="constrained")
        activations = [n for n, name in enumerate(done.model.state_names) if name.endswith("activation")]
        axes[0].plot(done.time, np.degrees(done.q), label=("shoulder", "elbow"))
        axes[1].plot(done.time, done.x[:, activations])
        axes[2].plot(done.time, T, label=[muscle.name for muscle in done.model.muscles])
        for ax, label in zip(axes, ("angle [deg]", "activation [1]", "tension [N]"), strict=True):
            ax.set_ylabel(label)
        axes[0].legend()
        axes[2].legend(ncols=2)
        axes[2].set_xlabel("time [s]")
        figure.savefig(plot)


def check() -> None:
    """The flexors flex the elbow; the work of the muscles is active energy minus losses and stored energies."""
    done = run()
    assert done.q[-1, 1] > done.q[0, 1] + 0.3
    stored, power = kt.muscles.energies(done.model, done.q, done.v, x=done.x)
    T, R = kt.muscles.tensions(done.model, done.q, done.v, x=done.x), kt.muscles.moment_arms(done.model, done.q)
    work = np.trapezoid(np.einsum("tm,tmk,tk->t", T, R, done.v), done.time)
    active, lost = np.trapezoid(power.sum(axis=1), done.time, axis=0)
    balance = active - lost - (stored[-1] - stored[0]).sum()
    assert abs(work - balance) < 1e-3 * abs(active)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
