"""Which integrator? Order, energy and time of the three on one mechanism.

You learn what the choices of `simulate` cost and give. Halving the step halves the error of "semi_implicit" (order 1)
and divides that of "rk4" by sixteen (order 4); "adaptive" chooses its steps by a tolerance. For controllers,
friction, stops and stiff springs take the first, for smooth motions the second, for reference solutions the third.

    python examples/10_integrators.py --plot integrators.png

Output::

    semi_implicit  dt = 4 ms: error ...   dt = 0.5 ms: error ...   order ...
    rk4            dt = 4 ms: error ...   dt = 0.5 ms: error ...   order ...
    energy drift over 20 s at 4 ms: semi_implicit ..., rk4 ...
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

PENDULUM = kt.models.n_pendulum(3, length=0.5)
START = {"q0": [1.0, 0.5, -0.5], "v0": [0.0, 0.0, 0.0]}
STEPS = 1e-3 * np.array([4.0, 2.0, 1.0, 0.5])
FIXED = ("semi_implicit", "rk4")


def errors(integrator: str) -> np.ndarray:
    """Distance of the state after one second from the reference solution, for each step [rad, rad/s]."""
    tight = kt.integrators.Adaptive(rtol=1e-13, atol=1e-13)
    exact = kt.simulate(PENDULUM, **START, duration=1.0, dt=1.0, integrator=tight)
    found = []
    for dt in STEPS:
        run = kt.simulate(PENDULUM, **START, duration=1.0, dt=dt, integrator=integrator)
        found.append(np.abs([run.q[-1] - exact.q[-1], run.v[-1] - exact.v[-1]]).max())
    return np.array(found)


def order(found: np.ndarray) -> float:
    """Slope of the error over the step in a doubly logarithmic plot."""
    return float(np.polyfit(np.log(STEPS), np.log(found), 1)[0])


def long_run(integrator: str):
    """Twenty seconds of a motion that is chaotic, so only its energy is compared."""
    return kt.simulate(PENDULUM, **START, duration=20.0, dt=STEPS[0], integrator=integrator)


def main(plot: str | None = None) -> None:
    found = {integrator: errors(integrator) for integrator in FIXED}
    for integrator, error in found.items():
        first, last = f"dt = 4 ms: error {error[0]:.1e}", f"dt = 0.5 ms: error {error[-1]:.1e}"
        print(f"{integrator:14s} {first}   {last}   order {order(error):.1f}")
    runs = {integrator: long_run(integrator) for integrator in FIXED}
    print("energy drift over 20 s at 4 ms: " + ", ".join(f"{i} {run.energy_drift:.1e}" for i, run in runs.items()))
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
        for integrator, run in runs.items():
            left.loglog(1e3 * STEPS, found[integrator], "o-", label=integrator)
            right.semilogy(run.time[1:], np.abs(run.energy - run.energy[0])[1:], label=integrator)
        left.set(xlabel="step [ms]", ylabel="error after 1 s", title="order")
        right.set(xlabel="time [s]", ylabel="change of the energy [J]", title="energy, steps of 4 ms")
        left.set_xticks(1e3 * STEPS, [f"{1e3 * dt:g}" for dt in STEPS])
        left.minorticks_off()
        left.legend()
        figure.savefig(plot)


def check() -> None:
    """The orders are one and four (the latter shows a little more before it is met by rounding)."""
    assert abs(order(errors("semi_implicit")) - 1.0) < 0.1
    assert abs(order(errors("rk4")) - 4.0) < 0.5


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
