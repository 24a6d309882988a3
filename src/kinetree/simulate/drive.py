"""What acts on the mechanism during a simulation: a controller or given joint forces, and external wrenches."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping

import numpy as np

from kinetree.compile.arrays import wrenches_by_name
from kinetree.errors import KinetreeError, NonFiniteError, ShapeError, SimulationError
from kinetree.integrate.system import clock


class Drive:
    """Joint forces and external wrenches as functions of time and state.

    Parameters
    ----------
    model : Model
    controller : callable or None
        ``controller(t, q, v) -> tau``; its ``reset()``, if there is one, is called here.
    tau : array_like, callable or None
        Constant (nv,) joint forces [N m or N], or ``tau(t)``.
    f_ext : array_like, mapping, callable or None
        Wrenches on the bodies, (nb, 6) or by body name [N m, N], in world coordinates about the world's
        origin, or ``f_ext(t)``.

    Attributes
    ----------
    controlled : bool
        Whether there is a controller.
    f_ext : callable
        ``f_ext(t)``: what the dynamics take besides the joint forces, a tuple of one (nb, 6) array, or the empty tuple
        without external wrenches; before these the time, if joints depend on it.
    has_wrenches : bool
    """

    __slots__ = ("_controller", "_held", "_model", "_tau", "controlled", "f_ext", "has_wrenches")

    def __init__(self, model, controller, tau, f_ext) -> None:
        if controller is not None and tau is not None:
            raise SimulationError(
                "simulate: both controller and tau are given, so it is not clear which joint forces act. Give one; a "
                "controller may return the sum of both."
            )
        if controller is not None and not callable(controller):
            raise SimulationError(
                f"simulate: controller is {type(controller).__name__}, expected a callable controller(t, q, v) -> tau; "
                "constant joint forces are given as tau=.",
                controller=controller,
            )
        nv, nb = model.nv, model.nb
        _check_signature("controller", controller, "controller(t, q, v)", f"({nv},)", (0.0, None, None))
        _check_signature("tau", tau, "tau(t)", f"({nv},)", (0.0,))
        _check_signature("f_ext", f_ext, "f_ext(t)", f"({nb}, 6)", (0.0,))
        self._model = model
        self._controller = controller
        self.controlled = controller is not None
        self._held = np.zeros(model.nv)
        self._tau = self._force_source(tau)
        self.has_wrenches = f_ext is not None
        wrenches = self._wrench_source(f_ext)
        self.f_ext = (lambda t: clock(model, t) + wrenches(t)) if model.time_dependent else wrenches
        if hasattr(controller, "reset"):
            controller.reset()

    def command(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces at a state [N m or N]; those of a controller are then held for ``held``."""
        if not self.controlled:
            return self._tau(t)
        try:
            tau = self._controller(t, q, v)
        except Exception as error:
            if not isinstance(error, KinetreeError):
                error.add_note(f"kinetree: raised by controller {self._name(self._controller)} at t = {t:.9g} s")
            raise
        self._held = self._checked(tau, "controller", self._controller, t)
        return self._held

    def held(self, t: float) -> np.ndarray:
        """Joint forces during a fixed step: the controller's last ones, or the given ones at time t."""
        return self._held if self.controlled else self._tau(t)

    def wrenches(self, times: np.ndarray) -> np.ndarray | None:
        """External wrenches at several times, shape (T, nb, 6)."""
        return np.array([self.f_ext(float(t))[-1] for t in times]) if self.has_wrenches else None

    def _force_source(self, tau) -> Callable[[float], np.ndarray]:
        if callable(tau):
            return lambda t: self._checked(tau(t), "tau", tau, t)
        constant = np.zeros(self._model.nv) if tau is None else self._checked(tau, "tau", None, None)
        return lambda t: constant

    def _wrench_source(self, f_ext) -> Callable[[float], tuple[np.ndarray, ...]]:
        if f_ext is None:
            return lambda t: ()
        if callable(f_ext):
            return lambda t: (self._wrench(f_ext(t), t),)
        constant = (self._wrench(f_ext, None),)
        return lambda t: constant

    def _wrench(self, value, t: float | None) -> np.ndarray:
        model, at = self._model, "" if t is None else f" at t = {t:.9g} s"
        if isinstance(value, Mapping):
            value = wrenches_by_name("simulate", model, "f_ext", value)
        try:
            wrenches = np.ascontiguousarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ShapeError(
                f"simulate: f_ext{at} is {value!r}, expected an array of shape ({model.nb}, 6) or a mapping of body "
                "names to wrenches.",
                found=value,
                time=t,
            ) from None
        if wrenches.shape != (model.nb, 6):
            raise ShapeError(
                f"simulate: f_ext{at} has shape {wrenches.shape}, expected ({model.nb}, 6): one row [moment; force] "
                "for each body, the world is row 0.",
                found=wrenches.shape,
                time=t,
            )
        if not np.isfinite(wrenches).all():
            i, k = (int(n) for n in np.argwhere(~np.isfinite(wrenches))[0])
            raise NonFiniteError(
                f"simulate: f_ext[{i}, {k}]{at} is {wrenches[i, k]} (body {model.body_names[i]!r}); wrenches must be "
                "finite.",
                time=t,
                body=model.body_names[i],
            )
        return wrenches

    def _checked(self, value, what: str, source, t: float | None) -> np.ndarray:
        nv = self._model.nv
        where = f"{what}{'' if source is None else ' ' + self._name(source)}"
        at = "" if t is None else f" at t = {t:.9g} s"
        try:
            tau = np.array(value, dtype=float)
        except (TypeError, ValueError):
            tau = None
        if tau is None or tau.shape != (nv,):
            found = f"{value!r}" if tau is None or value is None else f"an array of shape {tau.shape}"
            verb = "is" if source is None else "returned"
            hint = " Does it lack a return statement?" if value is None else ""
            raise SimulationError(
                f"simulate: {where} {verb} {found}{at}, expected joint forces of shape ({nv},).{hint}",
                time=t,
                controller=source,
                found=value,
            )
        if not all(map(math.isfinite, tau.tolist())):  # faster than NumPy's for as few entries as these
            k = int(np.flatnonzero(~np.isfinite(tau))[0])
            joint = next(
                self._model.joint_names[i]
                for i in self._model.outward()
                if self._model.v_slice[i].start <= k < self._model.v_slice[i].stop
            )
            verb = "gives" if source is None else "returned"
            raise SimulationError(
                f"simulate: {where} {verb} tau[{k}] = {tau[k]} for joint {joint!r}{at}; joint forces must be finite.",
                time=t,
                controller=source,
                entry=k,
                joint=joint,
            )
        return tau

    @staticmethod
    def _name(source) -> str:
        return repr(getattr(source, "__qualname__", type(source).__name__))


def _check_signature(what: str, source, expected: str, shape: str, arguments: tuple) -> None:
    """Refuse a callable that cannot be called with these arguments; one without a readable signature passes."""
    if not callable(source):
        return
    try:
        signature = inspect.signature(source)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise SimulationError(
            f"simulate: {what} {Drive._name(source)} takes {signature} ({error}), expected {expected} -> {shape}.",
            controller=source,
            signature=str(signature),
        ) from None
