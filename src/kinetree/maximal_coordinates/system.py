"""Bodies in maximal coordinates: the KKT system of all bodies and all joints, its steps, and the forces in joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_truth_value, an_instance, array, checked, choice, number, refuse, several, whole
from kinetree.compiler.calls import public_call
from kinetree.errors import SingularityError, UnsupportedError
from kinetree.forces.contract import ForceElement
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.sparse_solution import SINGULAR, Factors, Pattern, elimination_order
from kinetree.maximal_coordinates.terms import (
    SLOPES,
    block_places,
    bodies_of,
    entries_of,
    slopes_of,
    terms_of,
)
from kinetree.model.model import GRAVITY

METHODS = ("sparse", "dense")
TINY = 1e-200
_SLOPES = ("stiffness", "damping")


class Solution(NamedTuple):
    """Accelerations of a system in maximal coordinates.

    Attributes
    ----------
    accelerations : (n, 6) array
        Rates of the twists of the bodies, [angular; linear] in body coordinates [rad/s^2, m/s^2].
    multipliers : (nc,) array
        Forces along the rows of the constraints [N m or N], in the order of ``row_names``; zero for rows left out.
    wrenches : (n_joints, 6) array
        Wrench [moment; force] that each joint exerts on ``joint_bodies``, in the coordinates of that body [N m, N]: of
        constraint and of actuator, and in systems of a model of the springs and dampers of its joints. Forces of
        other elements are not in it.
    """

    accelerations: np.ndarray
    multipliers: np.ndarray
    wrenches: np.ndarray


class Step(NamedTuple):
    """The end of a step, and the mean forces during it.

    Attributes
    ----------
    q : (nq,) array
        Positions of ``model`` [m; unit quaternions].
    v : (nv,) array
        Twists [rad/s, m/s].
    multipliers : (nc,) array
        Mean forces along the rows [N m or N].
    wrenches : (n_joints, 6) array
        Mean wrenches of the joints [N m, N], as those of `Solution`.
    """

    q: np.ndarray
    v: np.ndarray
    multipliers: np.ndarray
    wrenches: np.ndarray


class Equation(NamedTuple):
    """The terms of the equation of motion in one state.

    Attributes
    ----------
    M : (nv, nv) sparse array
        Inertias of the bodies, and armatures along the motions of joints [kg m^2, kg m and kg].
    f : (nv,) array
        Forces on the bodies in their coordinates [N m, N]: weight, gyroscopic forces, force elements, actuators.
    G : (nc, nv) sparse array
        Rows of the constraints [1 or m].
    bias : (nc,) array
        ``dG/dt Phi`` [m/s^2 or rad/s^2].
    phi : (nc,) array
        Errors of position [m or rad], zero for rows that hold velocities alone.
    E : (nj, nv) sparse array
        Rates of the coordinates of the joints are ``E Phi``, where joints are closed [1, m or 1/m].
    E_bias : (nj,) array
        ``dE/dt Phi`` [rad/s^2 or m/s^2].

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> system = kt.maximal(kt.models.double_pendulum())
    >>> q, v = system.state([0.3, -0.2], [1.0, 2.0])
    >>> terms = system.equation(q, v)
    >>> terms.M.shape, terms.G.shape
    ((12, 12), (10, 12))
    >>> bool(abs(terms.G @ v).max() < 1e-9 and abs(terms.phi).max() < 1e-9)  # closed
    True
    """

    M: object
    f: np.ndarray
    G: object
    bias: np.ndarray
    phi: np.ndarray
    E: object
    E_bias: np.ndarray


def _named_poses(what: str, value: object) -> None:
    if value is not None and not isinstance(value, Mapping):
        refuse(what, value, "a mapping from names of frames to poses")


class System:
    r"""Rigid bodies in SE(3) with constraints between them, in maximal coordinates.

    .. math:: \begin{pmatrix} M & G^T \\ G & 0 \end{pmatrix} \begin{pmatrix} \dot\Phi \\ -\lambda \end{pmatrix} =
       \begin{pmatrix} f \\ -\dot G \Phi \end{pmatrix}

    Parameters
    ----------
    bodies : sequence of Body
    joints : sequence of LoopJoint
        Joints between bodies or with "world", by the names of bodies and frames.
    gravity : (3,) array
        In world coordinates [m/s^2].
    forces : sequence of ForceElement
        See `kinetree.forces`.
    frames : mapping of str to pose
        Frames of the world [m, rad].
    redundant : {"raise", "drop"}
        Treatment of rows that others imply, as in a planar four-bar with four hinges.

    Attributes
    ----------
    model : Model
        The bodies on free joints, the joints as loop joints. Its velocities are the twists ``Phi`` of the bodies
        [angular; linear] in body coordinates; kinematics and energies are those of this model.
    joint_names, joint_bodies : tuple of str
        Joints, and the body of each on which ``wrenches`` act: its successor, or its predecessor if that is the world.
    n, nv, nc : int
        Number of bodies, of velocities (6 n), and of rows of constraints.

    Raises
    ------
    InertiaError
        A body has no mass or no inertia.
    UnknownNameError, DuplicateNameError
    ConstraintError
        Rows follow from others; they are named.

    Notes
    -----
    Source: Sueda, sections 1.6 to 1.12, eq. 1.21, 1.69-1.74, 1.82; Baraff (1996) for the order of elimination. The
    multipliers have the sign of kinetree's constraints, which exert ``G^T lambda``: those of eq. 1.73 are minus these.
    The rows of a joint are the constraint forces of its kind (``Joint.implicit``): for a hinge the relative twist
    without the row of its axis.

    See Also
    --------
    kinetree.maximal : the system of a Model.

    Examples
    --------
    A rod that swings on a hinge at its end:

    >>> import kinetree as kt, numpy as np
    >>> from kinetree.maximal_coordinates import Body, System
    >>> rod = Body("rod", 2.0, inertia=(0.5, 0.5, 1e-3), pose=((0, 0, -1), (0, 0, 0)))
    >>> hinge = kt.constraints.LoopJoint("hinge", kt.joints.Revolute((0, 1, 0)), "world", "rod",
    ...                                  X_S=((0, 0, 1), (0, 0, 0)))
    >>> system = System([rod], [hinge])
    >>> q = system.start
    >>> v = np.zeros(6)
    >>> system.accelerations(q, v).wrenches[0].round(6).tolist()  # the hinge bears the weight
    [0.0, 0.0, 0.0, 0.0, 0.0, 19.62]
    """

    _who = "System"

    @checked(forces=several(an_instance(ForceElement)), frames=_named_poses)
    def __init__(
        self, bodies, joints=(), *, gravity=GRAVITY, forces: Sequence = (), frames=None, redundant: str = "raise"
    ) -> None:
        choice("System: redundant", redundant, ("raise", "drop"))
        bodies, joints = free_bodies.checked_bodies(bodies), free_bodies.checked_joints(joints)
        model, inertias = free_bodies.built(bodies, joints, gravity, forces, frames or {})
        self._prepare(model, inertias, model.independent_rows() if redundant == "drop" else range(model.nc))
        self.start = free_bodies.start(model, bodies)
        if redundant == "raise":
            self.accelerations(self.start, np.zeros(self.nv))  # refuses rows that are redundant at the start

    def _prepare(self, model, inertias, kept, coupled=None, ends=None, armature=None, sprung=None) -> None:
        """Places of all entries; ``ends`` are the joints whose forces are ``tau``, with the body that each moves."""
        self.model, self.n, self.nv = model, model.nb - 1, model.nv
        self._coupled, self._sprung = coupled, sprung
        model = self._bodies = free_bodies.with_rows(model, kept)
        loops, numbered = dict(model.loop_joints()), model.constraint_rows()
        self._ends = (ends or {}) | {
            name: bodies_of(model, loop)[-1] for name, loop in loops.items() if name not in (ends or {})
        }
        self.joint_names = tuple(self._ends)
        self.joint_bodies = tuple(model.body_names[i] for i in self._ends.values())
        self.row_names = (*model.row_names, *(() if coupled is None else coupled.row_names))
        self.nc = len(self.row_names)
        self._kept = np.array([*kept, *range(model.nc, self.nc)], int)
        self._rows_of = {name: list(n) for c, n in numbered for name, loop in loops.items() if loop is c}

        self._terms, self._slopes = terms_of(model), {}
        blocks = Pattern([(r, c) for i in range(self.n) for r, c in _block(6 * i)], (self.nv, self.nv))
        self._inertias = blocks.matrix(np.array([I.matrix() for I in inertias], float).ravel())
        self._pairs = Pattern(block_places(model), (self.nv, self.nv))
        self._G = Pattern(
            [(n, k) for c, numbers in numbered for n in numbers for k in entries_of(model, c)], (model.nc, self.nv)
        )
        owners = [name for name, loop in loops.items() for _ in range(loop.joint.nv)]
        places = [(n, k) for n, name in enumerate(owners) for k in entries_of(model, loops[name])]
        self._E = Pattern(places, (len(owners), self.nv))
        self._coordinates_of = {name: [n for n, other in enumerate(owners) if other == name] for name in loops}
        self._at_G, self._at_E = (
            self._at_ends(pattern, of) for pattern, of in ((self._G, self._rows_of), (self._E, self._coordinates_of))
        )
        self._of_tau = np.array([n for name in (ends or loops) for n in self._coordinates_of[name]], int)
        self._armature = np.zeros(len(owners))
        if armature is not None:
            self._armature[self._of_tau] = armature

        blocks = [(list(numbers), bodies_of(model, c)) for c, numbers in numbered]
        for c, numbers in () if coupled is None else coupled.constraint_rows():
            bodies = {i for joint in c.joints for i in bodies_of(model, loops[joint])}
            blocks.append(([model.nc + n for n in numbers], sorted(bodies)))
        self._order = self._elimination(blocks)
        thin = any(free_bodies.regular(I) is not I for I in inertias)
        self._weight = float(self._inertias.diagonal().mean()) if thin else 0.0

    def _elimination(self, blocks) -> np.ndarray:
        """The unknowns, twists and then kept rows, in the order of elimination."""
        place = {n: self.nv + k for k, n in enumerate(self._kept.tolist())}
        order = []
        for kind, m in elimination_order(self.n, [bodies for _, bodies in blocks]):
            if kind == "body":
                order += range(6 * m - 6, 6 * m)
            else:
                order += [place[n] for n in blocks[m][0] if n in place]
        return np.array(order, int)

    # The equation ----------------------------------------------------------------------------------------------------

    def equation(self, q, v, tau=None, f_ext=None, x=None, u=None) -> Equation:
        """The terms of the equation of motion.

        Parameters
        ----------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists of the bodies [rad/s, m/s].
        tau : (nj,) array, optional
            Forces along the coordinates of the joints [N m or N].
        f_ext : (n + 1, 6) array, optional
            External wrenches on the bodies, in world coordinates [N m, N]; row 0 is not used.
        x : (nx,) array, optional
            Internal states of force elements [as the elements define them].
        u : (nu,) array, optional
            Inputs of force elements [as the elements define them].

        Returns
        -------
        Equation
        """
        from scipy.sparse import vstack

        given = {name: value for name, value in (("f_ext", f_ext), ("x", x), ("u", u)) if value is not None}
        entries, bias, phi, coordinates, rows, E_bias, f = self._terms(self._bodies, q, v, **given)
        G, E = self._G.matrix(entries), self._E.matrix(rows)
        M = self._inertias
        E_tau, v = E[self._of_tau], array("v", v, shape=(self.nv,))
        f = f + E_tau.T @ self._joint_forces(tau, coordinates, E_tau @ v)
        if self._armature.any():
            from scipy.sparse import diags_array

            M = M + E.T @ diags_array(self._armature) @ E
            f = f - E.T @ (self._armature * E_bias)
        if self._coupled is not None:
            q_r = self._joint_positions(coordinates)
            K = _rows(self._coupled, q_r)
            G = vstack([G, K @ E_tau])
            bias = np.concatenate([bias, _bias(self._coupled, q_r, E_tau @ v) + K @ E_bias[self._of_tau]])
            phi = np.concatenate([phi, _error(self._coupled, q_r)])
        return Equation(M, f, G, bias, phi, E, E_bias)

    def _joint_forces(self, tau, coordinates, rates) -> np.ndarray:
        """Forces along the coordinates of the joints: of actuators, and of springs and dampers of a model's joints."""
        found = np.zeros(len(self._of_tau)) if tau is None else array("tau", tau, shape=(len(self._of_tau),))
        if self._sprung is not None:
            found = found + public_call("passive_joint_forces")(self._sprung, self._joint_positions(coordinates), rates)
        return found

    def _joint_positions(self, coordinates) -> np.ndarray:
        raise NotImplementedError

    def slopes(self, q, v, method: str = "gauss_newton", x=None, u=None):
        """Stiffness and damping of the force elements over the bodies.

        Parameters
        ----------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].
        method : {"gauss_newton", "exact"}
            With leaves of the laws linear in the coordinates, or exact.
        x : (nx,) array, optional
            Internal states of force elements [as the elements define them].
        u : (nu,) array, optional
            Inputs of force elements [as the elements define them].

        Returns
        -------
        K : (nv, nv) sparse array
            ``-df/dq`` along the twists [N m/rad, N/m], with blocks at the bodies that an element connects.
        D : (nv, nv) sparse array
            ``-df/dv`` [N m s, N s/m].
        """
        from scipy.sparse import csr_array

        choice("slopes: method", method, SLOPES)
        if method not in self._slopes:
            self._slopes[method] = slopes_of(self._bodies, method)
        given = {name: value for name, value in (("x", x), ("u", u)) if value is not None}
        K, D = (self._pairs.matrix(values) for values in self._slopes[method](self._bodies, q, v, **given))
        if self._sprung is not None:
            _, _, _, coordinates, rows, *_ = self._terms(self._bodies, q, v, **given)
            E = self._E.matrix(rows)[self._of_tau]
            state = self._joint_positions(coordinates), E @ np.asarray(v, float)
            K_r, D_r = (public_call(f"{what}_matrix")(self._sprung, *state, method=method) for what in _SLOPES)
            K, D = K + E.T @ csr_array(K_r) @ E, D + E.T @ csr_array(D_r) @ E
        return K, D

    def accelerations(
        self, q, v, tau=None, f_ext=None, *, x=None, u=None, baumgarte=(0.0, 0.0), method: str = "sparse"
    ) -> Solution:
        r"""Accelerations and forces of constraints.

        Parameters
        ----------
        q, v, tau, f_ext, x, u
            As for `equation`.
        baumgarte : (float, float)
            alpha and beta [1/s]: rows get the accelerations ``-2 alpha G Phi - beta^2 phi`` (eq. 1.82).
        method : {"sparse", "dense"}
            ``L D L^T`` from the leaves to the root, linear in the number of bodies, or dense.

        Returns
        -------
        Solution

        Raises
        ------
        ConstraintError
            Rows follow from others; they are named.
        """
        alpha, beta = (number("accelerations: baumgarte", each, least=0.0) for each in _pair(baumgarte))
        e = self.equation(q, v, tau, f_ext, x, u)
        rates = e.G @ np.asarray(v, float)
        found, lam = self._solve(e.M, e, e.f, -e.bias - 2.0 * alpha * rates - beta**2 * e.phi, method)
        active = self._active(q, v, tau) - self._armature * (e.E @ found + e.E_bias)
        return Solution(found.reshape(-1, 6), lam, self._wrenches(e, lam, active))

    @checked(stabilize=a_truth_value)
    def step(
        self, q, v, tau=None, f_ext=None, *, dt, u=None, slopes: str | None = None, baumgarte=0.0,
        stabilize: bool = False, method: str = "sparse",
    ) -> Step:  # fmt: skip
        r"""One step of semi-implicit or linearly implicit Euler at the level of velocities.

        Parameters
        ----------
        q, v, tau, f_ext, u
            As for `equation`.
        dt : float
            Length of the step h [s].
        slopes : {None, "gauss_newton", "exact"}
            None: ``M Phi+ = M Phi + h f`` (eq. 1.73). Else linearly implicit with the stiffness and damping of the
            force elements, ``(M + h D + h^2 K) Phi+ = M Phi + h (f + D Phi)`` (eq. 1.30).
        baumgarte : float
            gamma [1/s]: rows get the velocities ``-gamma phi`` (eq. 1.82).
        stabilize : bool
            Close the positions after the step, see `closed`.
        method : {"sparse", "dense"}

        Returns
        -------
        Step

        Raises
        ------
        UnsupportedError
            Force elements have internal states.
        """
        h, gamma = number("step: dt", dt, above=0.0), number("step: baumgarte", baumgarte, least=0.0)
        if self.model.nx:
            raise UnsupportedError(
                f"step: force elements have internal states ({', '.join(self.model.state_names[:4])}), which steps in "
                "maximal coordinates do not integrate; simulate the model in reduced coordinates (kt.simulate)"
            )
        e, v = self.equation(q, v, tau, f_ext, None, u), array("v", v, shape=(self.nv,))
        A, right = e.M, e.M @ v + h * e.f
        if slopes is not None:
            K, D = self.slopes(q, v, slopes, None, u)
            A, right = A + h * D + h * h * K, right + h * (D @ v)
        found, lam = self._solve(A, e, right, -gamma * e.phi, method)
        q_next = public_call("integrate")(self._bodies, q, h * found)
        active = self._active(q, v, tau) - self._armature * (e.E @ (found - v) / h + e.E_bias)
        if stabilize:
            q_next = self.closed(q_next, steps=1)
        return Step(q_next, found, lam / h, self._wrenches(e, lam / h, active))

    def closed(self, q, *, steps: int = 3) -> np.ndarray:
        """Positions moved onto the constraints, by the least displacement in the metric of the inertia.

        Parameters
        ----------
        q : (nq,) array
            Positions [m; unit quaternions].
        steps : int
            Of Newton's method.

        Returns
        -------
        (nq,) array
            [m; unit quaternions].

        Notes
        -----
        Source: post-stabilization, Cline and Pai (2003), which Sueda, section 1.12, names: ``M d + G^T mu = 0``,
        ``G d = -phi``, ``q (+) d``.
        """
        rest = np.zeros(self.nv)
        for _ in range(whole("closed: steps", steps, least=0)):
            e = self.equation(q, rest)
            d, _ = self._solve(e.M, e, rest, -e.phi, "sparse")
            q = public_call("integrate")(self._bodies, q, d)
        return np.asarray(q)

    # Solutions -------------------------------------------------------------------------------------------------------

    def _solve(self, A, e: Equation, right, rows, method: str):
        """Twists or rates of them, and multipliers that exert ``G^T lambda``."""
        from scipy.sparse import block_array

        choice("method", method, METHODS)
        G, rows, lam = e.G[self._kept], rows[self._kept], np.zeros(self.nc)
        if self._weight:  # which changes no solution of G x = rows, and makes the first block regular
            A, right = A + self._weight * (G.T @ G), right + self._weight * (G.T @ rows)
        matrix = block_array([[A, G.T], [G, None]], format="csc") if len(rows) else A.tocsc()
        right = np.concatenate([right, rows])
        if method == "dense":
            found = np.linalg.solve(matrix.toarray(), right)
        else:
            factors = Factors(matrix[self._order][:, self._order].tocsc())
            self._require_regular(factors, A, e)
            found = np.empty(len(right))
            found[self._order] = factors.solve(right[self._order])
        lam[self._kept] = -found[self.nv :]
        return found[: self.nv], lam

    def _require_regular(self, factors: Factors, A, e: Equation) -> None:
        """Refuse rows and motions whose pivots are nothing but rounding."""
        D, G = np.empty(len(self._order)), e.G[self._kept]
        D[self._order] = factors.D
        inertia = np.maximum(A.diagonal(), TINY * A.diagonal().max())
        first = np.concatenate([inertia, G.power(2) @ (1.0 / inertia)])
        if (np.abs(D) > SINGULAR * first).all():  # not so for NaN
            return
        if names := self._dependent(G.toarray()):
            raise free_bodies.redundant(names, self._who)
        pivots = D if np.isfinite(D).all() else A.diagonal()
        k = int(np.argmin(np.abs(pivots[: self.nv]) / inertia))
        raise SingularityError(
            f"{self._who}: body {self.model.body_names[1 + k // 6]!r} or one that it carries can move without moving "
            "mass: its inertia is singular, and no joint holds it. Give it moments of inertia, or a joint of fewer "
            "freedoms."
        )

    def _dependent(self, G) -> list[str]:
        """Names of rows that follow from the others."""
        from scipy.linalg import qr

        size = np.linalg.norm(G, axis=1)
        _, R, order = qr((G / np.where(size > 0.0, size, 1.0)[:, None]).T, mode="economic", pivoting=True)
        rank = int((np.abs(np.diag(R)) > 1e-9).sum())
        return [self.row_names[self._kept[n]] for n in sorted(order[rank:])]

    def _active(self, q, v, tau) -> np.ndarray:
        """Forces along all coordinates of joints, those of loop joints zero."""
        _, _, _, coordinates, rows, *_ = self._terms(self._bodies, q, v)
        found = np.zeros(len(self._armature))
        found[self._of_tau] = self._joint_forces(tau, coordinates, (self._E.matrix(rows) @ v)[self._of_tau])
        return found

    def _wrenches(self, e: Equation, lam, active) -> np.ndarray:
        """Of every joint the wrench on its body."""
        found = np.zeros(6 * len(self._ends))
        for matrix, values, (entries, rows, into) in ((e.G, lam, self._at_G), (e.E, active, self._at_E)):
            np.add.at(found, into, matrix.data[entries] * values[rows])
        return found.reshape(-1, 6)

    def _at_ends(self, pattern: Pattern, rows_of) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Entries of rows of joints at the bodies on which their wrenches act: numbers, rows, places in wrenches."""
        row_at = {n: (m, body) for m, (name, body) in enumerate(self._ends.items()) for n in rows_of.get(name, ())}
        found = []
        for entry, (n, k) in enumerate(pattern.places):
            m, body = row_at.get(n, (0, 0))
            if body and k // 6 == body - 1:
                found.append((entry, n, 6 * m + k % 6))
        return tuple(np.array(found, int).reshape(-1, 3).T)


def _block(start: int):
    return [(start + r, start + c) for r in range(6) for c in range(6)]


def _pair(values):
    found = tuple(np.ravel(np.asarray(values, object)).tolist())
    if len(found) != 2:
        refuse("accelerations: baumgarte", values, "two numbers, alpha and beta")
    return found


def _rows(model, q):
    return public_call("closed_loops_jacobian")(model, q)


def _bias(model, q, v):
    return public_call("closed_loops_bias")(model, q, v)


def _error(model, q):
    return public_call("closed_loops_error")(model, q)
