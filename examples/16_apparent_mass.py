"""How heavy is a robot's hand? Articulated bodies, their handles, and assembly by pairs.

You learn the apparent inertia of a mechanism at one or two of its frames (articulated-body inertia), and how its
forward dynamics is assembled pairwise, in log2 n steps.

Output::

    the arm weighs 13.5 kg; its apparent mass at the tool is 0.55 to 5.11 kg
    in the lightest direction it accelerates by 1.813 m/s^2 per N, by aba 1.813
    a push on one foot of a quadruped moves the next: ... mm/s^2 per N, 0.00 with a fixed trunk
    a snake of 100 links: 7 levels of assembly, accelerations agree to ...e-...
"""

import numpy as np

import kinetree as kt

ARM = kt.load("arm7")
Q = np.array([0.4, 0.7, -0.3, 1.4, 0.2, -0.6, 0.1, 0.02, 0.02])
SNAKE = kt.models.chain_gu(100)
FEET = ("FL_foot", "FR_foot")


def apparent_masses():
    """Principal directions at the tool with their apparent masses, lightest first."""
    Phi, _ = kt.dynamics.articulated_inverse_inertia(ARM, Q, handles="tool")
    compliance, directions = np.linalg.eigh(Phi[3:, 3:])
    return 1.0 / compliance[::-1], directions[:, ::-1].T


def pushed(direction):
    """The acceleration along a direction in which the tool is pushed with 1 N, at rest and without gravity, by aba."""
    arm, zero = ARM.replace(gravity=(0.0, 0.0, 0.0)), np.zeros(ARM.nv)
    R, p = kt.pose(arm, Q, frame="tool")
    f, body = R @ direction, arm.body_names[arm.frame("tool").body]
    a = kt.aba(arm, Q, zero, zero, {body: np.r_[np.cross(p, f), f]})
    moved = kt.acceleration(arm, Q, zero, a, frame="tool", reference="local", kind="spatial")
    return moved[3:] @ direction


def coupling(floating):
    """How much a force on one foot of a quadruped accelerates the next, the most over all directions."""
    robot = kt.load("quadruped", floating_base=floating)
    q = np.r_[robot.neutral()[: robot.nq - 12], np.tile([0.0, 0.8, -1.6], 4)]
    Phi, _ = kt.dynamics.articulated_inverse_inertia(robot, q, handles=FEET)
    return np.linalg.norm(Phi[3:6, 9:12], 2)


def snake():
    """Levels of assembly, and how far divide and conquer is from aba, relative."""
    q, v, tau = 0.1 * np.random.default_rng(0).standard_normal((3, SNAKE.nv))
    with kt.interpreted():  # the members of a level go through NumPy together
        expected, found = kt.aba(SNAKE, q, v, tau), kt.dynamics.divide_and_conquer(SNAKE, q, v, tau)
    return kt.dynamics.assembly_tree(SNAKE).depth, np.abs(found - expected).max() / np.abs(expected).max()


def main() -> None:
    (light, *_, heavy), (direction, *_) = apparent_masses()
    print(f"the arm weighs {ARM.total_mass:.1f} kg; its apparent mass at the tool is {light:.2f} to {heavy:.2f} kg")
    print(f"in the lightest direction it accelerates by {1.0 / light:.3f} m/s^2 per N, by aba {pushed(direction):.3f}")
    push = f"{1e3 * coupling(True):.2f} mm/s^2 per N, {1e3 * coupling(False):.2f} with a fixed trunk"
    print(f"a push on one foot of a quadruped moves the next: {push}")
    print("a snake of 100 links: {} levels of assembly, accelerations agree to {:.0e}".format(*snake()))


def check() -> None:
    (light, *_, heavy), (direction, *_) = apparent_masses()
    assert 0.0 < light < heavy
    assert np.isclose(pushed(direction), 1.0 / light, rtol=1e-10)
    assert coupling(True) > 1e-3 and coupling(False) < 1e-12
    depth, error = snake()
    assert depth == 7 and error < 1e-10


if __name__ == "__main__":
    main()
    check()
