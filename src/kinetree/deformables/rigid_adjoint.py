"""Derivatives of the model's part of coupled steps: of its equations, and of the fields of the frames that have nodes.

A frame moves its nodes by an affine field: the position of a node that rests at r in it is ``p + R r``, its velocity
``p' + R' r``, its acceleration ``p'' + R'' r``. What the nodes contribute to the derivatives of a step is a number of
cotangents of these fields, twelve for each frame, however many nodes it has.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.constraint_rows import constraint_rates
from kinetree.algorithms.kinematics import body_fields
from kinetree.algorithms.manifold import may_change_chart
from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.compiler.derivative_functions import NUMBERS, chosen_numbers, derivative_spec
from kinetree.compiler.function import Function
from kinetree.deformables.rigid import INTERNAL
from kinetree.errors import UnsupportedError
from kinetree.integrators.implicit import CLOSED_END, passive_slopes, residual
from kinetree.integrators.kernels import part
from kinetree.once import once
from kinetree.simulation.adjoint_step import TANGENT_GRADIENT
from kinetree.spatial.vectors import Matrix3
from kinetree.state_kinematics import Kinematics


class OnNodes(NamedTuple):
    """Derivatives by what attached nodes get from the model, (na, 3) each.

    Attributes
    ----------
    position, velocity : array
    multiplier : array
        ``J lam`` of the multipliers of the model's equations.
    relative : array
        ``J a`` of the accelerations.
    acceleration : array
        ``J a + J' v``.
    """

    position: np.ndarray
    velocity: np.ndarray
    multiplier: np.ndarray
    relative: np.ndarray
    acceleration: np.ndarray


class ByModel(NamedTuple):
    """Derivatives by the inputs of the model's equations, and by the numbers of the model that are variables."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    lam: np.ndarray
    z: np.ndarray
    u: np.ndarray
    numbers: np.ndarray


class RigidAdjoint:
    """The compiled derivatives of a scene's model.

    Parameters
    ----------
    scene : CoupledSystem
    numbers : sequence of str
        Patterns of the model's numbers that are variables.
    integrator : str
        Equations of "linearly_implicit" steps have the slopes of passive forces; those of BDF are here without
        loops and changes of charts.
    h : float
        The step [s].

    Raises
    ------
    UnsupportedError, UnknownNameError
    """

    def __init__(self, scene, numbers, integrator: str, h: float) -> None:
        model = scene.model
        self.changes_charts = any(may_change_chart(model, i) for i in model.outward())
        for what, found in (
            ("has loops or coupled joints", model.nc),
            ("has joints with several charts", self.changes_charts),
        ):
            if found and "bdf" in integrator:
                raise UnsupportedError(
                    f"rollout_gradient: model {model.name!r} {what}, and the steps are {integrator!r}: gradients of "
                    "deformables coupled with it are not computed. 'linearly_implicit' steps have them.",
                    feature="coupled",
                )
        self.scene, self.model, self.h = scene, model, np.array(h)
        self.chosen = chosen_numbers(model, numbers) if numbers else ()
        self.names = tuple(model.numbers().names[k] for k in self.chosen)
        self.numbers, self.gravity = np.zeros(len(self.chosen)), np.zeros(3)
        self._frames = scene.rigid.frames or ("world",)
        self._equations = equations(self._frames, integrator == "linearly_implicit")
        self._given = tuple(name for name, size in (("x", model.nx), ("u", model.nu)) if size)

    def _pullback(self, spec: Spec, wrt: str, given=()) -> Function:
        fixed = spec.name == CLOSED_END.name and not self.model.nc
        names = (*wrt.split(), *given, *([NUMBERS] if self.chosen and not fixed else []))
        total = len(self.model.numbers())
        found = derivative_spec(
            spec, "vjp", names, tuple(spec.outputs), tuple(x for x in given if x in spec.optional), self.chosen, total,
            False,
        )  # fmt: skip
        return Function(found, self.model, (), {}, False)

    def _split(self, found, count: int) -> list[np.ndarray]:
        """The derivatives by the variables; those by numbers, which follow them, are added up."""
        found = list(found) if isinstance(found, tuple) else [found]
        if self.chosen and len(found) > count:
            self.numbers += found[count]
        return found[:count]

    # Attached nodes --------------------------------------------------------------------------------------------------

    @cached_property
    def _at(self) -> np.ndarray:
        """``(1, r)`` of each attached node (na, 4)."""
        at = self.scene.points.at
        return np.column_stack((np.ones(len(at)), at))

    def _by_fields(self, by_nodes: np.ndarray) -> np.ndarray:
        """Derivatives by the fields of the frames (nf, 4, 3), from those by values at the nodes."""
        found = np.zeros((len(self._frames), 4, 3))
        np.add.at(found, self.scene.points.frames, self._at[:, :, None] * by_nodes[:, None, :])
        return found

    @cached_property
    def _placing(self) -> Function:
        return self._pullback(placing(self._frames), "q v")

    def placed(self, q, v, by_x, by_u) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by q and v, from those by positions and velocities of the attached nodes."""
        return tuple(self._split(self._placing(q, v, self._by_fields(by_x), self._by_fields(by_u)), 2))

    # Equations -------------------------------------------------------------------------------------------------------

    @cached_property
    def _step(self) -> Function:
        return self._pullback(self._equations, "q v a tau lam", self._given)

    def step(self, q, v, a, lam, tau, of_elements, weight: float, nodes: OnNodes) -> ByModel:
        """Derivatives of ``weight lam.r`` of the model's equations r and of what its nodes contribute.

        ``of_elements`` are the internal states and inputs, those that the model has.
        """
        fields = [self._by_fields(each) for each in nodes]
        found = self._step(q, v, a, lam, tau, self.h, *of_elements, np.array(weight), *fields)
        more = dict(zip((*self._given, NUMBERS), found[5:], strict=False))
        return ByModel(*found[:5], *(more.get(name, np.zeros(0)) for name in ("x", "u", NUMBERS)))

    # Ends of steps, internal states, charts --------------------------------------------------------------------------

    @cached_property
    def _ending(self) -> Function:
        return self._pullback(CLOSED_END, "q xi v")

    def end(self, q, xi, v, by_q, by_v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives by q, xi and v of the end ``integrate(q, xi)``, v of a step."""
        more = np.zeros(self.model.nx)
        found = self._ending(q, xi, np.concatenate((v, more)), by_q, np.concatenate((by_v, more)))
        by_q, by_xi, by_w = self._split(found, 3)
        return by_q, by_xi, by_w[: len(v)]

    @cached_property
    def _rates(self) -> Function:
        return self._pullback(ROW_RATES, "q v")

    def rows(self, q, v, by_rates) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by q and v of the velocities of the independent rows of constraints."""
        given = np.zeros(self.model.nc)
        given[np.sort(np.fromiter(self.model.independent_rows(), int))] = by_rates
        return tuple(self._split(self._rates(q, v, given), 2))

    @cached_property
    def _internal(self) -> Function:
        return self._pullback(INTERNAL, "q v", self._given)

    def internal(self, q, v, of_elements, by_z) -> list[np.ndarray]:
        """Derivatives by q, v, and the internal states and inputs of a step of the internal states."""
        return self._split(self._internal(q, v, self.h, *of_elements, by_z), 2 + len(self._given))

    @cached_property
    def _difference(self) -> Function:
        return self._pullback(ALGORITHMS["difference"], "q0 q1")

    def difference(self, q0, q1, by_step) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by both positions of the step between them."""
        return tuple(self._split(self._difference(q0, q1, by_step), 2))

    def along(self, q, by_q) -> np.ndarray:
        """Derivatives by q along the manifold (nv,), from those by its entries."""
        return self.scene.rigid.function(TANGENT_GRADIENT)(q, by_q)

    def by_numbers(self) -> dict[str, float]:
        """The derivatives by numbers; those by gravity with the weight of the nodes."""
        found = dict(zip(self.names, self.numbers.tolist(), strict=True))
        for name, more in zip(("gravity.x", "gravity.y", "gravity.z"), self.gravity.tolist(), strict=True):
            if name in found:
                found[name] += more
        return found


