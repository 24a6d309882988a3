"""Time stepping tends to the event-driven motion as dt goes to 0: docs/event_driven.svg.

Run ``python examples/figures/event_driven.py docs``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

STEPS = 4e-3 * 0.5 ** np.arange(6)


def body(shape: str, size, inertia, friction: float):
    """A free body on a floor."""
    b = kt.ModelBuilder(shape)
    b.add_body("body", joint=kt.joints.Free(), mass=1.0, inertia=np.diag(inertia))
    solid = kt.collision.Shape("body", shape, size, name="solid")
    floor = kt.collision.Shape("world", "plane", name="floor")
    return b.build().replace(contacts=[kt.collision.ContactPair("floor/body", floor, solid, friction=friction)])


def distances(model, q, v) -> list[float]:
    """Distances of positions after 0.3 s [m]."""
    given = dict(q0=q, v0=v, duration=0.3)
    exact = kt.simulate(model, **given, dt=0.05, integrator="event_driven").q[-1, :3]
    runs = (kt.simulate(model, **given, dt=dt, integrator="time_stepping") for dt in STEPS.tolist())
    return [float(np.linalg.norm(run.q[-1, :3] - exact)) for run in runs]


def draw(path: Path) -> None:
    """Both bodies over dt."""
    turned = np.array([0.9, 0.2, 0.3, 0.1])
    ball = body("sphere", (0.1,), (0.004, 0.004, 0.004), 0.2)
    box = body("box", (0.2, 0.3, 0.1), (0.0083, 0.0042, 0.0108), 0.5)
    plt.style.use(kt.viz.STYLE)
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    slides = distances(ball, [0, 0, 0.1, 1, 0, 0, 0], [0, 0, 0, 1, 0.2, 0])
    ax.loglog(1e3 * STEPS, slides, "o-", label="sphere: slides, then rolls")
    tumbles = distances(box, [0, 0, 0.2, *turned / np.linalg.norm(turned)], [1, 2, 0, 1, 0.2, 0])
    ax.loglog(1e3 * STEPS, tumbles, "s-", label="box: tumbles")
    ax.loglog(1e3 * STEPS, slides[0] * STEPS / STEPS[0], "k:", label="order 1")
    ax.set(xlabel="dt of time stepping [ms]", ylabel="distance after 0.3 s [m]")
    ax.set_xticks(1e3 * STEPS, [f"{1e3 * dt:g}" for dt in STEPS])
    ax.minorticks_off()
    ax.legend()
    figure.savefig(path)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "event_driven.svg")
