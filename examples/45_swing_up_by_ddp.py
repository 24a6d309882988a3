"""Swing a pole up by differential dynamic programming with bounded forces, then one that is heavier than planned.

You learn the difference between iLQR and DDP: second derivatives of the steps make the end of the search quadratic.
Bounds of forces are constraints: the best motion has arcs at the bounds; where a force is free the gradient is zero.

    python examples/45_swing_up_by_ddp.py --plot swing_up.png

Output::

    iLQR: cost 0.066820, 300 iterations did not suffice, gradient ...e-...
    DDP: cost 0.066820, converged after ... iterations, gradient ...e-...
    the pole ends 0.0015 rad from upright; 11 of 50 forces are at the bound of 8 N
    a reverse pass gives the gradient ...e-... where forces are free
    with 20 % more mass the pole ends 0.00... rad from upright by the feedback of the plan
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

POLE, START, DT, BOUND = kt.models.cart_pole(), [0.0, np.pi], 0.04, 8.0  # at zero the pole stands upright


def push(s):
    return 1e-3 * s.tau[0] ** 2


def upright(s):
    return 30.0 * (s.q[1] ** 2 + s.q[0] ** 2 + 0.1 * (s.v[0] ** 2 + s.v[1] ** 2))


def swung_up(method: str):
    options = {"actuated": "slider", "effort_limit": BOUND, "integrator": "rk4", "tolerance": 1e-12}
    return kt.control.iLQR(POLE, push, upright, dt=DT, horizon=50, method=method, **options)(START)


def slope(plan) -> np.ndarray:
    """Derivatives of the cost by the forces, from a reverse pass through the rollout."""
    options = {"running": push, "terminal": upright, "integrator": "rk4"}
    return kt.rollout_gradient(POLE, START, None, plan.tau, DT, **options).tau[:, 0]


def main(plot: str | None = None) -> None:
    ilqr, ddp = swung_up("ilqr"), swung_up("ddp")
    for name, found in (("iLQR", ilqr), ("DDP", ddp)):
        print(f"{name}: cost {found.cost:.6f}, {found.message}, gradient {found.gradient:.0e}")
    held = np.abs(ddp.tau[:, 0]) == BOUND
    print(f"the pole ends {abs(ddp.q[-1, 1]):.4f} rad from upright; {held.sum()} of 50 forces are at the bound of 8 N")
    print(f"a reverse pass gives the gradient {np.abs(slope(ddp)[~held]).max():.0e} where forces are free")
    heavy = kt.models.cart_pole(pole_mass=0.12)
    run = kt.simulate(heavy, START, duration=2.0, dt=DT, integrator="rk4", controller=ddp)
    print(f"with 20 % more mass the pole ends {abs(run.q[-1, 1]):.3f} rad from upright by the feedback of the plan")
    if plot:
        plt.style.use(kt.viz.STYLE)
        fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
        left.plot(ddp.time, ddp.q, label=("cart [m]", "pole [rad]"))
        left.step(ddp.time[:-1], ddp.tau[:, 0], where="post", label="force [N]")
        left.set(xlabel="time [s]")
        for name, found in (("iLQR", ilqr), ("DDP", ddp)):
            right.semilogy(np.maximum(found.costs - ddp.cost, 1e-12), label=name)
        right.set(xlabel="iteration", ylabel="cost above the least one")
        left.legend(), right.legend()
        fig.savefig(plot)


def check() -> None:
    plan = swung_up("ddp")  # conditions of an optimum, by another algorithm
    force, gradient = plan.tau[:, 0], slope(plan)
    held = np.abs(force) == BOUND
    assert plan.converged and np.abs(gradient[~held]).max() < 1e-7
    assert held.any() and (gradient[held] * force[held] < 0.0).all()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
