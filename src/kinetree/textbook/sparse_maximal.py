r"""Forward dynamics in maximal coordinates by a sparse matrix: bodies and joints without a spanning tree.

Book (eq. 8.64, section 3.7)     here
``I, v, f^x``                    blocks of the bodies, in base coordinates; gravity enters f^x
``T, T^a, P``                    of `joint_blocks`: T and T^a of each joint, tree or loop; P by its two bodies
``-T_dot^T P^T v``               ``T^T (c_J + v_s x v_J)`` of tree joints, that of table 8.4 of loop joints
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.force_basis import force_basis
from kinetree.algorithms.kinematics import motion_subspace
from kinetree.arguments import a_model, an_array, checked, names, refuse
from kinetree.errors import SingularityError, unknown_name
from kinetree.spatial import Columns, Force
from kinetree.textbook.loop_methods import LoopDynamics
from kinetree.textbook.loop_terms import loop_joints, placements, scalars_of, transforms_from, velocity_products


class JointBlock(NamedTuple):
    """A joint's part of the equation: rows ``T^T (a_s - a_p) = right``, and the active force on its successor."""

    name: str
    bodies: tuple[int, int]  # predecessor, successor
    T: np.ndarray  # (6, n_c)
    right: np.ndarray
    active: np.ndarray  # T^a tau, (6,)
    armature: np.ndarray  # T^a diag(armature) T^a^T, (6, 6)
    numbers: tuple[int, ...] = ()  # of a loop joint's rows among the model's


