"""Controllers of a model: frozen objects that are called as ``controller(t, q, v) -> tau``, and their gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kinetree.algorithms.joint_sets import actuated_coordinates
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, names, refuse
from kinetree.compiler.function import Function
from kinetree.errors import ArgumentError
from kinetree.integrators.system import time_argument
from kinetree.model import Model
from kinetree.model.validation import per_coordinate

SYMMETRIC = 1e-9  # largest asymmetry of a gain matrix, relative to its largest entry


@dataclass(frozen=True, eq=False)
class Controller:
    """The base of controllers of a model: a subclass defines ``law(t, q, v)``.

    Parameters
    ----------
    model : Model
        That of the simulation, or the controller's own: other masses, no payload.
    effort_limit : "model", float, (nv,) array_like or mapping, keyword only
        Bounds of the joint forces [N m or N], to which they are cut: those of the model, the same number for all
        joints, one for each coordinate, or by the names of joints, the others without bounds. Default: none.

    actuated : str or sequence of str, optional, keyword only
        Joints with motors, in mechanisms with closed loops: forces of others are delivered by these. Default: all, with
        the least forces.

    Notes
    -----
    A controller is data: it can be pickled, copied with other values by ``dataclasses.replace``, and shared between
    threads. Its compiled functions are kept beside the model. They do not check states, so NaN propagates.
    """

    model: Model
    effort_limit: object = field(default=None, kw_only=True)
    actuated: tuple[str, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        a_model(f"{type(self).__name__}: model", self.model)
        if self.actuated is not None:
            self._set("actuated", names(f"{type(self).__name__}: actuated", self.actuated))
            actuated_coordinates(self.model, self.actuated)
        limit = self.effort_limit
        if limit is None:
            return
        if isinstance(limit, str) and limit != "model":
            refuse(f"{type(self).__name__}: effort_limit", limit, '"model", or positive numbers')
        limit = self.model.effort_limit if isinstance(limit, str) else limit
        limit = per_coordinate("effort_limit", limit, self.model, np.inf, self.model.v_slice, ArgumentError)
        if not (limit > 0.0).all():
            refuse(f"{type(self).__name__}: effort_limit", self.effort_limit, "positive numbers")
        self._set("effort_limit", limit)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces at a time and state.

        Parameters
        ----------
        t : float
            [s]
        q : (nq,) array
            Positions [rad or m; quaternions unit].
        v : (nv,) array
            Velocities [rad/s or m/s].

        Returns
        -------
        (nv,) array
            [N m or N]
        """
        tau = self.law(t, q, v)
        return tau if self.effort_limit is None else np.clip(tau, -self.effort_limit, self.effort_limit)

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]; arguments as of a call."""
        raise NotImplementedError

    def _computed(self, name: str, t: float, *arrays, **static):
        """The results of an algorithm, compiled for the model without checks of the state."""
        if "actuated" in ALGORITHMS[name].static:
            static["actuated"] = self.actuated
        key = ("control", name, *static.items())
        f = self.model.functions.get(key)
        if f is None:
            f = self.model.functions.setdefault(key, Function(ALGORITHMS[name], self.model, (), static, False))
        return f(*arrays, *time_argument(self.model, t))

    def _set(self, name: str, value) -> None:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(self, name, value)


def gain_matrix(what: str, given, size: int, unit: str, model=None, definite: bool = True) -> np.ndarray:
    """A gain as a symmetric matrix, checked.

    Parameters
    ----------
    what : str
        Opens the message: "ComputedTorque: kp".
    given : float, (size,) or (size, size) array_like, or mapping
        A multiple of the unit matrix, its diagonal, or all of it; by names of joints where a model is given.
    size : int
    unit : str
        For messages.
    model : Model, optional
    definite : bool
        Whether it has to be positive definite; else positive semidefinite.

    Raises
    ------
    ArgumentError
    """
    expected = f"a number, ({size},) or ({size}, {size}) numbers [{unit}]"
    if isinstance(given, Mapping) and model is not None:
        given = per_coordinate(what, given, model, 0.0 if not definite else np.nan, model.v_slice, ArgumentError)
        if np.isnan(given).any():
            missing = [model.joint_name(i) for i in model.outward() if np.isnan(given[model.v_slice[i]]).any()]
            raise ArgumentError(f"{what} has no entry for joint {missing[0]!r}; each joint needs one.", argument=what)
    try:
        x = np.array(given, dtype=float)
    except (TypeError, ValueError):
        refuse(what, given, expected)
    if isinstance(given, (bool, str, bytes)) or x.shape not in ((), (size,), (size, size)):
        refuse(what, given, expected)
    matrix = x if x.ndim == 2 else np.diag(np.broadcast_to(x, size))
    if not np.isfinite(matrix).all():
        refuse(what, given, "finite numbers")
    if np.abs(matrix - matrix.T).max(initial=0.0) > SYMMETRIC * np.abs(matrix).max(initial=0.0):
        refuse(what, given, "a symmetric matrix")
    matrix = 0.5 * (matrix + matrix.T)
    values = np.linalg.eigvalsh(matrix)
    least, largest = values.min(initial=np.inf), np.abs(values).max(initial=0.0)
    if (definite and not least > 0.0) or least < -SYMMETRIC * largest:
        kind = "positive definite" if definite else "positive semidefinite"
        raise ArgumentError(
            f"{what} has the eigenvalue {least:.3g}, expected a {kind} matrix: feedback with another sign is unstable.",
            argument=what,
        )
    matrix.setflags(write=False)
    return matrix


def square_root(matrix: np.ndarray) -> np.ndarray:
    """The positive definite root of a positive definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(values)) @ vectors.T
