"""The adjoint of a step of a rollout: from the gradient with respect to its end to that with respect to its start.

The adjoint of a step is a step itself. Its state is the gradient, its inputs are the recorded states in reverse order,
so that the driver of rollouts takes it through all steps in machine code.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from kinetree.algorithms.manifold import q_dot
from kinetree.algorithms.spec import Spec
from kinetree.compiler.derivative_functions import NUMBERS, derivative_spec
from kinetree.integrators.kernels import part
from kinetree.once import once
from kinetree.simulation.objective import RunningObjective


@dataclass(frozen=True)
class AdjointOf:
    """A step under constant forces, and with respect to which of its inputs a rollout is differentiated.

    Attributes
    ----------
    step : Spec
        Of q, v, tau, dt and optional forces, as of `kernels.whole_step`; of the time, if the model depends on it. A
        step around its end has one input more, ``v_end``, the recorded velocities there.
    memory : tuple of str
        Arrays of its state besides q and v.
    present : tuple of str
        Its optional inputs that are given.
    wrt : tuple of str
        Variables besides q and v: "tau", optional inputs, and "numbers".
    summed : tuple of str
        Those whose gradients are added up over the steps, since they are constant.
    chosen, total : tuple of int, int
        Which of how many numbers of the model are variables.
    running : RunningObjective, optional
        Summed over the steps; without one, derivatives with respect to each state are inputs.
    """

    step: Spec
    memory: tuple[str, ...]
    present: tuple[str, ...]
    wrt: tuple[str, ...]
    summed: tuple[str, ...]
    chosen: tuple[int, ...]
    total: int
    running: RunningObjective | None


@once(most=64)
def adjoint_step(of: AdjointOf) -> Spec:
    """The declaration of the adjoint of a step.

    Returns
    -------
    Spec
        Its state are ``q_adjoint``, ``v_adjoint`` and so on for the memory, ``x_adjoint`` for each variable, and with a
        running objective its sum ``value``. Its other inputs are those of the step; then "reference", if the objective
        takes it. Without an objective they are ``q_cost`` and ``v_cost``, added to the gradient with respect to the
        state before the step.

    Notes
    -----
    Source: Giles and Pierce, "An introduction to the adjoint approach to design" (2000); reverse mode of each step
    (Griewank and Walther, 2008, chapter 3). Positions are taken as nq free numbers; the part along the manifold is
    taken once, at the start (`TANGENT_GRADIENT`).
    """
    step, running, variables = of.step, of.running, ("q", "v", *of.memory, *of.wrt)
    ends = tuple(f"{x}_next" for x in ("q", "v", *of.memory))
    pullback = derivative_spec(
        step, "vjp", variables, ends, of.present, of.chosen, of.total, False
    )  # fmt: skip
    shapes = {**step.inputs, **step.optional, NUMBERS: (str(len(of.chosen)),)}
    state = {f"{x}_adjoint": shapes[x] for x in variables} | ({"value": ("1",)} if running else {})
    given = {x: shapes[x] for x in (*step.inputs, *of.present)}
    more = running.further if running else {"q_cost": shapes["q"], "v_cost": shapes["v"]}

    def adjoint(model, **at):
        after = (at[f"{x}_adjoint"] for x in ("q", "v", *of.memory))
        found = pullback.function(model, *(at[x] for x in given), *after)
        found = dict(zip(variables, found, strict=True))
        for x in of.summed:
            found[x] = _sum(found[x], at[f"{x}_adjoint"])
        if not running:
            return tuple((found | {x: _sum(found[x], at[f"{x}_cost"]) for x in ("q", "v")}).values())
        cost, slopes = running.evaluated(model, at)
        for x in found.keys() & slopes.keys():
            found[x] = _sum(found[x], [at["dt"] * slope for slope in slopes[x]])
        return *found.values(), [at["value"][0] + at["dt"] * cost]

    adjoint.__name__ = f"{step.name}_adjoint"
    return Spec(
        name="_".join([step.name, "adjoint", *of.wrt]),
        function=adjoint,
        inputs=MappingProxyType({**state, **given, **more}),
        optional=MappingProxyType({}),
        outputs=MappingProxyType({f"{x}_next": shape for x, shape in state.items()}),
        body_frames=pullback.body_frames,
    )


def _sum(a, b):
    return [_sum(x, y) if isinstance(x, list) else x + y for x, y in zip(a, b, strict=True)]


def _along(model, q, gradient):
    """``(d q_dot / d v)^T g``: q_dot is linear in v, so that unit velocities give its columns."""
    units = [[float(k == n) for n in range(model.nv)] for k in range(model.nv)]
    columns = [q_dot(model, q, v) for v in units]
    return [sum((x * g for x, g in zip(column, gradient, strict=True)), start=0.0) for column in columns]


TANGENT_GRADIENT = part("tangent_gradient", _along, "q[nq] gradient[nq]", "along[nv]", domains=(), body_frames=None)
"""The gradient with respect to q along the manifold, ``d/ds f(integrate(q, s e_k))``, from that by its nq entries."""
