"""Jacobians: three references, and inverse kinematics of a humanoid on its manifold.

You learn what `reference=` means, and how to solve a task for several frames at once: both soles stay where they are
and the left hand reaches a point above the head. The steps are taken by `integrate`, so the quaternion of the
floating pelvis stays a quaternion; the damped least squares of Levenberg keep them short where the legs are
stretched.

Output::

    the left hand turns with [...] rad/s and moves, as
      local                [...] m/s
      world                [...] m/s
      local_world_aligned  [...] m/s
    reached in ... steps: hand within ... m, soles within ...
"""

import numpy as np
from scipy.spatial.transform import Rotation

import kinetree as kt

ROBOT = kt.load("humanoid", floating_base=True).without_limits()
REFERENCES = ("local", "world", "local_world_aligned")
SOLES = ("left_sole", "right_sole")


def standing() -> np.ndarray:
    """Knees bent a little, soles level."""
    q = ROBOT.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.4), ("knee", 0.8), ("ankle_pitch", -0.4)):
            q[ROBOT.q_index(f"{side}_{joint}")] = angle
    return q


def pose_error(q, frame, R, p) -> np.ndarray:
    """Rotation vector and displacement from the frame to the pose (R, p), in coordinates of the frame."""
    R_WF, p_WF = kt.pose(ROBOT, q, frame=frame)
    return np.concatenate([Rotation.from_matrix(R_WF.T @ R).as_rotvec(), R_WF.T @ (p - p_WF)])


def reach(q, point):
    """Levenberg's steps from q until the soles keep their poses and the left hand is at the point."""
    initial = {sole: kt.pose(ROBOT, q, frame=sole) for sole in SOLES}
    for step in range(50):
        hand = kt.pose(ROBOT, q, frame="left_hand")
        error = np.concatenate([*(pose_error(q, sole, *initial[sole]) for sole in SOLES), point - hand.p_WF])
        if np.abs(error).max() < 1e-12:
            return q, step, error
        J_soles = [kt.jacobian(ROBOT, q, frame=sole, reference="local") for sole in SOLES]
        J_hand = kt.jacobian(ROBOT, q, frame="left_hand", reference="local_world_aligned")[3:]
        J = np.vstack([*J_soles, J_hand])
        damping = min(1e-2, error @ error)
        q = kt.integrate(ROBOT, q, J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(J)), error))
    raise RuntimeError(f"not reached: the error is still {np.abs(error).max():.1e}")


def main() -> None:
    q, v = ROBOT.random_state(np.random.default_rng(0))
    twists = {r: kt.jacobian(ROBOT, q, frame="left_hand", reference=r) @ v for r in REFERENCES}
    print(f"the left hand turns with {twists['world'][:3].round(2)} rad/s and moves, as")
    for reference, V in twists.items():
        print(f"  {reference:20s} {V[3:].round(2)} m/s")
    _, steps, error = reach(standing(), np.array([0.1, 0.25, 0.85]))
    soles, hand = np.abs(error[:12]).max(), np.abs(error[12:]).max()
    print(f"reached in {steps} steps: hand within {hand:.0e} m, soles within {soles:.0e}")


def check() -> None:
    """The linear rows of "local_world_aligned" are the velocity of the point; the task is met on the manifold."""
    q, v, h = standing(), np.random.default_rng(0).standard_normal(ROBOT.nv), 1e-6
    p = [kt.pose(ROBOT, kt.integrate(ROBOT, q, s * h * v), frame="left_hand").p_WF for s in (-1, 1)]
    J = kt.jacobian(ROBOT, q, frame="left_hand", reference="local_world_aligned")
    assert np.allclose((p[1] - p[0]) / (2 * h), J[3:] @ v, atol=1e-8)
    q, _, error = reach(q, np.array([0.1, 0.25, 0.85]))
    assert np.abs(error).max() < 1e-10 and abs(np.linalg.norm(q[3:7]) - 1.0) < 1e-14


if __name__ == "__main__":
    main()