ROW_RATES = part("coupled_row_rates", constraint_rates, "q[nq] v[nv]", "rates[nc]", body_frames="loops")


@once(most=64)
def placing(frames: tuple[str, ...]) -> Spec:
    """The declaration of positions and velocities of frames as affine fields."""

    def fields(model, q, v):
        kin = Kinematics(model, q, v)
        return [_positions(kin, name) for name in frames], [_velocities(kin, name) for name in frames]

    size = f"[#{len(frames)},#4,#3]"
    return part("coupled_frames", fields, "q[nq] v[nv]", f"X{size} U{size}", body_frames=True)


@once(most=64)
def equations(frames: tuple[str, ...], implicit: bool) -> Spec:
    """The declaration of ``lam.r`` of the model's equations, and of all fields of the frames.

    ``r = ID(q, v, a) - tau``; of linearly implicit steps more by ``D h a + h K (v + h a)``.
    """

    def fields(model, q, v, a, lam, tau, h, x=None, u=None):
        r = residual(model, q, v, a, tau, None, x, u)
        if implicit:
            K, D = passive_slopes(model, q, v, None, x, u)
            for k in range(model.nv):
                for n in range(model.nv):
                    r[k] = r[k] + h * (D[k][n] * a[n] - K[k][n] * (v[n] + h * a[n]))
        total = sum((x * y for x, y in zip(lam, r, strict=True)), start=0.0)
        moving = [Kinematics(model, q, each) for each in (v, lam, a)]
        accelerated = body_fields(model, q, v, a)
        columns = [[_velocities(kin, name) for name in frames] for kin in moving]
        return (
            total,
            [_positions(moving[0], name) for name in frames],
            *columns,
            [_accelerations(model, moving[0], accelerated, name) for name in frames],
        )

    size = f"[#{len(frames)},#4,#3]"
    outputs = "r " + " ".join(f"{name}{size}" for name in ("X", "U", "Mu", "W", "A"))
    name = f"coupled_{'linearly_implicit' if implicit else 'residual'}_fields"
    return part(name, fields, "q[nq] v[nv] a[nv] lam[nv] tau[nv] h", outputs, "x[nx] u[nu]", body_frames=True)


def _columns(origin, turned) -> list:
    return [list(origin), *([turned[i, k] for i in range(3)] for k in range(3))]


def _positions(kin: Kinematics, frame: str) -> list:
    """p and the columns of R."""
    return _columns(kin.point(frame), kin.rotation(frame))


def _velocities(kin: Kinematics, frame: str) -> list:
    """p' and the columns of R'."""
    return _columns(kin.velocity(frame), Matrix3.cross(kin.angular_velocity(frame)) @ kin.rotation(frame))


def _accelerations(model, kin: Kinematics, fields, frame: str) -> list:
    """p'' and the columns of R''."""
    place, R = model.frame(frame), kin.rotation(frame)
    field = place.X_FB @ fields[place.body]
    return _columns(R @ field.a, R @ field.gradient)
