"""Rollouts of a model from one state under many sequences of forces of its actuated joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import names, number, refuse, whole
from kinetree.errors import ArgumentError, UnsupportedError
from kinetree.model.validation import per_coordinate
from kinetree.simulation.options import A_TIME, Record
from kinetree.simulation.rollout import Rollout


@dataclass(frozen=True, slots=True, eq=False)
class SampledMotions:
    """Motions of a batch, the argument of costs.

    Attributes
    ----------
    time : (T + 1,) array
        Instants [s].
    q : (N, T + 1, nq) array
        Positions at these instants [rad or m; quaternions unit].
    v : (N, T + 1, nv) array
        Velocities [rad/s or m/s].
    u : (N, T, nu) array
        Forces of the actuated coordinates between them [N m or N].
    tau : (N, T, nv) array
        The same as joint forces of all coordinates [N m or N].
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    tau: np.ndarray


class ControlledRollout:
    """What predictive controllers simulate: N sequences of T controls, each constant for ``substeps`` steps.

    Parameters
    ----------
    what : str
        Opens messages: "MPPI".
    model : Model
    dt : float
        Time between two controls [s].
    horizon : int
        T.
    actuated : str or sequence of str, optional
        Joints that are controlled; default all.
    effort_limit : "model", float, sequence or mapping, optional
        Bounds of the forces [N m or N].
    substeps : int
        Steps of the integrator for each control.
    integrator, ground, threads
        As for `rollout`.
    dtype : dtype
        float64 or float32.
    """

    def __init__(
        self, what, model, dt, horizon, actuated, effort_limit, substeps, integrator="auto", ground=None, threads=None,
        dtype=np.float64,
    ) -> None:  # fmt: skip
        self.dt = number(f"{what}: dt", dt, A_TIME, above=0.0)
        self.horizon = whole(f"{what}: horizon", horizon, "a positive number of controls", least=1)
        self.substeps = whole(f"{what}: substeps", substeps, "a positive number of steps for each control", least=1)
        self.columns = actuated_columns(what, model, actuated)
        self.bound = effort_bound(what, model, effort_limit)[self.columns]
        self.dtype = _precision(f"{what}: dtype", dtype)
        self.roll = Rollout(model, integrator, ground=ground, checks=False, threads=threads)
        self.model = self.roll.model
        if self.model.nx:
            state = self.model.state_names[0]
            raise UnsupportedError(
                f"{what}: model {model.name!r} has internal states ({state!r}, ...), which a controller of (t, q, v) "
                "does not know. Leave out what has them (muscles, motors with a time constant)."
            )
        self.nu, self.bounded = len(self.columns), bool(np.isfinite(self.bound).any())
        self._arrays: dict[int, tuple] = {}

    def clipped(self, u: np.ndarray) -> np.ndarray:
        """The controls within their bounds, in place."""
        return np.clip(u, -self.bound, self.bound, out=u) if self.bounded else u

    def forces(self, u) -> np.ndarray:
        """Joint forces (..., nv) of controls (..., nu)."""
        tau = np.zeros((*np.shape(u)[:-1], self.model.nv))
        tau[..., self.columns] = u
        return tau

    def motions(self, t: float, q, v, u: np.ndarray) -> SampledMotions:
        """The motions from one state under controls (N, T, nu); the next call reuses their arrays."""
        n, model, T = len(u), self.model, self.horizon
        if n not in self._arrays:
            self._arrays[n] = (
                np.zeros((n, T, self.substeps, model.nv), self.dtype),
                np.empty((n, T + 1, model.nq), self.dtype),
                np.empty((n, T + 1, model.nv), self.dtype),
            )
        tau, q_out, v_out = self._arrays[n]
        tau[..., self.columns] = u[:, :, None]
        q, v = (np.asarray(x, dtype=self.dtype) for x in (q, v))
        begin = {"t0": t} if model.time_dependent else {}
        self.roll(
            q, v, tau.reshape(n, T * self.substeps, model.nv), self.dt / self.substeps, out=(q_out, v_out),
            record=Record(every=self.substeps), dtype=self.dtype, **begin,
        )  # fmt: skip
        return SampledMotions(t + self.dt * np.arange(T + 1), q_out, v_out, u, tau[:, :, 0])


def _precision(what: str, dtype) -> np.dtype:
    """float64 or float32."""
    try:
        found = np.dtype(dtype)
    except Exception:  # NumPy's are of many kinds
        found = None
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        refuse(what, dtype, "float64 or float32")
    return found


def actuated_columns(what: str, model, actuated) -> np.ndarray:
    """Velocity coordinates of the joints that are controlled."""
    if actuated is None:
        return np.arange(model.nv)
    joints = names(f"{what}: actuated", actuated)
    found = [k for name in joints for k in range(model.nv)[model.v_slice[model.joint(name)]]]
    if not found:
        raise ArgumentError(f"{what}: actuated is empty, so there is no force to control with.", argument="actuated")
    if len(set(found)) < len(found):
        raise ArgumentError(f"{what}: actuated names a joint twice: {', '.join(joints)}.", argument="actuated")
    return np.array(found)


def effort_bound(what: str, model, effort_limit) -> np.ndarray:
    """Largest absolute forces (nv,) of all coordinates; infinity where they are not bounded."""
    if effort_limit is None:
        return np.full(model.nv, np.inf)
    if isinstance(effort_limit, str) and effort_limit != "model":
        refuse(f"{what}: effort_limit", effort_limit, '"model", or positive numbers')
    given = model.effort_limit if isinstance(effort_limit, str) else effort_limit
    found = per_coordinate(f"{what}: effort_limit", given, model, np.inf, model.v_slice, ArgumentError)
    if not (found > 0.0).all():
        refuse(f"{what}: effort_limit", effort_limit, "positive numbers")
    return found


def full_plan(what: str, plan, horizon: int, nu: int) -> np.ndarray:
    """Controls over a horizon (T, nu) from those that a user gives: None for zero, (nu,) for constant ones."""
    if plan is None:
        return np.zeros((horizon, nu))
    try:
        found = np.asarray(plan, dtype=float)
    except (TypeError, ValueError):
        found = np.empty((0,) * 3)
    if found.shape not in ((nu,), (horizon, nu)) or not np.isfinite(found).all():
        refuse(what, plan, f"finite forces of shape ({horizon}, {nu}) or ({nu},) [N m or N]")
    return np.array(np.broadcast_to(found, (horizon, nu)))
