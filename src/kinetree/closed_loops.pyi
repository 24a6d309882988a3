# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.analysis.torque_family import TorqueFamily as TorqueFamily
from kinetree.analysis.torque_family import torque_family as torque_family

__all__ = [
    "TorqueFamily",
    "project_position",
    "project_velocity",
    "torque_family",
]

def project_position(model: Model, q: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The nearest positions in which all loops are closed, in the metric of the mass matrix.

    .. math:: q \leftarrow q \oplus \left(-M^{-1} K^T (K M^{-1} K^T)^{-1} \varphi(q)\right)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions near closed ones [rad or m; quaternions unit, (w, x, y, z)].
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    q_next : (..., nq) array
        Positions in which loops are closed [rad or m; quaternions unit].
    """


def project_velocity(model: Model, q: ArrayLike, v: ArrayLike, t: ArrayLike | None = None, *, out: Any | None = None) -> NDArray[Any]:
    r"""The nearest velocities that keep all loops closed, in the metric of the mass matrix.

    .. math:: v \leftarrow v - M^{-1} K^T (K M^{-1} K^T)^{-1} (K v + g)

    Parameters
    ----------
    model : Model
        The robot, from `load` or a builder.
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``.
    t : (...) array, optional
        Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``).
    out : array or tuple of arrays, optional
        Filled with the result and returned [as the result]; a call with it allocates nothing.

    Returns
    -------
    v_next : (..., nv) array
        Velocities that obey all constraints at q [rad/s or m/s].
    """
