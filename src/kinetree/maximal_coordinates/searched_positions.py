"""Whether the positions of joints, where these are searched from the poses of bodies, are those of the poses."""

from __future__ import annotations

from kinetree.errors import ConstraintError
from kinetree.joints.nearest_position import least_gap
from kinetree.maximal_coordinates.terms import relative_pose
from kinetree.state_kinematics import Kinematics

FOUND = 1e-6
"""The largest gap [rad, m] of joints that are closed: more is another position."""

OPEN = 1e-3
"""The gap from which an open joint is searched anew: less is the drift of steps."""

NEARER = 0.5
"""Part of the gap below which another position is a better one."""


def require_found(what: str, model, q, gaps, t=None) -> None:
    """Raise an error where a joint is far from its position, and a thorough search finds a nearer one.

    Parameters
    ----------
    what : str
        The call, for the message.
    model : Model
        Of free bodies, with the joints as loop joints.
    q : (nq,) array
    gaps : (n,) array
        Between the poses of its searched joints and those at their positions (`Terms`).
    t : float, optional
        The time, if the model depends on it.

    Raises
    ------
    ConstraintError
    """
    if not (gaps > OPEN).any():
        return
    kin = Kinematics(model if t is None else model.at(t), q.tolist())
    for name, loop, gap in _searched(model, gaps):
        if gap > OPEN and least_gap(loop.joint, relative_pose(kin, loop), loop.joint_now(kin)) < NEARER * gap:
            _refuse(what, name, loop.joint, gap)


def require_positions(what: str, model, gaps, closed) -> None:
    """The same where some joints, by name, are known to be closed.

    Raises
    ------
    ConstraintError
    """
    for name, loop, gap in _searched(model, gaps):
        if name in closed and not gap <= FOUND:
            _refuse(what, name, loop.joint, gap)


def _searched(model, gaps):
    loops = [(name, loop) for name, loop in model.loop_joints() if loop.joint.at(0.0).searched]
    for (name, loop), gap in zip(loops, gaps.tolist(), strict=True):
        yield name, loop, gap


def _refuse(what: str, name: str, joint, gap: float) -> None:
    raise ConstraintError(
        f"{what}: positions of joint {name!r} ({joint!r}) are not found from the poses of the bodies: there is no "
        f"formula, and the search for them ends {gap:.2g} [rad, m] away. Put its parts on bodies of their own, or give "
        "it a loop_coordinates method.",
        joint=name,
    )
