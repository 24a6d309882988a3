"""Swing a pole up by optimizing the forces on its cart, with gradients through the whole motion.

You learn to state an objective of rollouts, to get its gradient with respect to all forces from one reverse pass, and
to hand both to an optimizer. The pole starts hanging; only the cart is pushed.

    python examples/35_swing_up.py --plot swing_up.png

Output::

    200 forces: cost 20 without them, 0... after ... gradients
    at the end the pole stands within 0.0... rad of upright, at ... rad/s
    gradient and difference quotients agree to ...
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import kinetree as kt
from kinetree.spatial.scalar import cos

CART = kt.models.cart_pole()  # joints "slider" and "hinge"; at zero the pole stands upright
START, DT, STEPS = np.array([0.0, np.pi]), 0.01, 200


def effort(s):
    return 1e-3 * s.tau[0] ** 2


def upright_at_rest(s):
    return 10.0 * (1.0 - cos(s.q[1])) + 0.5 * s.v[1] ** 2 + 0.5 * s.v[0] ** 2 + 5.0 * s.q[0] ** 2


ROLL = kt.simulation.DifferentiableRollout(CART, effort, upright_at_rest, integrator="rk4")


def gradient(push):
    """The cost and its gradient by the forces on the cart over time; the hinge has no motor."""
    found = ROLL(START, None, np.stack([push, np.zeros_like(push)], axis=-1), DT)
    return found.value, found.tau[..., 0]


def optimized():
    """The best forces, and the motion."""
    guess = 3.0 * np.sin(np.linspace(0.0, 4.0 * np.pi, STEPS))
    best = minimize(gradient, guess, jac=True, method="L-BFGS-B", options={"maxiter": 150})
    return best, kt.rollout(CART, START, None, np.stack([best.x, 0.0 * best.x], axis=-1), DT, integrator="rk4")


def agreement() -> float:
    """The error of the gradient, relative to difference quotients."""
    push = np.sin(np.arange(STEPS) / 20.0)
    return kt.check_gradient(lambda x: gradient(x)[0], push, gradient(push)[1], directions=4, vectorized=True).error


def main(plot: str | None = None) -> None:
    best, (q, v), idle = *optimized(), gradient(np.zeros(STEPS))[0]
    print(f"{STEPS} forces: cost {idle:.0f} without them, {best.fun:.2f} after {best.nfev} gradients")
    print(f"at the end the pole stands within {abs(np.sin(q[-1, 1])):.2f} rad of upright, at {abs(v[-1, 1]):.2f} rad/s")
    print(f"gradient and difference quotients agree to {agreement():.0e}")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5))
        axes[0].plot(DT * np.arange(STEPS + 1), q, label=("cart [m]", "pole [rad]"))
        axes[0].legend()
        axes[1].fill_between(DT * np.arange(STEPS), best.x, step="post")
        axes[1].set(xlabel="time [s]", ylabel="force on the cart [N]")
        figure.savefig(plot)


def check() -> None:
    assert agreement() < 1e-8


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
