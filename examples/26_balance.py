"""Balance a pole on a cart by a linear quadratic regulator, continuous and at 20 Hz.

You learn to make a regulator of an underactuated mechanism: one motor, two joints. The regulator is that of the model
linearized upright; how far it reaches is found by simulation of the whole equations.

    python examples/26_balance.py --plot balance.png

Output::

    poles -9.1, -2.3 +- 0.9i, -1.1 1/s; a start at 0.3 rad costs ...
    continuous: caught from ... rad
    at 20 Hz:   caught from ... rad
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

CART = kt.models.cart_pole()  # joints "slider" and "hinge"; at zero the pole stands upright
WEIGHTS = dict(Q=1.0, R=0.1, actuated="slider")
PERIOD = 0.05  # [s]
CONTINUOUS = kt.control.lqr(CART, np.zeros(2), **WEIGHTS)
DIGITAL = kt.control.Sampled(kt.control.lqr(CART, np.zeros(2), dt=PERIOD, **WEIGHTS), PERIOD)


def fall(angle, controller, **how):
    """The run from rest with the pole at an angle [rad]."""
    return kt.simulate(CART, [0.0, angle], controller=controller, **{"duration": 6.0, "dt": 5e-3} | how)


def caught(controller, steps=6):
    """The largest angle [rad] from which the pole ends upright, by bisection."""
    low, high = 0.3, 1.5
    for _ in range(steps):
        middle = 0.5 * (low + high)
        try:
            upright = abs(fall(middle, controller).q[-1, 1]) < 0.05
        except kt.errors.SimulationError:  # linear feedback of a pole that turns over and over grows without bound
            upright = False
        low, high = (middle, high) if upright else (low, middle)
    return low


def main(plot: str | None = None) -> None:
    fast, pair, _, slow = sorted(CONTINUOUS.poles, key=lambda pole: (pole.real, -pole.imag))
    x = np.array([0.0, 0.3, 0.0, 0.0])
    print(f"poles {fast.real:.1f}, {pair.real:.1f} +- {pair.imag:.1f}i, {slow.real:.1f} 1/s; "
          f"a start at 0.3 rad costs {x @ CONTINUOUS.cost @ x:.2f}")  # fmt: skip
    print(f"continuous: caught from {caught(CONTINUOUS):.2f} rad")
    print(f"at 20 Hz:   caught from {caught(DIGITAL):.2f} rad")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
        for angle in (0.3, 0.6, 0.9):
            run = fall(angle, CONTINUOUS)
            (line,) = axes.plot(run.time, run.q[:, 1], label=f"{angle} rad")
            run = fall(angle, DIGITAL)
            axes.plot(run.time, run.q[:, 1], ":", color=line.get_color())
        axes.set(xlabel="time [s]", ylabel="angle of the pole [rad]", title="continuous, and dotted: at 20 Hz")
        axes.legend()
        figure.savefig(plot)


def check() -> None:
    """For a small start the cost of the run, by quadrature, is that of the Riccati matrix."""
    accurate = dict(integrator=kt.integrators.Adaptive("dop853", rtol=1e-9, atol=1e-12), dt=5e-3, duration=12.0)
    run = fall(1e-3, CONTINUOUS, **accurate)
    x = np.concatenate((run.q, run.v), axis=1)
    cost = np.trapezoid((x**2).sum(axis=1) + 0.1 * run.tau[:, 0] ** 2, run.time)
    assert abs(cost / (x[0] @ CONTINUOUS.cost @ x[0]) - 1.0) < 1e-3


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
