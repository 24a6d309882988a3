"""Changes of the velocities of a model by impulses: the inverse of its inertia under its constraints."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, a_name, array, checked
from kinetree.compiler.calls import public_call
from kinetree.compiler.time_argument import time_input


def response_matrix(model, q, t: float = 0.0) -> np.ndarray:
    """Changes of velocities by unit joint impulses, (nv, nv): ``M^-1``, or its part that the constraints allow.

    With constraints it is the derivative of the complete forward dynamics by joint forces, in which these are linear.
    """
    if not (model.constraints or model.armatures or model.time_dependent):
        return np.asarray(public_call("inverse_mass_matrix")(model, q), dtype=float)
    if not model.nv:
        return np.zeros((0, 0))
    now = (np.asarray(t, dtype=float),) if model.time_dependent or model.has_given_motions else ()
    tau = np.vstack((np.zeros(model.nv), np.eye(model.nv)))
    q, v = np.broadcast_to(q, (len(tau), model.nq)), np.zeros_like(tau)
    a = public_call("forward_dynamics")(model, q, v, tau, *now)
    return (a[1:] - a[0]).T


@checked(model=a_model, frame=a_name)
def strike(model, q, v, frame, impulse, at=(0.0, 0.0, 0.0), *, t=None) -> np.ndarray:
    r"""Velocities of a mechanism after an impulse on one of its bodies.

    .. math:: v^+ = v^- + M^{-1} J^T \iota

    Parameters
    ----------
    model : Model
        Its constraints react with impulses of their own.
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities before [rad/s or m/s].
    frame : str
        Frame or body that is struck.
    impulse : (3,) or (6,) array
        In the world's axes: linear [N s], or [angular; linear] about the point [N m s, N s].
    at : (3,) array
        The point in coordinates of the frame [m].
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    (nv,) array
        Velocities after [rad/s or m/s].

    Raises
    ------
    ArgumentError, UnknownNameError

    Notes
    -----
    Source: Featherstone (2008), eq. 11.57-11.59. Impulses of real mechanisms spread as waves, so this is approximate
    physics for chains of many bodies.
    Identities: ``J (v+ - v-) = Phi iota`` with the articulated inverse inertia Phi of the body (eq. 11.56),
    `kinetree.dynamics.articulated_inverse_inertia`; a plastic impact, ``J v+ = 0``, changes the energy by ``iota . J v-
    / 2``.

    See Also
    --------
    impact, collide

    Examples
    --------
    A rod on a hinge, struck at its center of percussion, at 2/3 of its length:

    >>> import kinetree as kt, numpy as np
    >>> rod = kt.models.pendulum()
    >>> v = kt.contact.strike(rod, [0.0], [0.0], "bob", [1.0, 0.0, 0.0])
    >>> J = kt.jacobian(rod, [0.0], frame="bob", reference="local_world_aligned")[3:]
    >>> bool(np.allclose(kt.crba(rod, [0.0]) @ v, J.T @ [1.0, 0.0, 0.0]))
    True
    """
    iota = array("strike: impulse", impulse, "an impulse of 3 or 6 entries")
    if iota.shape not in ((3,), (6,)):
        iota = array("strike: impulse", impulse, "an impulse of 3 or 6 entries", shape=(6,))
    iota = np.concatenate((np.zeros(6 - len(iota)), iota))
    p = array("strike: at", at, "a point", shape=(3,))
    v = array("strike: v", v, "velocities", shape=(model.nv,))
    now = time_input("jacobian", model, t)
    J = public_call("jacobian")(model, q, frame=frame, reference="local_world_aligned", **now)
    if p.any():
        R, _ = public_call("pose")(model, q, frame=frame, **now)
        iota = iota + np.concatenate((np.cross(R @ p, iota[3:]), np.zeros(3)))
    return v + response_matrix(model, q, 0.0 if t is None else t) @ (J.T @ iota)
