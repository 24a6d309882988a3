"""The articulated model of a coupled system: compiled terms of its equations, and poses of the frames with nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.complete import refuse_unsupported, stepped_constraints
from kinetree.algorithms.constrained import equality_rows
from kinetree.algorithms.crba import crba
from kinetree.algorithms.passive import law_forces
from kinetree.algorithms.rnea import bias_forces
from kinetree.compiler.function import Function, compile
from kinetree.errors import UnsupportedError
from kinetree.integrators.implicit import force_slopes, passive_slopes, residual
from kinetree.integrators.kernels import implicit_states, part
from kinetree.integrators.system import System
from kinetree.state_kinematics import Kinematics


def _terms(model, q, v, tau, f_ext=None, x=None, u=None):
    """Mass matrix, all joint forces, and the slopes of those of springs, force elements and actuators."""
    passive, bias = law_forces(model, q, v, x, u), bias_forces(model, q, v, f_ext)
    K, D = passive_slopes(model, q, v, None, x, u)
    K = [[-x for x in row] for row in K]
    return crba(model, q), [t + p - c for t, p, c in zip(tau, passive, bias, strict=True)], K, D


def _implicit_terms(model, q, v, a, tau, f_ext=None, x=None, u=None):
    """``r = ID(q, v, a) - tau`` and its slopes."""
    return residual(model, q, v, a, tau, f_ext, x, u), *force_slopes(model, q, v, a, f_ext, x, u)


def _rows(model, q, v):
    """Rows of constraints: G, -dG/dt v, G v and phi; zeros for dependent rows, which `Rigid.rows` leaves out."""
    kin = Kinematics(model, q, v)
    numbers, rows, right = equality_rows(model, kin, {}, eliminated=True)
    place = {number: n for n, number in enumerate(numbers)}
    G, k, rate, phi, number = [], [], [], [], 0
    for c in model.constraints:
        residuals = c.residual(kin) or [0.0] * c.count(model)
        for error, speed, held in zip(residuals, c.rate(kin), c.position_level(model), strict=True):
            n = place.get(number)
            G.append([0.0 if n is None else rows[n].get(j, 0.0) for j in range(model.nv)])
            k.append(0.0 if n is None else right[n])
            rate.append(0.0 if n is None else speed)
            phi.append(error if held and n is not None else 0.0)
            number += 1
    return G, k, rate, phi


def _internal(model, q, v, dt, x=None, u=None):
    """Internal states of force elements after a step of linearly implicit Euler."""
    return implicit_states(model, q, v, x, u, dt)


ALL = "f_ext[nb,6] x[nx] u[nu]"
TERMS = part("coupled_terms", _terms, "q[nq] v[nv] tau[nv]", "M[nv,nv] f[nv] K[nv,nv] D[nv,nv]", ALL)
LAWS = part("law_forces", law_forces, "q[nq] v[nv]", "tau[nv]", "x[nx] u[nu]", body_frames=None)
INTERNAL = part("coupled_internal", _internal, "q[nq] v[nv] dt", "x_next[nx]", "x[nx] u[nu]")
IMPLICIT_TERMS = part(
    "coupled_implicit_terms", _implicit_terms, "q[nq] v[nv] a[nv] tau[nv]",
    "r[nv] dr_dq[nv,nv] dr_dv[nv,nv] M[nv,nv]", ALL,
)  # fmt: skip
ROWS = part("coupled_rows", _rows, "q[nq] v[nv]", "G[nc,nv] k[nc] rate[nc] phi[nc]")


class Load(NamedTuple):
    """The arguments of a model's dynamics beside its state; None for those that the model does not have.

    Attributes
    ----------
    tau : (nv,) array
        Actuator forces.
    f_ext : (nb, 6) array or None
        External wrenches.
    z, u : (nx,) and (nu,) array, or None
        Internal states and inputs of force elements.
    """

    tau: np.ndarray
    f_ext: np.ndarray | None = None
    z: np.ndarray | None = None
    u: np.ndarray | None = None

    @property
    def more(self) -> tuple[np.ndarray, ...]:
        """The arguments after tau."""
        return tuple(x for x in (self.f_ext, self.z, self.u) if x is not None)

    @property
    def of_elements(self) -> tuple[np.ndarray, ...]:
        """Internal states and inputs."""
        return tuple(x for x in (self.z, self.u) if x is not None)


class Frames(NamedTuple):
    """Kinematics of the frames that have nodes, by number: R (n, 3, 3), p (n, 3), J (n, 6, nv) in world axes."""

    R: np.ndarray
    p: np.ndarray
    J: np.ndarray


class Rows(NamedTuple):
    """Independent rows of constraints: ``G a = k``, ``rate = G v``, ``phi`` of those with positions."""

    G: np.ndarray
    k: np.ndarray
    rate: np.ndarray
    phi: np.ndarray
    position_level: np.ndarray


class Rigid:
    """The compiled functions of a model.

    Parameters
    ----------
    model : Model
    frames : sequence of str
        Those with nodes.

    Raises
    ------
    UnsupportedError
        The model has parts that coupled simulations do not compute.
    """

    def __init__(self, model, frames: Sequence[str]) -> None:
        refuse_unsupported(model, "aba", computed=stepped_constraints(model))
        for what, found in (
            ("is planar", model.algebra.dimension != 6),
            ("depends on time", model.time_dependent or model.has_given_motions),
            ("has motors", model.motors),
        ):
            if found:
                raise UnsupportedError(f"model {model.name!r} {what}: coupled deformables do not compute this.")
        self.model, self.frames = model, tuple(frames)
        self.system, self._wrenched = System(model), System(model, wrenches=True)
        self._still = np.zeros(model.nv)

    def function(self, spec, wrenches: bool = False) -> Function:
        """A compiled part of the equations, with external wrenches or without."""
        return (self._wrenched if wrenches else self.system).function(spec, checks=False)

    def terms(self, spec, state: tuple, load: Load):
        """`TERMS` or `IMPLICIT_TERMS` at a state under all inputs."""
        return self.function(spec, load.f_ext is not None)(*state, load.tau, *load.more)

    def powers(self, q, v, load: Load) -> tuple[float, float]:
        """Power of all inputs, and power that dampers and friction take [W]."""
        passive, given = self.function(LAWS), load.of_elements
        held = passive(q, self._still, *given)
        work, dissipated = float(load.tau @ v), -float((passive(q, v, *given) - held) @ v)
        if given:
            work += float((held - passive(q, self._still, *map(np.zeros_like, given))) @ v)
        if load.f_ext is not None:
            work -= float(self.function("external_forces")(q, load.f_ext) @ v)
        return work, dissipated

    def _fused(self, quantities: list[str]):
        key = ("coupled", *quantities)
        if key not in self.model.functions:
            self.model.functions[key] = compile(self.model, quantities, checks=False)
        return self.model.functions[key]

    def poses(self, q) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the frames: R (n, 3, 3) and p (n, 3) [m]."""
        if not self.frames:
            return np.zeros((0, 3, 3)), np.zeros((0, 3))
        found = self._fused([f"pose:{name}" for name in self.frames])(q)
        pairs = np.array([np.column_stack((pose.R_WF, pose.p_WF)) for pose in found])
        return pairs[:, :, :3], pairs[:, :, 3]

    def kinematics(self, q) -> Frames:
        """Poses and Jacobians of the frames."""
        R, p = self.poses(q)
        if not self.frames:
            return Frames(R, p, np.zeros((0, 6, self.model.nv)))
        names = [f"jacobian:{name}:local_world_aligned" for name in self.frames]
        return Frames(R, p, np.array(self._fused(names)(q)))

    def rates(self, q, v) -> np.ndarray:
        """Classical accelerations of the frames without those of the joints (n, 6)."""
        if not self.frames:
            return np.zeros((0, 6))
        names = [f"acceleration:{name}:local_world_aligned:classical" for name in self.frames]
        return np.array(self._fused(names)(q, v, self._still))

    def rows(self, q, v) -> Rows:
        """The independent rows of the constraints."""
        if not self.model.nc:
            empty = np.zeros(0)
            return Rows(np.zeros((0, self.model.nv)), empty, empty, empty, np.zeros(0, bool))
        found = self.function(ROWS)(q, v)
        held = np.concatenate([c.position_level(self.model) for c in self.model.constraints]).astype(bool)
        kept = np.sort(np.fromiter(self.model.independent_rows(), int))
        return Rows(*(x[kept] for x in found), held[kept])
