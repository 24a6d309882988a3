"""Motors in loops: torques that several motors share, motors at dead centers, and linearization about an equilibrium.

You learn to compute torques of mechanisms with loops, of which one motion has many, to see which motors can cause a
motion, and to linearize about positions that motors hold.

    python examples/27_motors_in_loops.py

Output::

    crank turns at 5 rad/s: largest torque 88.9 N m by one motor, 74.6 by two, the same power
    a motor at the rocker alone: torques up to 9049 N m beside its dead centers
    held by the crank's motor: stable at 45 % of the angles, oscillates at up to 4.8 rad/s, falls at up to 2.9 1/s
"""

import numpy as np

import kinetree as kt

ANGLES = np.linspace(0.0, 2.0 * np.pi, 181)
SPEED = 5.0  # of the crank [rad/s]


def turning():
    """A four-bar, and its positions, velocities and accelerations while the crank turns evenly."""
    model = kt.models.four_bar()
    q = np.stack([kt.models.four_bar(angle=angle).keyframe("initial")[0] for angle in ANGLES])
    v = SPEED * kt.closed_loops.null_space(model, q, independent="crank")[:, :, 0]
    return model, q, v, kt.closed_loops.accelerations(model, q, v, np.zeros((len(q), 1)), independent="crank")


def torques() -> dict[str, np.ndarray]:
    """Torques of crank and rocker (181, 3) [N m] by motors at the crank, at both, and at the rocker alone."""
    model, q, v, a = turning()
    found = {"crank": kt.inverse_dynamics(model, q, v, a, actuated=["crank"])}
    found["both"] = kt.inverse_dynamics(model, q, v, a, actuated=["crank", "rocker"])
    families = (kt.closed_loops.torque_family(model, *x, actuated=["rocker"]) for x in zip(q, v, a, strict=True))
    return found | {"rocker": np.stack([family.tau for family in families])}


def stiffness() -> np.ndarray:
    """The crank's angular acceleration per angle (181,) [1/s^2], under the torque that holds each position."""
    model, q, v, _ = turning()
    tau = kt.inverse_dynamics(model, q, 0.0 * v, 0.0 * v, actuated=["crank"])
    A, _ = kt.closed_loops.linearization(model, q, 0.0 * v, tau, independent="crank")
    return A[:, 1, 0]


def main() -> None:
    found = torques()
    one, two = (np.abs(found[name]).max() for name in ("crank", "both"))
    print(f"crank turns at 5 rad/s: largest torque {one:.1f} N m by one motor, {two:.1f} by two, the same power")
    print(f"a motor at the rocker alone: torques up to {np.abs(found['rocker']).max():.0f} N m beside its dead centers")
    slope = stiffness()
    print(f"held by the crank's motor: stable at {100 * (slope < 0).mean():.0f} % of the angles, oscillates at up to "
          f"{np.sqrt(-slope.min()):.1f} rad/s, falls at up to {np.sqrt(slope.max()):.1f} 1/s")  # fmt: skip


def check() -> None:
    """All torques have the power of the motion, two motors need less, slopes are those of accelerations."""
    model, q, v, a = turning()
    found, rate = torques(), np.gradient(kt.potential_energy(model, q) + kt.kinetic_energy(model, q, v), ANGLES) * SPEED
    for tau in found.values():
        power = np.einsum("ij,ij->i", tau, v)
        assert np.abs(power - rate)[2:-2].max() < 0.01 * np.abs(rate).max() + 1e-2
    assert np.linalg.norm(found["both"], axis=1).max() < np.abs(found["crank"]).max()
    tau = kt.inverse_dynamics(model, q, 0.0 * v, 0.0 * v, actuated=["crank"])
    moved = kt.forward_dynamics(model, np.roll(q, -1, axis=0), 0.0 * v, tau)[1:-1, 0]  # torques of a step before
    assert np.abs(moved / np.diff(ANGLES)[0] - stiffness()[1:-1]).max() < 0.1 * np.abs(stiffness()).max()


if __name__ == "__main__":
    main()
