"""Adjoints of coupled steps: from derivatives by the end of a step to those by its start.

Derivatives of the objective are called q, v, z, x and u, as the parts of the state. A step that solves ``A dw = r`` is
differentiated by one solution with ``A^T``. The matrix of linearly implicit steps is solved as in the step, that of the
model transposed. That of BDF has the exact second derivatives, where the step's has positive semidefinite ones and
leaves out how forces of attached nodes turn with their frames: it is solved by GMRES, with the step's matrix as
preconditioner.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinetree.deformables.accelerations import null_space
from kinetree.deformables.element_derivatives import Weights, derivatives
from kinetree.deformables.nodes import Nodes
from kinetree.deformables.rigid import IMPLICIT_TERMS, TERMS, Load
from kinetree.deformables.rigid_adjoint import ByModel, OnNodes, RigidAdjoint
from kinetree.deformables.steps import STEPS, Equation, LinearStep
from kinetree.deformables.system import CoupledSystem, State
from kinetree.errors import SimulationError

EXACT = 1e-13  # residual of the solutions of BDF's equation, relative
ITERATIONS = 50


class Field(NamedTuple):
    """Derivatives of the objective by positions and velocities of all nodes (n, 3)."""

    x: np.ndarray
    u: np.ndarray

    def plus(self, other: Field) -> Field:
        """The sum with another one."""
        return Field(self.x + other.x, self.u + other.u)


class Slopes(NamedTuple):
    """Derivatives of the objective by a state; q by the nq entries, as free numbers."""

    q: np.ndarray
    v: np.ndarray
    z: np.ndarray
    x: np.ndarray
    u: np.ndarray

    def add(self, **more) -> None:
        """Add derivatives by some parts, in place."""
        for name, value in more.items():
            getattr(self, name)[...] += value

    def at(self, n) -> Slopes:
        """Those by one state of several, as views."""
        return Slopes(*(each[n] for each in self))


class Totals:
    """Derivatives of the objective by the numbers of the nodes and elements, summed over the steps.

    Attributes
    ----------
    masses : (n,) array
    drag : (n,) array
        By the damping in proportion to mass of each node.
    elements : list of (ne, k) array
        By the parameters of each block of elements.
    """

    def __init__(self, nodes: Nodes) -> None:
        self.masses, self.drag = np.zeros((2, len(nodes)))
        self.elements = [np.zeros_like(block.parameters) for block in nodes.blocks]


class Motion(NamedTuple):
    """The states of a run with one row for each, and the inputs of the model during each step."""

    q: np.ndarray
    v: np.ndarray
    z: np.ndarray
    x: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    control: np.ndarray


class Adjoint:
    """The adjoint of the steps of one run.

    Parameters
    ----------
    scene : CoupledSystem
    motion : Motion
    h : float
        The step [s].
    numbers : sequence of str
        Patterns of the model's numbers that are variables.
    """

    integrator = ""

    def __init__(self, scene: CoupledSystem, motion: Motion, h: float, numbers=()) -> None:
        self.scene, self.nodes, self.matrix, self.h = scene, scene.elements, scene.matrix.unused(), h
        self.motion, self.x, self.u = motion, motion.x, motion.u
        self.free, self.attached, self.totals = scene.elements.free, scene.elements.attached, Totals(scene.elements)
        self.alpha = (self.nodes.drag / self.nodes.masses)[:, None]
        self.rigid = None
        if scene.model is not None:
            self.rigid = RigidAdjoint(scene, numbers, self.integrator, h)
        self.tau, self.control = np.zeros_like(motion.tau), np.zeros_like(motion.control)

    def back(self, n: int, slopes: Slopes) -> None:
        """Add to the derivatives by earlier states what goes through the step that begins in state n."""
        raise NotImplementedError

    def settle(self, n: int, slopes: Slopes) -> None:
        """Turn derivatives by the attached nodes of state n into those by the joints, which move them."""
        if self.rigid is None or not len(self.attached):
            return
        now, a = slopes.at(n), self.attached
        q, v = self.rigid.placed(self.motion.q[n], self.motion.v[n], now.x[a], now.u[a])
        now.add(q=q, v=v)
        now.x[a], now.u[a] = 0.0, 0.0

    # Elements --------------------------------------------------------------------------------------------------------

    def of_elements(self, x, u, left, right, weights: Weights) -> tuple[Field, list[np.ndarray]]:
        """Sums over the elements of the derivatives of `element_derivatives`, and those by parameters."""
        total, found = Field(np.zeros_like(x), np.zeros_like(x)), []
        for block in self.nodes.blocks:
            at, moving, m, n = (each[block.nodes] for each in (x, u, left, right))
            by_x, by_u, by_p = derivatives(block.law, at, moving, block.parameters, m, n, weights)
            total = total.plus(Field(self.nodes.summed(block, by_x), self.nodes.summed(block, by_u)))
            found.append(by_p)
        return total, found

    def count(self, by_parameters: list[np.ndarray], mu, u, a, h: float = 1.0) -> None:
        """Add the derivatives of ``h mu.(f + m g - alpha m u - m a)`` by numbers."""
        for total, more in zip(self.totals.elements, by_parameters, strict=True):
            total += more
        self.totals.masses += h * np.einsum("ni,ni->n", mu, self.nodes.gravity - self.alpha * u - a)
        self.totals.drag -= h * self.nodes.masses * np.einsum("ni,ni->n", mu, u)
        if self.rigid is not None:
            self.rigid.gravity += h * (self.nodes.masses @ mu)

    def on_nodes(self, free: np.ndarray, J: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """A field of the free nodes and, by the Jacobian of attached ones, of the joints; zero on fixed nodes."""
        found = np.zeros((len(self.nodes), 3))
        found[self.free] = free.reshape(-1, 3)
        if self.rigid is not None:
            found[self.attached] = (J @ joints).reshape(-1, 3)
        return found

    # The model -------------------------------------------------------------------------------------------------------

    def load(self, n: int) -> Load:
        """The inputs of the model in step n, its internal states at the end of the step."""
        model = self.scene.model
        z = self.motion.z[n + 1] if model is not None and model.nx else None
        u = self.motion.control[n] if model is not None and model.nu else None
        return Load(self.motion.tau[n], None, z, u)

    def kinematics(self, k: int, a) -> tuple[np.ndarray, np.ndarray]:
        """Of attached nodes in state k: the Jacobian (3 na, nv), and accelerations under those of the joints."""
        nv = len(a)
        if self.rigid is None:
            return np.zeros((0, nv)), np.zeros((0, 3))
        q, v = self.motion.q[k], self.motion.v[k]
        frames = self.scene.rigid.kinematics(q)
        J = self.scene.points.jacobian(frames.R, frames.J)
        bias = self.scene.bias(State(q, v, self.x[k], self.u[k]), frames)
        return J.reshape(-1, nv), J @ a + bias

    def take(self, n: int, slopes: Slopes, found: ByModel) -> None:
        """Enter the derivatives by the inputs of step n; those by internal states through their own step."""
        self.tau[n] += found.tau
        self.rigid.numbers += found.numbers
        if len(found.u):
            self.control[n] += found.u
        if not len(found.z):
            return
        now, m = slopes.at(n), self.motion
        given = [m.z[n]] + ([m.control[n]] if len(found.u) else [])
        q, v, z, *u = self.rigid.internal(m.q[n], m.v[n], given, slopes.z[n + 1] + found.z)
        now.add(q=q, v=v, z=z)
        if u:
            self.control[n] += u[0]


class LinearAdjoint(Adjoint):
    """Of steps that solve one linear equation with all terms at the start."""

    weights: Weights
    _left: np.ndarray  # of the transposed equation's rows of joints, the forces of constraints

    @property
    def is_implicit(self) -> bool:
        """Whether the equation has slopes of forces."""
        return self.integrator == "linearly_implicit"

    @cached_property
    def stepper(self) -> LinearStep:
        """The steps that are differentiated."""
        return STEPS[self.integrator](self.scene)

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of constraints at the start of step n, with zeros on the right-hand side."""
        G = self.scene.rigid.rows(self.motion.q[n], self.motion.v[n]).G
        return G, np.zeros(len(G))

    def solved(self, n, J, by_dv, by_du) -> tuple[np.ndarray, np.ndarray]:
        """The multipliers of joints and free nodes: the transposed equation's solution."""
        raise NotImplementedError

    def velocities(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Those of the joints at the end of step n, before loops are closed and charts change, and the changes of those
        of free nodes."""
        if self.rigid is None or not (self.scene.model.nc or self.rigid.changes_charts):
            return self.motion.v[n + 1], (self.u[n + 1] - self.u[n])[self.free]
        m = self.motion
        dv, du = self.stepper.increments(State(m.q[n], m.v[n], m.x[n], m.u[n]), self.load(n), self.h)
        return m.v[n] + dv, du

    def _rows_back(self, n: int, now: Slopes, v, lam, misfit) -> None:
        """Derivatives through the rows ``G w = 0`` of the velocities w at the end, and through their forces.

        ``misfit`` is what these forces add to the model's equations, ``G^T kappa``; the transposed equation leaves
        ``G^T nu``.
        """
        q, G = self.motion.q[n], self.scene.rigid.rows(self.motion.q[n], v).G
        kappa, nu = (np.linalg.lstsq(G.T, each, rcond=None)[0] for each in (misfit, self._left))
        by_q, _ = self.rigid.rows(q, lam, kappa)
        more, by_v = self.rigid.rows(q, v, -nu)
        now.add(q=by_q + more, v=by_v)

    def slopes_of_nodes(self, field: np.ndarray) -> np.ndarray:
        """``(h D + h^2 K) y`` of attached nodes (na, 3), with the matrix of `solved`; zero for explicit steps."""
        return np.zeros((len(self.attached), 3))

    def back(self, n, slopes):
        nodes, h, motion, free, attached = self.nodes, self.h, self.motion, self.free, self.attached
        x, u, mass, drag = self.x[n], self.u[n], nodes.masses[:, None], nodes.drag[:, None]
        end, now = slopes.at(n + 1), slopes.at(n)
        v, du = self.velocities(n)
        by_du, by_dv, by_q = (end.u + h * end.x)[free], end.v, end.q
        if self.rigid is not None:
            by_q, by_xi, by_dv = self.rigid.end(motion.q[n], h * v, v, end.q, end.v)
            by_dv = by_dv + h * by_xi
        a = (v - motion.v[n]) / h
        J, a_nodes = self.kinematics(n, a)
        lam, found = self.solved(n, J, by_dv, by_du)
        mu, dw = self.on_nodes(found, J, lam), self.on_nodes(du, J, h * a)
        found, by_parameters = self.of_elements(x, u, mu, dw, self.weights)
        accelerations, drawn = dw / h, u + dw if self.is_implicit else u
        accelerations[attached] = a_nodes
        self.count(by_parameters, mu, drawn, accelerations, h)
        by_x, by_u = end.x + found.x, found.u - h * drag * mu
        by_u[free] += by_du
        if self.rigid is not None:
            f = nodes.forces(x, u) + nodes.weight
            rest = h * (mass * accelerations - f)[attached] + self.slopes_of_nodes(dw)
            if self.is_implicit:
                rest -= h * h * nodes.matrix(x, u, h * h, h)[1][attached]
            on = OnNodes(
                found.x[attached],
                by_u[attached],
                -rest,
                -h * self.slopes_of_nodes(mu),
                -h * (mass * mu)[attached],
            )
            by_model = self.rigid.step(
                motion.q[n], motion.v[n], a, lam, motion.tau[n], self.load(n).of_elements, -h, on
            )
            now.add(q=by_q + by_model.q, v=by_dv + by_model.v)
            self.take(n, slopes, by_model)
            if self.scene.model.nc:
                self._rows_back(n, now, v, lam, -by_model.lam)
            by_x[attached], by_u[attached] = 0.0, 0.0
        now.add(x=by_x, u=by_u)


class SemiImplicitAdjoint(LinearAdjoint):
    """Of ``M dw = h f``, ``dx = h (u + du)``."""

    integrator = "semi_implicit"

    def __init__(self, scene, motion, h, numbers=()) -> None:
        super().__init__(scene, motion, h, numbers)
        self.weights = Weights(forces=h)

    def solved(self, n, J, by_dv, by_du):
        if self.rigid is None:
            return by_dv, by_du / self.nodes.masses[self.free, None]
        M, _, _, _ = self.scene.rigid.terms(TERMS, (self.motion.q[n], self.motion.v[n]), self.load(n))
        M = M + J.T @ (np.repeat(self.nodes.masses[self.attached], 3)[:, None] * J)
        Z, _ = null_space(*self.rows(n))
        lam = Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ by_dv)
        self._left = by_dv - M @ lam
        return lam, by_du / self.nodes.masses[self.free, None]


class EulerAdjoint(LinearAdjoint):
    """Of ``(M + h D + h^2 K) dw = h (f - h K w)``, ``dx = h (u + du)``."""

    integrator = "linearly_implicit"

    def __init__(self, scene, motion, h, numbers=()) -> None:
        super().__init__(scene, motion, h, numbers)
        self.weights, self._blocks = Weights(h, h * h, h * h, h), None

    def solved(self, n, J, by_dv, by_du):
        h, state = self.h, (self.motion.q[n], self.motion.v[n])
        entries, _ = self.nodes.matrix(self.x[n], self.u[n], h * h, h)
        if self.rigid is None:
            ff, _, _ = self.matrix.blocks(entries, 1.0)
            return by_dv, self.matrix.solve(ff, by_du.reshape(-1, 1))
        M, _, K, D = self.scene.rigid.terms(TERMS, state, self.load(n))
        joints = M + h * (D + h * K)
        found = Equation(joints.T, entries, 1.0, J, by_dv, by_du, *self.rows(n)).solve(self.matrix)
        self._blocks = self.matrix.blocks(entries, 0.0)
        mu = self.on_nodes(found[1], J, found[0])
        of_nodes = self.slopes_of_nodes(mu) + (self.nodes.masses[:, None] * mu)[self.attached]
        self._left = by_dv - joints.T @ found[0] - J.T @ of_nodes.ravel()
        return found

    def slopes_of_nodes(self, field):
        _, fa, aa = self._blocks
        return (fa.T @ field[self.free].ravel() + aa @ field[self.attached].ravel()).reshape(-1, 3)


class BDFAdjoint(Adjoint):
    """Of ``M c0 (w - w_h) = f(x, w)``, ``x = x_h + c1 w`` at the end; x_h and w_h are sums of earlier states."""

    order, integrator = 1, "bdf1"

    def formula(self, n: int) -> tuple[float, float, dict[int, float]]:
        """c0, c1, and the factors of the states in x_h and u_h by their numbers."""
        if n == 0 or self.order == 1:
            return 1.0 / self.h, self.h, {n: 1.0}
        return 1.5 / self.h, self.h / 1.5, {n: 4.0 / 3.0, n - 1: -1.0 / 3.0}

    def back(self, n, slopes):
        c0, c1, states = self.formula(n)
        motion, free, attached, nodes = self.motion, self.free, self.attached, self.nodes
        x, u, v, end = self.x[n + 1], self.u[n + 1], motion.v[n + 1], slopes.at(n + 1)
        mass, drag, nv = nodes.masses[:, None], nodes.drag[:, None], len(v)
        a = c0 * (v - sum(factor * motion.v[k] for k, factor in states.items()))
        J, a_nodes = self.kinematics(n + 1, a)
        accelerations = c0 * (u - sum(factor * self.u[k] for k, factor in states.items()))
        accelerations[attached] = a_nodes
        rest = (mass * accelerations - nodes.forces(x, u) - nodes.weight)[attached] if nv else None
        xi = c1 * v + self._ahead(n)

        def pulled(w):
            """For multipliers (nv + 3 nf,): their field, the derivatives of ``mu.f``, and those of the model."""
            mu = self.on_nodes(w[nv:], J, w[:nv])
            found, by_parameters = self.of_elements(x, u, mu, 0.0 * mu, Weights(forces=1.0))
            if not nv:
                return mu, found, by_parameters, None
            still = np.zeros((len(attached), 3))
            on = OnNodes(-found.x[attached], (drag * mu - found.u)[attached], rest, still, (mass * mu)[attached])
            given = motion.tau[n], self.load(n).of_elements, 1.0, on
            return mu, found, by_parameters, self.rigid.step(motion.q[n + 1], v, a, w[:nv], *given)

        def on_joints(by_q, by_v, by_a=0.0):
            if not nv:
                return by_v
            _, by_xi, by_v = self.rigid.end(motion.q[n], xi, v, by_q, by_v)
            return c1 * by_xi + by_v + c0 * by_a

        def transposed(w):
            mu, found, _, model = pulled(w)
            joints = on_joints(model.q, model.v, model.a) if nv else w[:0]
            return np.concatenate((joints, ((c0 * mass + drag) * mu - found.u - c1 * found.x)[free].ravel()))

        right = np.concatenate((on_joints(end.q, end.v), (end.u + c1 * end.x)[free].ravel()))
        w = _solved(transposed, self._preconditioner(n, c0, c1, J, a), right)
        mu, found, by_parameters, model = pulled(w)
        self.count(by_parameters, mu, u, accelerations)
        if nv:
            self._joints_back(n, slopes, model, xi, c0, states)
        x, u, still = end.x + found.x, c0 * mass * mu, np.zeros_like(mu)
        x[attached], u[attached] = 0.0, 0.0
        still[nodes.fixed], x[nodes.fixed] = x[nodes.fixed], 0.0  # fixed nodes are where they were a step before
        for k, factor in states.items():
            slopes.at(k).add(x=factor * x, u=factor * u)
        slopes.at(n).add(x=still)

    def _ahead(self, n: int):
        """The part of the step of positions that earlier states give."""
        if self.rigid is None or n == 0 or self.order == 1:
            return 0.0
        return self.scene.rigid.function("difference")(self.motion.q[n - 1], self.motion.q[n]) / 3.0

    def _joints_back(self, n, slopes, model: ByModel, xi, c0, states) -> None:
        """The derivatives by earlier states of the joints."""
        end, q, v = slopes.at(n + 1), self.motion.q, self.motion.v
        by_q, by_xi, _ = self.rigid.end(q[n], xi, v[n + 1], end.q - model.q, end.v - model.v)
        slopes.at(n).add(q=by_q)
        for k, factor in states.items():
            slopes.at(k).add(v=c0 * factor * model.a)
        if len(states) > 1:
            before, now = self.rigid.difference(q[n - 1], q[n], by_xi / 3.0)
            slopes.at(n - 1).add(q=before)
            slopes.at(n).add(q=now)
        self.take(n, slopes, ByModel(*(-each for each in model)))

    def _preconditioner(self, n, c0, c1, J, a):
        """The product of the transposed inverse of the step's matrix with vectors of joints and free nodes."""
        entries, _ = self.nodes.matrix(self.x[n + 1], self.u[n + 1], c1, 1.0)
        if self.rigid is None:
            ff, _, _ = self.matrix.blocks(entries, c0)
            return self.matrix.inverse(ff)
        state = self.motion.q[n + 1], self.motion.v[n + 1], a
        _, dq, dv, M = self.scene.rigid.terms(IMPLICIT_TERMS, state, self.load(n))
        still = np.zeros(len(a))
        free = np.zeros(3 * len(self.free))
        return _transposed(c0 * M + dv + c1 * dq, entries, c0, J, still, free).inverse(self.matrix)


class BDF2Adjoint(BDFAdjoint):
    """Of BDF2, whose first step is one of BDF1."""

    order, integrator = 2, "bdf2"


ADJOINTS = {
    "linearly_implicit": EulerAdjoint,
    "semi_implicit": SemiImplicitAdjoint,
    "bdf1": BDFAdjoint,
    "bdf2": BDF2Adjoint,
}
"""Adjoints of steps by the name of the integrator."""


def _transposed(joints, entries, mass, J, right_joints, right_nodes) -> Equation:
    """The transposed equation of a model without rows of constraints; the matrix of the nodes is symmetric."""
    none = np.zeros((0, len(joints)))
    return Equation(joints.T, entries, mass, J, right_joints, right_nodes, none, none[:, 0])


def _solved(product, inverse, right: np.ndarray) -> np.ndarray:
    """The solution of a linear equation by GMRES with a preconditioner."""
    from scipy.sparse.linalg import LinearOperator, gmres

    if not np.any(right):
        return np.zeros_like(right)
    shape = right.size, right.size
    operator, preconditioner = (LinearOperator(shape, each, dtype=float) for each in (product, inverse))
    found, _ = gmres(operator, right, inverse(right), M=preconditioner, rtol=EXACT, restart=ITERATIONS, maxiter=2)
    if np.linalg.norm(product(found) - right) > 1e-9 * np.linalg.norm(right):
        raise SimulationError(
            "rollout_gradient: GMRES does not solve the adjoint equation of a step. Use a smaller dt, or "
            "integrator='linearly_implicit'."
        )
    return found
