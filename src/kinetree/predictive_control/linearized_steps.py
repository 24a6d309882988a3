"""Steps of a model with their derivatives along the manifold of positions, compiled."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from kinetree.algorithms.manifold import difference
from kinetree.algorithms.spec import Spec
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.function import Function
from kinetree.errors import UnsupportedError
from kinetree.once import once
from kinetree.simulation.rollout import Rollout

STATE_AND_FORCE = ("q", "v", "tau")


class LinearizedSteps:
    """A whole step of time of a rollout as a function on tangent vectors.

    Parameters
    ----------
    what : str
        Opens messages.
    model : Model
    integrator : str
    dt : float
        [s]; the choice of "auto" depends on it.
    threads : int or None
    """

    def __init__(self, what: str, model, integrator, dt: float, threads) -> None:
        roll = Rollout(model, integrator, checks=False, threads=threads)._for_step(dt)
        self.model, self.integrator, self.threads = roll.model, roll.integrator, threads
        for found, name in (
            (self.model.contacts, "contacts"),
            (self.model.nx, "internal states"),
            (self.model.time_dependent, "prescribed motions"),
            (self.model.constraints, "constraints"),
        ):
            if found:
                raise UnsupportedError(
                    f"{what}: model {model.name!r} has {name}, along which its steps are not differentiated here. Use "
                    "MPPI or CEM, or kt.rollout_gradient with an optimizer of your choice."
                )
        step = roll._step_declaration()
        if tuple(step.outputs) != ("q_next", "v_next") or not set(step.inputs) <= {*STATE_AND_FORCE, "dt"}:
            raise UnsupportedError(
                f"{what}: steps of integrator {roll.integrator!r} have more than a state and forces; take "
                "'semi_implicit', 'rk4' or 'linearly_implicit'."
            )
        self.step = Function(step, self.model, (), {}, False, threads)
        self._along = _tangent_step(step)
        jacobian = derivative_spec(self._along, "jacobian", STATE_AND_FORCE, ("dq", "v_next"))
        self._jacobian = Function(jacobian, self.model, (), {}, False, threads)
        self._second = None
        self._dt = np.array(float(dt))

    def next(self, q, v, tau):
        """States (..., nq), (..., nv) after a step."""
        return self.step(q, v, tau, self._dt)

    def jacobians(self, q, v, tau, q_next):
        """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv) of steps that end at q_next."""
        x = self._jacobian(q, v, tau, self._dt, q_next)
        A = np.concatenate((np.concatenate(x[0:2], axis=-1), np.concatenate(x[3:5], axis=-1)), axis=-2)
        return A, np.concatenate((x[2], x[5]), axis=-2)

    def curvature(self, q, v, tau, q_next, slope, directions):
        """Second derivative (n, n) of ``slope . (dq, v_next)`` in (q, v, tau), by unit directions (n, n)."""
        if self._second is None:
            spec = derivative_spec(self._along, "hvp", STATE_AND_FORCE, ("dq", "v_next"))
            self._second = Function(spec, self.model, (), {}, False, self.threads)
        nv = self.model.nv
        parts = np.split(directions, (nv, 2 * nv), axis=-1)
        return np.concatenate(self._second(q, v, tau, self._dt, q_next, *parts, slope[:nv], slope[nv:]), axis=-1)


@once(most=64)
def _tangent_step(step: Spec) -> Spec:
    """The step as a tangent vector from ``q_end`` to its end, and the velocities there."""

    def along(model, q, v, tau, dt, q_end):
        found = step.function(model, q, v, tau, dt)
        return difference(model, q_end, found[0]), found[1]

    along.__name__ = f"{step.name}_along"
    return Spec(
        name=f"{step.name}_along",
        function=along,
        inputs=MappingProxyType({**step.inputs, "q_end": ("nq",)}),
        optional=MappingProxyType({}),
        outputs=MappingProxyType({"dq": ("nv",), "v_next": ("nv",)}),
        domains=step.domains,
        body_frames=step.body_frames,
    )
