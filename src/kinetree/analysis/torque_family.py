r"""All motor torques that cause one motion of a mechanism with loops, in NumPy: ranks are those of this position.

.. math:: Z_a^T\, u = Z^T \tau_{ID}

Z is a basis of the velocities that the constraints allow, and ``Z_a`` has its rows at the motors (Featherstone, eq.
8.61-8.63).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.constraint_rows import constraint_jacobian
from kinetree.algorithms.joint_sets import velocity_coordinates
from kinetree.arguments import a_model, array, checked
from kinetree.compiler.calls import public_call
from kinetree.compiler.time_argument import time_input
from kinetree.errors import ArgumentError

SINGULAR = 1e-9  # singular values below this part of the largest are zero


@dataclass(frozen=True)
class TorqueFamily:
    """The torques of motors that cause one motion: ``tau + null_space @ x`` for any x.

    Attributes
    ----------
    tau : (nv,) array
        The member of the least weighted norm; where no member causes the motion, the one that comes closest
        [N m or N].
    null_space : (nv, p) array
        Internal forces: orthonormal directions of torques that cause no motion, but load the loops [1].
    missing : (nv,) array
        The joint forces that motors do not supply, of the least norm [N m or N]; zero if the motion is possible.
    lacking : int
        Motions that no motor has an influence on.
    labels : tuple of str
        Velocities with motors.
    """

    tau: np.ndarray
    null_space: np.ndarray
    missing: np.ndarray
    lacking: int
    labels: tuple[str, ...]

    @property
    def actuation(self) -> str:
        """ "properly actuated", "underactuated", "redundantly actuated", or both of these."""
        found = ["underactuated"] * bool(self.lacking) + ["redundantly actuated"] * bool(self.null_space.shape[1])
        return " and ".join(found) or "properly actuated"

    def __str__(self) -> str:
        lines = [f"{self.actuation}: {len(self.labels)} motors ({', '.join(self.labels)}), "
                 f"{self.null_space.shape[1]} internal forces, {self.lacking} motions without a motor"]  # fmt: skip
        if self.lacking:
            lines.append(f"joint forces that are missing: up to {np.abs(self.missing).max():.3g}")
        return "\n".join(lines)


@checked(model=a_model)
def torque_family(model, q, v, a, *, actuated=None, weights=None, f_ext=None, t=None) -> TorqueFamily:
    """All torques of the motors that cause one motion of a mechanism with loops, and whether there are any.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions with closed loops [rad or m; quaternions unit, (w, x, y, z)].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    a : (nv,) array
        Joint accelerations [rad/s^2 or m/s^2].
    actuated : sequence of str, optional
        Names of the joints with motors, or labels of velocities. Default: all.
    weights : (nv,) array, optional
        Of the squared torques, positive [1, or 1/(N m)^2 and 1/N^2 where units are to agree]. Default: 1.
    f_ext : (nb, 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    TorqueFamily

    Raises
    ------
    ConstraintError
        q, v or a breaks a loop.
    ShapeError, NonFiniteError, UnknownNameError, DuplicateNameError, ArgumentError

    Notes
    -----
    Source: Featherstone (2008), section 8.12, eq. 8.61-8.63. Ranks are those at q, so motors at a dead center are
    recognized; `inverse_dynamics` has the same member of least norm as compiled code.

    See Also
    --------
    kinetree.inverse_dynamics, kinetree.hybrid_dynamics

    Examples
    --------
    A four-bar has one degree of freedom, so three motors leave two internal forces:

    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.four_bar()
    >>> q, still = model.keyframe("initial")[0], np.zeros(3)
    >>> family = kt.closed_loops.torque_family(model, q, still, still)
    >>> family.actuation, family.null_space.shape
    ('redundantly actuated', (3, 2))
    >>> bool(np.allclose(family.tau, kt.inverse_dynamics(model, q, still, still)))
    True
    """
    q, v, a = (array(f"torque_family: {name}", x, shape=(n,)) for name, x, n in (
        ("q", q, model.nq), ("v", v, model.nv), ("a", a, model.nv)))  # fmt: skip
    chosen = range(model.nv) if actuated is None else velocity_coordinates(model, "actuated", actuated)
    w = np.ones(model.nv) if weights is None else array("torque_family: weights", weights, shape=(model.nv,))
    if not (w > 0.0).all():
        raise ArgumentError(f"torque_family: weights are {w.tolist()}, expected positive numbers")
    # A member of the family of all joints has the effect of tau_ID, passive forces and couplings included.
    needed = public_call("inverse_dynamics")(model, q, v, a, f_ext=f_ext, **time_input("inverse_dynamics", model, t))
    now = model if t is None else model.at(t)
    G = np.array(constraint_jacobian(now, q.tolist()), float).reshape(model.nc, model.nv)
    held = [n for c, numbers in model.constraint_rows() if c.row_kind == "equality" for n in numbers]
    G = G[np.setdiff1d(np.array(held, int), list(model.loop_rows().inexact))]
    _, sigma, V = np.linalg.svd(G) if len(G) else (None, np.zeros(0), np.eye(model.nv))
    Z = V[int((sigma > SINGULAR * max(sigma, default=0.0)).sum()) :].T
    # u = w^-1/2 x: the pseudo-inverse has the least x.
    scale, motors = 1.0 / np.sqrt(w), np.array(sorted(chosen), int)
    B = Z[motors].T * scale[motors]
    U, sigma, V = np.linalg.svd(B)
    rank = int((sigma > SINGULAR).sum())
    effect = Z.T @ needed
    tau, null_space = np.zeros(model.nv), np.zeros((model.nv, len(motors) - rank))
    tau[motors] = scale[motors] * (V[:rank].T @ ((U[:, :rank].T @ effect) / sigma[:rank]))
    null_space[motors] = np.linalg.qr(scale[motors, None] * V[rank:].T)[0] if len(motors) > rank else 0.0
    missing = Z @ (effect - Z.T @ tau)
    return TorqueFamily(tau, null_space, missing, Z.shape[1] - rank, tuple(model.velocity_labels[k] for k in motors))
