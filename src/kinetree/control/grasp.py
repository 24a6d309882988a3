"""Wrenches between the hands of two arms and the jointed object that they hold (Unseren 1991, sections 3 and 4)."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import instance, refuse
from kinetree.compiler.calls import public_call
from kinetree.control.two_arms import AXES, Held, TwoArms
from kinetree.model.validation import as_rotational_inertia


def grasp_wrenches(arms: TwoArms, bodies, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
    """The wrenches that the hands exert on the bodies they hold, at their grasp frames.

    Parameters
    ----------
    arms : TwoArms
        Of a model that `TwoArms.hold` made.
    bodies : pair of Held
        Those that were given to it.
    q, v, tau : (nv,) array
        [rad, rad/s, N m], the ball joint closed.

    Returns
    -------
    first, second : (6,) array
        [moment; force] at the origin of the grasp frame, world axes [N m, N].

    Raises
    ------
    ArgumentError, UnknownNameError, ShapeError

    Notes
    -----
    Source: Unseren (1991), eq. 5-12: Newton's and Euler's equations of each body, with gravity, the wrench of the hand
    and the force of the ball joint, moved to the center of mass by the transmission matrices ``L_m`` and ``L_s``.
    Differs: the moment comes first in six-vectors.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.puma_like()
    >>> body = kt.control.Held(arm.body_names[-1], 1.0, (0, 0, 0.1), (0, 0, 0.2), (0.01, 0.01, 0.002))
    >>> model = kt.control.TwoArms.hold(arm, arm, body, body, placement=((0.9, 0, 0), (0, 0, np.pi)))
    >>> q = kt.assemble(model, np.resize([0.2, -1.2, 1.4, 0.5, 0.7, 0.3], 12))
    >>> arms, rest = kt.control.TwoArms(model), np.zeros(12)
    >>> hold = arms.torques(q, rest, rest)  # at rest both hands carry the weight together
    >>> wrenches = grasp_wrenches(arms, (body, body), q, rest, hold)
    >>> bool(np.allclose((wrenches[0] + wrenches[1])[3:], [0, 0, 2 * 9.81]))
    True
    """
    instance("grasp_wrenches: arms", arms, TwoArms, "a TwoArms")
    if not isinstance(bodies, (tuple, list)) or len(bodies) != 2 or not all(isinstance(b, Held) for b in bodies):
        refuse("grasp_wrenches: bodies", bodies, "the two Held of TwoArms.hold")
    a, force = arms.accelerations(q, v, tau), arms.contact_force(q, v, tau)
    tree = arms.model.replace(constraints=())
    first, second = bodies
    return _of_hand(tree, first, 1, q, v, a, -force), _of_hand(tree, second, 2, q, v, a, force)


def _of_hand(tree, body: Held, n: int, q, v, a, at_ball) -> np.ndarray:
    """The wrench on one body at its grasp frame; the ball joint exerts the force ``at_ball`` on it."""
    at = dict(frame=f"object_{n}.center", reference=AXES)
    R, p = public_call("pose")(tree, q, frame=at["frame"])
    w = public_call("velocity")(tree, q, v, **at)[:3]
    rates = public_call("acceleration")(tree, q, v, a, **at, kind="classical")
    I = R @ as_rotational_inertia("grasp_wrenches", body.inertia) @ R.T
    ball, grasp = (R @ (np.asarray(x, dtype=float) - body.com) for x in (body.ball, np.zeros(3)))  # from the center
    force = body.mass * (rates[3:] - np.array([*tree.gravity])) - at_ball
    moment = I @ rates[:3] + np.cross(w, I @ w) - np.cross(ball, at_ball)
    return np.concatenate((moment - np.cross(grasp, force), force))
