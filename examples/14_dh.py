"""A robot from its maker's table: Denavit-Hartenberg parameters, given and found.

You learn to build an arm from the modified parameters that Franka Emika publishes, to give its links masses and its
joints limits, to read the parameters of any arm off its joint axes, and to change the convention.

Output::

    <Model 'panda': 7 moving bodies, nq=7, nv=7>
    stretched upwards, the flange is at (0.088, 0, 0.926) m
    modified Denavit-Hartenberg parameters of arm7
    joint                 a [m]      alpha [rad]      d [m]      theta [rad]
    shoulder_yaw              0                0       0.31                q
    shoulder_pitch            0            -pi/2          0                q
    upper_arm_roll            0             pi/2       0.38                q
    elbow_pitch               0            -pi/2          0                q
    forearm_roll              0             pi/2       0.34                q
    wrist_pitch               0            -pi/2          0                q
    wrist_roll                0             pi/2          0                q
    tool at (0, 0, 0.25) m, roll-pitch-yaw (0, 0, 0) rad
    standard: 7 rows, 34 parameters; the tools are ... m apart
"""

import numpy as np

import kinetree as kt

RIGHT = np.pi / 2
PANDA = [  # a [m], alpha [rad], d [m], theta [rad]: Craig's convention
    (0.0, 0.0, 0.333, 0.0),
    (0.0, -RIGHT, 0.0, 0.0),
    (0.0, RIGHT, 0.316, 0.0),
    (0.0825, RIGHT, 0.0, 0.0),
    (-0.0825, -RIGHT, 0.384, 0.0),
    (0.0, RIGHT, 0.0, 0.0),
    (0.088, RIGHT, 0.0, 0.0),
]
FLANGE = ((0.0, 0.0, 0.107), (0.0, 0.0, 0.0))
MASSES = (4.0, 4.0, 3.0, 3.0, 2.5, 1.5, 0.7)  # [kg], plausible


def panda() -> kt.Model:
    """The arm with point-like masses and round inertias at the origins of its frames."""
    rows = [
        {"a": a, "alpha": alpha, "d": d, "theta": theta, "mass": m, "inertia": (0.02 * m,) * 3, "upper": 2.9}
        for (a, alpha, d, theta), m in zip(PANDA, MASSES, strict=True)
    ]
    return kt.dh(rows, "modified", name="panda", tool=FLANGE)


def main() -> None:
    arm = panda()
    print(arm)
    x, y, z = kt.pose(arm, arm.neutral(), frame="tool").p_WF
    print(f"stretched upwards, the flange is at ({x:.3g}, {abs(y):.3g}, {z:.3g}) m")

    robot = kt.load("arm7")
    print(kt.io.to_dh(robot, "modified", tip="tool"))

    table = kt.io.to_dh(robot, "standard", tip="tool")
    q = robot.random_q(np.random.default_rng(1))
    apart = np.abs(kt.pose(kt.dh(table), q[:7], frame="tool").p_WF - kt.pose(robot, q, frame="tool").p_WF)
    print(f"standard: {len(table.rows)} rows, {table.n_parameters} parameters; the tools are {apart.max():.0e} m apart")


def check() -> None:
    """The model is the product of the rows, and its dynamics survive a change of convention."""
    arm = panda()
    q, v = arm.random_state(np.random.default_rng(2))
    pose = kt.pose(arm, q, frame="tool")
    assert np.allclose(
        kt.io.DHTable.of(PANDA, "modified").pose(q)[:3, 3] + 0.107 * pose.R_WF[:, 2], pose.p_WF, atol=1e-14
    )
    other = kt.dh(kt.io.to_dh(arm, "standard"))
    assert np.allclose(kt.rnea(other, q, v, v), kt.rnea(arm, q, v, v), rtol=1e-11, atol=1e-11)


if __name__ == "__main__":
    main()
