"""Bodies in maximal coordinates: the KKT system of all bodies and all joints, its steps, and the forces in joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.gears import gears_of
from kinetree.algorithms.tendon_inertia import refuse_tendon_inertia
from kinetree.arguments import a_truth_value, an_instance, array, checked, choice, number, refuse, several, whole
from kinetree.compiler.calls import public_call
from kinetree.errors import ShapeError
from kinetree.forces.contract import ForceElement
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.bounded_forces import forces_of_laws
from kinetree.maximal_coordinates.joint_terms import Gears, JointState, JointTerms
from kinetree.maximal_coordinates.results import Equation, Solution, Step
from kinetree.maximal_coordinates.saddle_point import SaddlePoint
from kinetree.maximal_coordinates.searched_positions import require_found
from kinetree.maximal_coordinates.sparse_solution import Pattern
from kinetree.maximal_coordinates.terms import (
    SLOPES,
    Terms,
    block_places,
    bodies_of,
    entries_of,
    slopes_of,
    states_after_of,
    terms_of,
)
from kinetree.model.model import GRAVITY

_SLOPES = ("stiffness", "damping")


def _named_poses(what: str, value: object) -> None:
    if value is not None and not isinstance(value, Mapping):
        refuse(what, value, "a mapping from names of frames to poses")


class _State(NamedTuple):
    """The compiled terms of a state, the rows of the joint coordinates, the twists, and the state of the joints."""

    terms: Terms
    E: object
    v: np.ndarray
    joints: JointState


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
        Number of bodies, of velocities (6 n), and of rows of constraints; those whose forces have bounds are last.
    time_dependent : bool
        Whether joints or constraints depend on time, so that the methods take ``t``.

    Raises
    ------
    InertiaError
        A body has an inertia that no body can have.
    SingularityError
        A body can move without moving mass.
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
        refuse_tendon_inertia(model, "System")
        self._prepare(model, inertias, model.independent_rows() if redundant == "drop" else range(model.nc))
        self.start = free_bodies.start(model, bodies)
        if redundant == "raise":
            t = 0.0 if self.time_dependent else None
            self.accelerations(self.start, np.zeros(self.nv), t=t)  # refuses rows that are redundant at the start

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.model.name!r}: {self.n} bodies, nv={self.nv}, {self.nc} rows>"

    def _prepare(self, model, inertias, kept, ends=None, reduced=None) -> None:
        """Places of all entries; ``ends`` are the joints whose forces are ``tau``, with the body that each moves."""
        self.model, self.n, self.nv = model, model.nb - 1, model.nv
        model = self._bodies = free_bodies.with_rows(model, kept)
        loops, numbered = dict(model.loop_joints()), model.constraint_rows()
        self._ends = (ends or {}) | {
            name: bodies_of(model, loop)[-1] for name, loop in loops.items() if name not in (ends or {})
        }
        self.joint_names = tuple(self._ends)
        self.joint_bodies = tuple(model.body_names[i] for i in self._ends.values())
        self._rows_of = {name: list(n) for c, n in numbered for name, loop in loops.items() if loop is c}

        self._terms, self._slopes, self._states_after = terms_of(model), {}, None
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
        self._joints = None if reduced is None else JointTerms(reduced, self._of_tau)
        gears = () if reduced is None else gears_of(reduced)
        self._gears = Gears(gears, self._of_tau, self.nv) if gears else None
        self._armature = np.zeros(len(owners))
        if self._joints is not None:
            self._armature[self._of_tau] = self._joints.armature
        coupled = self._coupled = self._joints.coupled if self._joints is not None else None
        self.time_dependent = model.has_given_motions or (coupled is not None and coupled.has_given_motions)

        names = (*model.row_names, *(() if coupled is None else coupled.row_names))
        self._n_equal = len(names)
        self.row_names = (*names, *(() if self._joints is None else self._joints.bounded_names))
        self.nc = len(self.row_names)
        self._kept = np.array([*kept, *range(model.nc, self._n_equal)], int)
        blocks = [(list(numbers), bodies_of(model, c)) for c, numbers in numbered]
        for c, numbers in () if coupled is None else coupled.constraint_rows():
            bodies = {i for joint in c.joints for i in bodies_of(model, loops[joint])}
            blocks.append(([model.nc + n for n in numbers], sorted(bodies)))
        thin = any(free_bodies.regular(I) is not I for I in inertias)
        weight = float(self._inertias.diagonal().mean()) if thin else 0.0
        self._saddle = SaddlePoint(model, blocks, self._kept, weight, (self._who, model.body_names[1:], names))

    # The equation ----------------------------------------------------------------------------------------------------

    def equation(self, q, v, tau=None, f_ext=None, x=None, u=None, *, t=None) -> Equation:
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
        t : float, optional
            The time [s], where joints or constraints depend on it.

        Returns
        -------
        Equation
        """
        return self._equation(self._evaluated("equation", q, v, f_ext, x, u, t), tau)[0]

    def _evaluated(self, what: str, q, v, f_ext=None, x=None, u=None, t=None) -> _State:
        """The compiled terms in a state."""
        for name, value, n in (("q", q, self._bodies.nq), ("v", v, self.nv)):
            if np.ndim(value) > 1:
                raise ShapeError(
                    f"{what}: {name} has shape {np.shape(value)}, expected ({n},): a system takes one state at a time."
                )
        clock = self._clock(what, t)
        given = {name: value for name, value in (("f_ext", f_ext), ("x", x), ("u", u)) if value is not None}
        terms = self._terms(self._bodies, q, v, **given, **(clock if self._bodies.has_given_motions else {}))
        given.pop("f_ext", None)
        if terms.gaps.size:
            require_found(what, self._bodies, array("q", q), terms.gaps, clock.get("t"))
        E, v = self._E.matrix(terms.rows), array("v", v, shape=(self.nv,))
        rates = (E @ v + terms.offsets)[self._of_tau]
        joints = JointState(self._joint_positions(terms.coordinates), rates, clock.get("t"), given)
        return _State(terms, E, v, joints)

    def _clock(self, what: str, t) -> dict:
        """The time as an input, of systems that depend on it."""
        if not self.time_dependent:
            return {} if t is None else refuse(f"{what}: t", t, "None, since nothing in the system depends on time")
        if t is None:
            refuse(f"{what}: t", t, "the time [s], on which joints or constraints depend")
        return {"t": number(f"{what}: t", t)}

    def _equation(self, at: _State, tau) -> tuple[Equation, np.ndarray]:
        """The terms of the equation, and the forces along the coordinates of the joints."""
        from scipy.sparse import csr_array, diags_array, vstack

        terms, E, v, joints = at
        G, bias, phi, driven = self._G.matrix(terms.G), terms.bias, terms.phi, terms.driven
        M, E_tau, E_bias = self._inertias, E[self._of_tau], terms.rates
        acting = np.zeros(len(self._of_tau)) if tau is None else array("tau", tau, shape=(len(self._of_tau),))
        if self._joints is not None:
            acting = acting + self._joints.forces(joints)
        f = terms.f + E_tau.T @ acting
        if self._armature.any():
            M = M + E.T @ diags_array(self._armature) @ E
            f = f - E.T @ (self._armature * E_bias)
        if self._joints is not None and len(m := self._joints.length_inertia):
            L, length_rates = self._joints.tendons(joints)
            lengths = L @ E_tau
            M = M + csr_array(lengths.T @ (m[:, None] * lengths))
            f = f - lengths.T @ (m * (length_rates + L @ E_bias[self._of_tau]))
        if self._gears is not None:
            M, f = M + self._gears.inertia(E), f + self._gears.forces(E, E_bias, terms.offsets, v)
        if self._coupled is not None:
            found = self._joints.couplings(joints)
            G = vstack([G, found.K @ E_tau], format="csr")
            bias = np.concatenate([bias, found.bias + found.K @ E_bias[self._of_tau]])
            rates = found.driven - found.K @ terms.offsets[self._of_tau]
            phi, driven = np.concatenate([phi, found.phi]), np.concatenate([driven, rates])
        return Equation(M, f, G, bias, phi, E, E_bias, driven, terms.offsets), acting

    def _joint_positions(self, coordinates) -> np.ndarray:
        """Those of the joints that have a tau, among the coordinates of all joints."""
        return np.asarray(coordinates)

    def slopes(self, q, v, method: str = "gauss_newton", x=None, u=None, *, t=None):
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
        t : float, optional
            The time [s], where joints or constraints depend on it.

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
        given |= self._clock("slopes", t) if self._bodies.has_given_motions else {}
        K, D = (self._pairs.matrix(values) for values in self._slopes[method](self._bodies, q, v, **given))
        if self._joints is not None:
            _, E, _, joints = self._evaluated("slopes", q, v, None, x, u, t)
            if found := self._joints.slopes(joints, method):
                E = E[self._of_tau]
                K, D = (each + E.T @ csr_array(added) @ E for each, added in zip((K, D), found, strict=True))
        return K, D

    def accelerations(
        self, q, v, tau=None, f_ext=None, *, x=None, u=None, t=None, baumgarte=(0.0, 0.0), method: str = "sparse"
    ) -> Solution:
        r"""Accelerations and forces of constraints.

        Parameters
        ----------
        q, v, tau, f_ext, x, u, t
            As for `equation`.
        baumgarte : (float, float)
            alpha and beta [1/s]: rows get the accelerations ``-2 alpha (G Phi - driven) - beta^2 phi`` (eq. 1.82).
        method : {"sparse", "compiled", "dense"}
            From the leaves to the root, linear in the number of bodies: by SuperLU, or by ``L^T D L`` as a function of
            machine code, which is faster and has to be compiled, once. Or dense.

        Returns
        -------
        Solution

        Raises
        ------
        ConstraintError
            Rows follow from others; they are named.
        """
        alpha, beta = (number("accelerations: baumgarte", each, least=0.0) for each in _pair(baumgarte))
        at = self._evaluated("accelerations", q, v, f_ext, x, u, t)
        e, acting = self._equation(at, tau)
        rows = -e.bias - 2.0 * alpha * (e.G @ at.v - e.driven) - beta**2 * e.phi
        factors = self._saddle.factorized(e.M, e.G, method)
        found, lam = factors.solve(e.f, rows)
        found, lam, pushed = self._bounded(factors, at, e, found, lam)
        return Solution(found.reshape(-1, 6), lam, self._wrenches(e, lam, acting + pushed, found))

    @checked(stabilize=a_truth_value)
    def step(
        self, q, v, tau=None, f_ext=None, *, dt, x=None, u=None, t=None, slopes: str | None = None, baumgarte=0.0,
        stabilize: bool = False, method: str = "sparse",
    ) -> Step:  # fmt: skip
        r"""One step of semi-implicit or linearly implicit Euler at the level of velocities.

        Parameters
        ----------
        q, v, tau, f_ext, x, u, t
            As for `equation`.
        dt : float
            Length of the step h [s].
        slopes : {None, "gauss_newton", "exact"}
            None: ``M Phi+ = M Phi + h f`` (eq. 1.73). Else linearly implicit with the stiffness and damping of the
            force elements, ``(M + h D + h^2 K) Phi+ = M Phi + h (f + D Phi)`` (eq. 1.30).
        baumgarte : float
            gamma [1/s]: rows get the velocities ``driven - gamma phi`` (eq. 1.82).
        stabilize : bool
            Close the positions after the step, see `closed`.
        method : {"sparse", "compiled", "dense"}

        Returns
        -------
        Step

        Notes
        -----
        Rows that depend on time have their positions and velocities at the end of the step. Internal states take a step
        of linearly implicit Euler, as in `semi_implicit_step`; tensions are those at the beginning. Limits are rows
        ``v+ >= (limit - q) / h``, and sticking friction has impulses up to h times the load.
        """
        h = number("step: dt", dt, "a positive number", above=0.0)
        gamma = number("step: baumgarte", baumgarte, least=0.0)
        at = self._evaluated("step", q, v, f_ext, x, u, t)
        e, acting = self._equation(at, tau)
        end = self._clock("step", t if t is None else t + h)
        if end:
            then = self.equation(q, np.zeros(self.nv), **end)
            e = e._replace(G=then.G, phi=then.phi, driven=then.driven, E=then.E, E_driven=then.E_driven)
        A, right = e.M, e.M @ at.v + h * e.f
        if slopes is not None:
            K, D = self.slopes(q, v, slopes, x, u, t=t)
            A, right = A + h * D + h * h * K, right + h * (D @ at.v)
        factors = self._saddle.factorized(A, e.G, method)
        found, lam = factors.solve(right, e.driven - gamma * e.phi)
        found, lam, pushed = self._bounded(factors, at, e, found, lam, h)
        q_next = public_call("integrate")(self._bodies, q, h * found)
        if stabilize:
            q_next = self.closed(q_next, steps=1, **end)
        wrenches = self._wrenches(e, lam / h, acting + pushed / h, (found - at.v) / h)
        return Step(q_next, found, lam / h, wrenches, self._states(q, v, x, u, h, found, t))

    def _states(self, q, v, x, u, dt, v_next, t) -> np.ndarray:
        """Internal states at the end of a step."""
        if not self.model.nx:
            return np.zeros(0)
        if self._states_after is None:
            self._states_after = states_after_of(self._bodies)
        given = {} if u is None else {"u": u}
        given |= self._clock("step", t) if self._bodies.has_given_motions else {}
        x = np.array(self._bodies.initial_internal()) if x is None else x
        return self._states_after(self._bodies, q, v, x, dt, v_next, **given)

    def closed(self, q, *, steps: int = 3, t=None) -> np.ndarray:
        """Positions moved onto the constraints, by the least displacement in the metric of the inertia.

        Parameters
        ----------
        q : (nq,) array
            Positions [m; unit quaternions].
        steps : int
            Of Newton's method.
        t : float, optional
            The time [s], where joints or constraints depend on it.

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
            e = self.equation(q, rest, t=t)
            d, _ = self._saddle.factorized(e.M, e.G, "sparse").solve(rest, -e.phi)
            q = public_call("integrate")(self._bodies, q, d)
        return np.asarray(q)

    # Solutions -------------------------------------------------------------------------------------------------------

    def _bounded(self, factors, at: _State, e: Equation, free, lam, dt=None) -> tuple:
        """The solution with the forces of rows that have bounds, and these as joint forces; of a step impulses."""
        n = len(self._of_tau)
        if self._n_equal == self.nc:
            return free, lam, np.zeros(n)
        K, bias = self._joints.bounded_rows(at.joints)
        B = K @ e.E[self._of_tau]
        response, by_rows = factors.solve(B.T, np.zeros((self._n_equal, len(K))))
        joint_rates = (e.E @ free + (e.E_bias if dt is None else e.E_driven))[self._of_tau]
        rates = K @ joint_rates if dt is not None else K @ joint_rates + bias
        laws = self._joints.laws(at.joints, dt, None if dt is None else joint_rates.tolist())
        forces = forces_of_laws(B @ response, rates, laws, K)
        return free + response @ forces, np.concatenate([lam + by_rows @ forces, forces]), K.T @ forces

    def _wrenches(self, e: Equation, lam, acting, rates) -> np.ndarray:
        """Of every joint the wrench on its body; the forces along coordinates move armatures and gears, too."""
        active = -self._armature * (e.E @ rates + e.E_bias)
        active[self._of_tau] += acting
        if self._gears is not None:
            active -= self._gears.joint_forces(e.E, e.E_bias, rates)
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
