"""Steps of coupled systems: semi-implicit and linearly implicit Euler, and BDF1 and BDF2 by Newton's method.

All but the first solve ``(c M + a K + b D) dw = r`` for a change of the velocities w of joints and free nodes. The
free nodes are eliminated first, by the sparse matrix of the nodes; a small matrix of the joints is left, on the null
space of the rows of constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.deformables.accelerations import accelerations, null_space
from kinetree.deformables.rigid import IMPLICIT_TERMS, TERMS, Load
from kinetree.deformables.system import CoupledSystem, State
from kinetree.errors import SimulationError
from kinetree.integrators.implicit import CLOSED_END, STEP_END

NEWTON = 25
CONVERGED = 1e-10  # change of velocity over the largest velocity
HALVINGS = 12


@dataclass(slots=True)
class Equation:
    """``A dw = r`` of joints and free nodes, before the elimination.

    Attributes
    ----------
    joints : (nv, nv) array
        The matrix of the model alone.
    entries : array
        ``a K + b D`` of the nodes, in the pattern of `Nodes`.
    mass : float
        The factor c of the mass matrix.
    jacobian : (3 na, nv) array
        Of attached nodes.
    right_joints, right_nodes : (nv,) and (nf, 3) array
    rows, row_right : (nc, nv) and (nc,) array
        ``rows dv = row_right``.
    """

    joints: np.ndarray
    entries: np.ndarray
    mass: float
    jacobian: np.ndarray
    right_joints: np.ndarray
    right_nodes: np.ndarray
    rows: np.ndarray
    row_right: np.ndarray

    def solve(self, matrix) -> tuple[np.ndarray, np.ndarray]:
        """Changes of the velocities of joints (nv,) and free nodes (nf, 3)."""
        ff, fa, aa = matrix.blocks(self.entries, self.mass)
        J = self.jacobian
        A = self.joints + J.T @ (aa @ J)
        coupling = fa @ J
        Z, particular = null_space(self.rows, self.row_right)
        right = self.right_joints - A @ particular
        right_nodes = self.right_nodes.ravel() - coupling @ particular
        coupling = coupling @ Z
        used = np.flatnonzero(np.any(coupling, axis=0))
        found = matrix.solve(ff, np.column_stack((coupling[:, used], right_nodes)))
        responses, alone = found[:, :-1], found[:, -1]
        reduced = Z.T @ A @ Z
        reduced[:, used] -= coupling.T @ responses
        try:
            y = np.linalg.solve(reduced, Z.T @ right - coupling.T @ alone)
        except np.linalg.LinAlgError:  # of a motion that diverges; the loop over steps names it
            y = np.full(len(reduced), np.nan)
        return particular + Z @ y, (alone - responses @ y[used]).reshape(-1, 3)

    def inverse(self, matrix) -> Callable[[np.ndarray], np.ndarray]:
        """The product of ``A^-1``, without rows, with vectors of joints and free nodes, for several of them."""
        ff, fa, aa = matrix.blocks(self.entries, self.mass)
        solve, nv, J = matrix.inverse(ff), len(self.joints), self.jacobian
        coupling = fa @ J
        responses = np.zeros_like(coupling)
        for k in np.flatnonzero(np.any(coupling, axis=0)):
            responses[:, k] = solve(coupling[:, k])
        reduced = np.linalg.inv(self.joints + J.T @ (aa @ J) - coupling.T @ responses)

        def product(right):
            alone = solve(right[nv:])
            joints = reduced @ (right[:nv] - coupling.T @ alone)
            return np.concatenate((joints, alone - responses @ joints))

        return product


class Stepper:
    """Steps of one scene.

    Parameters
    ----------
    scene : Coupled
    """

    order = 1

    def __init__(self, scene: CoupledSystem) -> None:
        self.scene, self.nodes, self.rigid = scene, scene.elements, scene.rigid
        self.matrix = scene.matrix.unused()  # of this run alone, so runs of a scene do not depend on each other
        self.nv = 0 if scene.model is None else scene.model.nv

    def step(self, state: State, load: Load, h: float) -> State:
        """The state after a step of h seconds under the inputs of the model."""
        raise NotImplementedError

    def ended(self, state: State, xi, v, x_free, u_free, part=CLOSED_END) -> State:
        """The state with positions and velocities after a step, attached nodes on their frames."""
        q, x, u = state.q, state.x.copy(), state.u.copy()
        if self.nv:
            w = v if state.z is None else np.concatenate((v, state.z))  # ends of steps take both
            q, w = self.rigid.function(part)(q, xi, w)
            v = w[: self.nv]
        x[self.nodes.free], u[self.nodes.free] = x_free, u_free
        return self.scene.placed(State(q, v, x, u, state.z))

    def on_joints(self, jacobian, values) -> np.ndarray:
        """``J_a^T values`` of attached nodes."""
        return jacobian.T @ values[self.nodes.attached].ravel()


class LinearStep(Stepper):
    """Base of steps that solve one equation with all terms at the start, for the changes of the velocities."""

    def increments(self, state: State, load: Load, h: float) -> tuple[np.ndarray, np.ndarray]:
        """Changes of the velocities of joints (nv,) and free nodes (nf, 3), before loops are closed."""
        raise NotImplementedError

    def step(self, state, load, h):
        dv, du = self.increments(state, load, h)
        free = self.nodes.free
        v, u = state.v + dv, state.u[free] + du
        return self.ended(state, h * v, v, state.x[free] + h * u, u)


class SemiImplicitStep(LinearStep):
    """``M dw = h f``, then positions with the new velocities."""

    def increments(self, state, load, h):
        a, du = accelerations(self.scene, state, load, h)
        return h * a, h * du


class EulerStep(LinearStep):
    """``(M + h D + h^2 K) dw = h (f - h K w)`` with all terms at the start."""

    def increments(self, state, load, h):
        nodes = self.nodes
        f = nodes.forces(state.x, state.u) + nodes.weight
        entries, rate = nodes.matrix(state.x, state.u, h * h, h)
        f = f + h * rate
        joints, J, right = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)
        rows, row_right = np.zeros((0, self.nv)), np.zeros(0)
        if self.nv:
            frames = self.rigid.kinematics(state.q)
            J = self.scene.points.jacobian(frames.R, frames.J).reshape(-1, self.nv)
            f[nodes.attached] -= nodes.masses[nodes.attached, None] * self.scene.bias(state, frames)
            joints, force, K, D = self.rigid.terms(TERMS, (state.q, state.v), load)
            joints, force = joints + h * (D + h * K), force - h * (K @ state.v)
            found = self.rigid.rows(state.q, state.v)
            right, rows, row_right = h * (force + self.on_joints(J, f)), found.G, -found.rate
        free = nodes.free
        return Equation(joints, entries, 1.0, J, right, h * f[free], rows, row_right).solve(self.matrix)


class BDF1Step(Stepper):
    """Implicit Euler: forces, masses and constraints at the end of the step, by Newton's method.

    Slopes are those of `EulerStep`, with the exact ones of the model; second derivatives of element energies are made
    positive semidefinite, so that steps go down. A step is halved while an element is inverted and has no energy.
    """

    def step(self, state, load, h):
        return self.solved(state, load, h, c0=1.0 / h, c1=h, held=None)

    def solved(self, state, load, h, c0, c1, held) -> State:
        """The end of a step with ``dw/dt = c0 (w - w0)`` and ``x = x0 + c1 w``; ``held`` are w0 and x0."""
        if held is None:
            held = State(np.zeros(self.nv), state.v, state.x, state.u)  # q is the part of xi that is given
        free = self.nodes.free

        def at(v, u):
            xi = held.q + c1 * v
            return xi, self.ended(state, xi, v, held.x[free] + c1 * u, u, STEP_END)

        v, u, change = state.v, state.u[free], np.inf
        _, now = at(v, u)
        for _ in range(NEWTON):
            dv, du = self._correction(now, load, c0, c1, held)
            size = max(_largest(dv), _largest(du))
            scale = max(_largest(v), _largest(u), _largest(v + dv), _largest(u + du), 1e-9)
            v, u, now = self._corrected(at, v, dv, u, du)
            change = size / scale
            if change <= CONVERGED:
                break
        else:
            if not change <= 1e-6:
                raise SimulationError(
                    f"Newton's method does not converge: the last change of velocity is {change:.2g} of the velocity. "
                    "Use a smaller dt or integrator='linearly_implicit'.",
                    change=change,
                )
        xi, _ = at(v, u)
        return self.ended(state, xi, v, held.x[free] + c1 * u, u)

    def _corrected(self, at, v, dv, u, du):
        """Velocities and state after a correction, or after a part of it, so that all elements have an energy."""
        for n in range(HALVINGS):
            factor = 0.5**n
            moved = v + factor * dv, u + factor * du
            _, now = at(*moved)
            if not self.nodes.is_bounded or np.isfinite(self.nodes.elastic_energy(now.x)):
                break
        return *moved, now

    def _correction(self, now: State, load, c0, c1, held):
        """Newton's step of the velocities of joints and free nodes at an iterate."""
        nodes, scene, nv = self.nodes, self.scene, self.nv
        f = nodes.forces(now.x, now.u) + nodes.weight
        entries, _ = nodes.matrix(now.x, now.u, c1, 1.0)
        acceleration = np.zeros_like(now.u)
        acceleration[nodes.free] = c0 * (now.u[nodes.free] - held.u[nodes.free])
        joints, J, right = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)
        rows, row_right = np.zeros((0, nv)), np.zeros(0)
        if nv:
            frames = self.rigid.kinematics(now.q)
            a = c0 * (now.v - held.v)
            jacobian = scene.points.jacobian(frames.R, frames.J)
            J = jacobian.reshape(-1, nv)
            acceleration[nodes.attached] = jacobian @ a + scene.bias(now, frames)
            r, dq, dv, M = self.rigid.terms(IMPLICIT_TERMS, (now.q, now.v, a), load)
            joints = c0 * M + dv + c1 * dq
            found = self.rigid.rows(now.q, now.v)
            rows, row_right = found.G, -np.where(found.position_level, found.phi / c1, found.rate)
        f -= nodes.masses[:, None] * acceleration
        if nv:
            right = -r + self.on_joints(J, f)
        return Equation(joints, entries, c0, J, right, f[nodes.free], rows, row_right).solve(self.matrix)


class BDF2Step(BDF1Step):
    """``3 w - 4 w_n + w_(n-1) = 2 h dw/dt``; the first step is one of BDF1."""

    order = 2

    def __init__(self, scene: CoupledSystem) -> None:
        super().__init__(scene)
        self._before = None

    def step(self, state, load, h):
        before, self._before = self._before, (state, h)
        if before is None or before[1] != h:
            return self.solved(state, load, h, 1.0 / h, h, None)
        earlier = before[0]
        xi = np.zeros(0)
        if self.nv:
            xi = self.rigid.function("difference")(earlier.q, state.q) / 3.0
        v, u = state.v + (state.v - earlier.v) / 3.0, state.u + (state.u - earlier.u) / 3.0
        x = state.x + (state.x - earlier.x) / 3.0
        return self.solved(state, load, h, 1.5 / h, h / 1.5, State(xi, v, x, u))


STEPS = {
    "linearly_implicit": EulerStep,
    "semi_implicit": SemiImplicitStep,
    "bdf1": BDF1Step,
    "bdf2": BDF2Step,
}
"""Steps by the name of the integrator."""


def _largest(x) -> float:
    return float(np.abs(x).max()) if x.size else 0.0