class MaximalEquation:
    """The equation of motion of single bodies under the constraints of all joints, as a sparse matrix.

    Attributes
    ----------
    names : tuple of str
        Of the blocks, "body arm" and "joint elbow": bodies, then tree joints, then loop joints.
    matrix : (n, n) scipy.sparse.csc_array
        ``[[I, P T], [T^T P^T, 0]]``.
    right : (n,) array
        The right-hand side for the unknowns (a, -lambda).
    """

    def __init__(self, model, q, v, tau, f_ext) -> None:
        self.model = model
        self._X_0 = transforms_from(model, q)
        self._tree, self._joints = joint_blocks(model, q, v, tau, self._X_0)
        blocks, right = _body_blocks(model, q, v, f_ext, self._X_0)
        bodies = (f"body {name}" for name in model.body_names[1:])
        self.names = (*bodies, *(f"joint {joint.name}" for joint in self._joints))
        for n, joint in enumerate(self._joints, start=model.nb - 1):
            p, s = joint.bodies
            for body, sign in ((s, 1.0), (p, -1.0)):
                if body:
                    blocks[body - 1, n] = sign * joint.T
                    blocks[n, body - 1] = sign * joint.T.T
                    right[body - 1] = right[body - 1] + sign * joint.active
            if joint.armature.any():
                for m, sign_m in ((s, 1.0), (p, -1.0)):
                    for k, sign_k in ((s, 1.0), (p, -1.0)):
                        if m and k:
                            block = blocks.get((m - 1, k - 1), np.zeros((6, 6)))
                            blocks[m - 1, k - 1] = block + sign_m * sign_k * joint.armature
            right.append(joint.right)
        self._blocks, self._right = blocks, right

    @property
    def matrix(self):
        return self.permuted(range(len(self.names)))[0]

    @property
    def right(self) -> np.ndarray:
        return np.concatenate(self._right)

    def permuted(self, order: Sequence[int]):
        """The matrix with its blocks in this order, as a sparse array, and the first row of each block."""
        from scipy.sparse import coo_array

        sizes = [len(self._right[n]) for n in order]
        start = dict(zip(order, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        rows, columns, values = [], [], []
        for (m, n), block in self._blocks.items():
            at = np.nonzero(block)
            rows.append(at[0] + start[m])
            columns.append(at[1] + start[n])
            values.append(block[at])
        size = sum(sizes)
        index = np.concatenate(rows), np.concatenate(columns)
        return coo_array((np.concatenate(values), index), shape=(size, size)).tocsc(), start

    def numbered(self, order: Sequence[str]) -> list[int]:
        """Blocks by name, each once.

        Raises
        ------
        UnknownNameError, ArgumentError
        """
        found = names("MaximalEquation: order", order)
        for name in found:
            if name not in self.names:
                raise unknown_name("block", name, self.names, "the equation")
        if sorted(found) != sorted(self.names):
            refuse("MaximalEquation: order", order, f"each of the {len(self.names)} blocks once")
        return [self.names.index(name) for name in found]

    def bandwidth(self, order: Sequence[str]) -> int:
        """The largest distance of a block that is not zero from the diagonal, counted in blocks."""
        place = {n: k for k, n in enumerate(self.numbered(order))}
        return max(abs(place[m] - place[n]) for m, n in self._blocks)

    def solve(self, order: Sequence[str] | None = None) -> LoopDynamics:
        """Joint accelerations and the multipliers of loop joints.

        Parameters
        ----------
        order : sequence of str, optional
            The order of elimination by names; by default SuperLU's choice (COLAMD).

        Returns
        -------
        LoopDynamics

        Raises
        ------
        SingularityError
            The matrix has no inverse.
        """
        from scipy.sparse.linalg import splu

        chosen = range(len(self.names)) if order is None else self.numbered(order)
        matrix, start = self.permuted(chosen)
        right = np.concatenate([self._right[n] for n in chosen])
        try:
            found = splu(matrix, permc_spec="COLAMD" if order is None else "NATURAL").solve(right)
        except RuntimeError as failure:
            raise SingularityError(
                f"maximal_dynamics: the equation of model {self.model.name!r} is singular ({failure}): loops have rows "
                "that others imply, or the mechanism is at a singular position"
            ) from None
        A = [np.zeros(6)] + [found[start[n] : start[n] + 6] for n in range(self.model.nb - 1)]
        lam = np.zeros(self.model.nc)
        for n, joint in enumerate(self._joints, start=self.model.nb - 1):
            lam[list(joint.numbers)] = -found[start[n] : start[n] + len(joint.numbers)]
        return LoopDynamics(self._joint_accelerations(A), lam)

    def _joint_accelerations(self, A) -> np.ndarray:
        """``T_a^T (a_s - a_p - c_J - v_s x v_J)`` of the tree joints."""
        a = np.zeros(self.model.nv)
        for i, (T_a, c) in enumerate(self._tree, start=1):
            a[self.model.v_slice[i]] = T_a.T @ (A[i] - A[self.model.parent[i]] - c)
        return a


def _array(columns) -> np.ndarray:
    return np.array([[float(x) for x in column] for column in columns]).reshape(-1, 6).T


def joint_blocks(model, q, v, tau, X_0) -> tuple[list, list[JointBlock]]:
    """T_a and ``c_J + v_s x v_J`` of the tree joints, and the blocks of all joints, in base coordinates."""
    _, V, _ = velocity_products(model, q, v)
    tree, blocks = [], []
    for i in model.outward():
        joint, q_i, v_i, slot = model.joints[i], model.q_of(i, q), model.v_of(i, v), model.v_slice[i]
        to_base = X_0[i].inverse_apply
        T, T_a = (to_base(basis) for basis in force_basis(model.algebra, motion_subspace(model, i, q)))
        v_J = joint.velocity(q_i, v_i)
        c = np.array([*to_base(joint.bias(q_i, v_i) + V[i].cross(v_J))], float)
        T, T_a = _array(T), _array(T_a)
        tree.append((T_a, c))
        armature = np.asarray(model.armature[slot], float)
        active = T_a @ (np.array(tau[slot], float) + armature * (T_a.T @ c))
        block = JointBlock(model.joint_name(i), (model.parent[i], i), T, T.T @ c, active, (T_a * armature) @ T_a.T)
        blocks.append(block)
    kept = set(model.independent_rows())
    for loop, rows in model.constraint_rows():
        numbers = tuple(n for n in rows if n in kept)
        blocks.append(_loop_block(model, loop, X_0, V, [n - rows.start for n in numbers], numbers))
    return tree, blocks


def _loop_block(model, loop, X_0, V, chosen, numbers) -> JointBlock:
    """Rows ``T^T (a_s - a_p) = -T_dot^T (v_s - v_p)`` of a loop joint, ``T_dot = v_s x* T`` and a ring over T."""
    p, s, X_p, X_s = placements(model, loop, X_0)
    v_p, v_s = X_0[p].inverse_apply(V[p]), X_0[s].inverse_apply(V[s])
    X = X_s @ X_p.inverse()
    T = X_s.inverse_apply(Columns(loop.joint.implicit(X)[1], Force))
    T_ring = X_s.inverse_apply(Columns(loop.joint.force_basis_rate(X, X_s @ (v_s - v_p)), Force))
    right = [-t.dot(v_s.cross(v_p)) - dt.dot(v_s - v_p) for t, dt in zip(T, T_ring, strict=True)]
    zero = np.zeros(6)
    T, right = _array(T)[:, chosen], np.array(right, float)[chosen]
    return JointBlock(loop.name, (p, s), T, right, zero, np.zeros((6, 6)), numbers)


def _body_blocks(model, q, v, f_ext, X_0):
    """Inertias, and ``f^x + I g - v x* I v``, in base coordinates."""
    _, V, _ = velocity_products(model, q, v)
    gravity = model.algebra.Motion(model.algebra.no_rotation, model.gravity)
    blocks, right = {}, []
    for i in model.outward():
        I, v_0 = X_0[i].inverse_apply(model.I[i]), X_0[i].inverse_apply(V[i])
        force = I @ gravity - v_0.cross(I @ v_0)
        if f_ext is not None:
            force = force + model.algebra.external(f_ext[i])
        blocks[i - 1, i - 1] = np.array(I.matrix(), float)
        right.append(np.array([*force], float))
    return blocks, right


@checked(model=a_model, q=an_array, v=an_array, tau=an_array, f_ext=an_array)
def maximal_equation(model, q, v, tau, f_ext=None) -> MaximalEquation:
    r"""The equation of motion in maximal coordinates, six for each body, as a sparse matrix.

    .. math:: \begin{bmatrix} I & P T \\ T^T P^T & 0 \end{bmatrix} \begin{bmatrix} a \\ -\lambda \end{bmatrix} =
        \begin{bmatrix} P T^a \tau - v \times^* I v + f^x \\ -\dot T^T P^T v \end{bmatrix}

    Parameters
    ----------
    model : Model
        Its constraints are loop joints.
    q : (nq,) array
        Joint positions [rad or m; quaternions unit].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    tau : (nv,) array
        Joint forces [N m or N]; passive ones are not added.
    f_ext : (nb, 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.

    Returns
    -------
    MaximalEquation
        ``matrix``, ``right``, ``solve(order)``, ``bandwidth(order)``.

    Raises
    ------
    UnsupportedError
        The model has constraints of other kinds, gears, or joints that depend on time.

    Notes
    -----
    Source: Featherstone (2008), section 8.13, eq. 8.64, and section 3.7; Baraff (1996) for trees. Differs: rows of loop
    joints that others imply are left out, armatures enter the inertias along T^a, and all is in base coordinates, so
    digits are lost far from the world's origin. The matrix is factorized by SuperLU, in its own order or in one that is
    given by names: for ladders an order with a fixed bandwidth makes the cost O(n), which no spanning tree does
    (figure 8.4). *Identities* The accelerations are those of `forward_dynamics`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model, q, v = kt.models.random_loops(4, bodies=6, loops=1, family="planar")
    >>> equation = kt.textbook.maximal_equation(model, q, v, np.ones(model.nv))
    >>> equation.matrix.shape[0] == 6 * 6 + sum(6 - joint.nv for joint in model.joints[1:]) + 2
    True
    >>> bool(np.allclose(equation.solve().a, kt.forward_dynamics(model, q, v, np.ones(model.nv))))
    True
    """
    loop_joints(model, "maximal_equation")
    q, v, tau, f_ext = scalars_of(model, "maximal_equation", q, v, tau=tau, f_ext=f_ext)
    return MaximalEquation(model, q, v, tau, f_ext)
