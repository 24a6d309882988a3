"""A finger pulled straight by a cord over pins: where a cord touches a pin, its moment arm is the radius.

You learn to write the path of a tendon over points and shapes, to put a spring along it, and to draw it.

    python examples/33_cord_over_a_pulley.py --plot finger.png

Output::

    moment arms of knuckle and knee, touching: 50.0 and 40.0 mm; straight: 94.1 and 66.6 mm
    released with both joints bent by 1 rad: straight to 0.01 rad after 2 s
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.joints import Revolute
from kinetree.tendons import ViaPoint, WrapShape

ALONG_Y = (np.pi / 2, 0.0, 0.0)  # turns the z axis of a frame into the axis of the hinges


def finger() -> kt.Model:
    b = kt.ModelBuilder("finger", gravity=(0.0, 0.0, 0.0))
    rod = {"mass": 0.1, "com": (0.2, 0.0, 0.0), "inertia": (1e-4, 2e-3, 2e-3), "damping": 0.05, "lower": 0.0}
    b.add_body("near", joint=Revolute((0, 1, 0)), joint_name="knuckle", **rod)
    b.add_body("far", "near", Revolute((0, 1, 0)), "knee", placement=((0.4, 0, 0), (0, 0, 0)), **rod)
    b.add_frame("tip", "far", ((0.4, 0, 0), (0, 0, 0)))
    for pin, body, x in (("large pin", "near", 0.0), ("small pin", "near", 0.4)):
        b.add_frame(pin, body, ((x, 0.0, 0.0), ALONG_Y))
        b.add_frame(f"above {pin}", body, ((x, 0.0, 0.1), (0.0, 0.0, 0.0)))
    path = (
        ViaPoint("world", (-0.2, 0.0, 0.06)), WrapShape("cylinder", "large pin", 0.05, side="above large pin"),
        ViaPoint("near", (0.2, 0.0, 0.07)), WrapShape("cylinder", "small pin", 0.04, side="above small pin"),
        ViaPoint("tip", (0.0, 0.0, 0.02)),
    )  # fmt: skip
    cord = kt.model.Tendon("cord", path, stiffness=100.0, rest_length=(0.0, 0.98), damping=1.0)
    b.equipment = kt.model.Equipment(tendons=(cord,))
    return b.build()


def moment_arms(model, q) -> np.ndarray:
    """Minus the slopes of the length (2,) [m]."""
    return -kt.dynamics.tendon_jacobian(model, q)[0]


def main(plot: str = "") -> None:
    model = finger()
    bent, straight = (1e3 * np.abs(moment_arms(model, q)) for q in ([1.0, 1.0], [-0.3, -0.1]))
    touching, free = (f"{x[0]:.1f} and {x[1]:.1f} mm" for x in (bent, straight))
    print(f"moment arms of knuckle and knee, touching: {touching}; straight: {free}")
    run = kt.simulate(model, [1.0, 1.0], duration=2.0, dt=1e-3)
    print(f"released with both joints bent by 1 rad: straight to {np.abs(run.q[-1]).max():.2f} rad after 2 s")
    if not plot:
        return
    plt.style.use(kt.viz.STYLE)
    figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.8), sharex=True, sharey=True)
    for ax, q in zip(axes, ([0.0, 0.0], [0.5, 0.6], [1.0, 1.3]), strict=True):
        points = {name: kt.pose(model, q, frame=name)[1][[0, 2]] for name in ("near", "far", "tip")}
        ax.plot(*np.transpose(list(points.values())), "o-", color="0.6", linewidth=4.0)
        for pin, radius in (("near", 0.05), ("far", 0.04)):
            ax.add_patch(plt.Circle(points[pin], radius, fill=False))
        ax.plot(*kt.tendons.path_points(model, q, "cord")[0].T[[0, 2]], color="C1")
        ax.set(aspect="equal", xlabel="x [m]", title=f"length {kt.dynamics.tendon_lengths(model, q)[0]:.3f} m")
    figure.savefig(plot, dpi=150, bbox_inches="tight")


def check() -> None:
    """The moment arm of a touched pin is its radius, whatever the angles; no energy is lost but in dampers."""
    model = finger()
    for q in ([0.8, 0.9], [1.2, 1.0]):
        assert np.allclose(moment_arms(model, q), (-0.05, -0.04), atol=1e-12)
    balance = kt.simulate(model, [1.0, 1.0], duration=0.2, dt=1e-3, integrator="rk4").energy_balance
    assert np.abs(balance.remainder).max() < 1e-3 * balance.scale


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--plot"] else "")
