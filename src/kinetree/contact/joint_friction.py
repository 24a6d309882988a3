r"""Bilateral staggered projections: friction on the surfaces of joints, together with contacts and loops.

Sueda                                            here
``f_alpha`` (eq. 2.117, 2.119), distributed      `joint_wrenches` under all other forces: the same reactions
local solve for alpha (eq. 2.118)                least norm of the normal forces that give the reaction
friction QP (eq. 2.114), final QP (eq. 2.120)    rows with bounds in one contact problem, with the contacts

The reactions of a step depend on its friction and that on the reactions, so both are repeated. Of a hinge or slider all
points slip together: their boxes ``|beta| <= mu |alpha|`` are one row of the joint's velocity. Of a ball each point has
its two rows.

Source: Sueda, section 2.11, algorithm 8. Differs: external contacts and friction are solved at once, not in turn; the
reactions are those of accelerations under the mean impulses of the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_model, array, checked, number, refuse, whole
from kinetree.compiler.calls import public_call
from kinetree.constraints.joint_bounds import StickingFriction
from kinetree.contact.joint_surfaces import JointSurface
from kinetree.contact.of_model import bounded_parts
from kinetree.contact.problem import ContactProblem
from kinetree.contact.solution import ContactSolution
from kinetree.errors import UnsupportedError


class JointFrictionStep(NamedTuple):
    """The end of a step with friction in joints.

    Attributes
    ----------
    velocities : (nv,) array
        Joint velocities [rad/s or m/s]; positions follow by ``kt.integrate(model, q, dt * velocities)``.
    joint_impulses : dict
        By joint the impulses of friction along its velocities [N m s or N s].
    normal_forces : dict
        By joint the forces of its points along their normals [N]; of both signs.
    contacts : ContactSolution
        The impulses of contacts, and of all rows.
    status : str
        "solved", or "not_converged".
    iterations : int
        Alternations of reactions and friction.
    """

    velocities: np.ndarray
    joint_impulses: Mapping[str, np.ndarray]
    normal_forces: Mapping[str, np.ndarray]
    contacts: ContactSolution
    status: str
    iterations: int


@checked(model=a_model)
def joint_friction_step(
    model, q, v, tau, dt, surfaces, *, warm_start=None, tolerance: float = 1e-8, iterations: int = 50
) -> JointFrictionStep:
    """Velocities after a step with Coulomb friction on the surfaces of joints, with contacts and loops.

    Parameters
    ----------
    model : Model
        Spatial; its contact pairs, loops and hard limits take part.
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    tau : (nv,) array
        Actuator forces during the step [N m or N].
    dt : float
        Length of the step [s].
    surfaces : sequence of JointSurface
        Of joints of the spanning tree, one of each at most.
    warm_start : JointFrictionStep, optional
        The last step, whose friction is the first guess.
    tolerance : float
        Of the change of the joint velocities by one more alternation [rad/s or m/s].
    iterations : int
        Most alternations.

    Returns
    -------
    JointFrictionStep

    Raises
    ------
    ArgumentError, UnknownNameError
    UnsupportedError
        A joint has no cylinder or ball, or sticking friction of the model acts on it, too.

    Notes
    -----
    Source: Sueda, section 2.11, algorithm 8 (bilateral staggered projections). A hinge with many points under a force F
    across its axis resists with ``(4 / pi) mu F radius``.

    See Also
    --------
    kinetree.contact.JointSurface

    Examples
    --------
    A pendulum that hangs aside, held by the friction of its bearing:

    >>> import kinetree as kt
    >>> arm = kt.models.pendulum()
    >>> bearing = kt.contact.JointSurface("pivot", radius=0.1, friction=0.5)
    >>> step = kt.contact.joint_friction_step(arm, [0.01], [0.0], [0.0], 0.001, [bearing])
    >>> abs(step.velocities[0]) < 1e-12
    np.True_
    """
    dt = number("joint_friction_step: dt", dt, "a positive time in seconds", above=0.0)
    tolerance = number("joint_friction_step: tolerance", tolerance, "a positive number", above=0.0)
    iterations = whole("joint_friction_step: iterations", iterations, "a positive number", least=1)
    scene = _Scene(model, q, v, tau, dt, _surfaces(model, surfaces))
    if warm_start is not None and not isinstance(warm_start, JointFrictionStep):
        refuse("joint_friction_step: warm_start", warm_start, "a JointFrictionStep")
    impulses = np.zeros(len(scene.W))
    if warm_start is not None and warm_start.contacts.row_impulses.size + 3 * model.n_contacts == len(impulses):
        impulses = np.concatenate([warm_start.contacts.impulses.ravel(), warm_start.contacts.row_impulses])
    velocities, status = scene.after(impulses), "not_converged"
    for count in range(1, iterations + 1):
        alpha = scene.normal_forces(impulses)
        found = scene.problem(alpha).solve(warm_start=impulses)
        impulses = np.concatenate([found.impulses.ravel(), found.row_impulses])
        before, velocities = velocities, scene.after(impulses)
        if count > 1 and np.abs(velocities - before).max(initial=0.0) <= tolerance:
            status = found.status
            break
    torques = scene.joint_impulses(impulses)
    by_joint = {s.joint: torques[model.v_slice[i]] for i, s in scene.surfaces.items()}
    return JointFrictionStep(velocities, by_joint, alpha, found, status, count)


def _surfaces(model, surfaces) -> dict[int, JointSurface]:
    given = (surfaces,) if isinstance(surfaces, JointSurface) else surfaces
    given = tuple(given) if hasattr(given, "__iter__") else (given,)
    if not all(isinstance(s, JointSurface) for s in given):
        refuse("joint_friction_step: surfaces", surfaces, "kt.contact.JointSurface objects")
    found = {model.joint(s.joint): s for s in given}
    if len(found) < len(given) or not found:
        refuse("joint_friction_step: surfaces", surfaces, "one surface for each of some joints")
    names = {s.joint for s in given}
    for c in model.constraints:
        if isinstance(c, StickingFriction) and names & {*(c.of or names)}:
            raise UnsupportedError(f"joint_friction_step: {c} acts on joints with surfaces; leave one of them out.")
    return found


class _Scene:
    """A step at one state: rows in the order contacts, bounded rows of the model, surfaces."""

    def __init__(self, model, q, v, tau, dt, surfaces) -> None:
        self.model, self.dt, self.surfaces = model, dt, surfaces
        self.q, self.v, self.tau = (
            array(f"joint_friction_step: {name}", x, shape=(size,))
            for name, x, size in (("q", q, model.nq), ("v", v, model.nv), ("tau", tau, model.nv))
        )
        names = [s.joint for s in surfaces.values()]
        load = StickingFriction.replaces  # one that is present gives each velocity of the joints a row
        sticking = model.replace(**{load: dict.fromkeys(names, 1.0)}).with_constraints(StickingFriction(of=names))
        equalities = tuple(c for c in model.constraints if c.row_kind != "box")
        self.plain = model.replace(**{load: dict.fromkeys(names, 0.0)}, contacts=(), constraints=equalities)
        self.terms = public_call("contact_terms")(sticking, self.q, self.v, self.tau, dt)
        unit = [k for i in sorted(surfaces) for k in range(*model.v_slice[i].indices(model.nv))]
        first = len(self.terms.rates) - len(unit)  # sticking friction comes last
        chosen, shifts, self.bounds = bounded_parts(self.terms.laws[3 * model.n_contacts : first], 3 * model.n_contacts)
        at = np.concatenate([np.arange(3 * model.n_contacts), chosen]).astype(int)
        self.C, self.limits, self.N = self._friction_rows(unit)
        units = slice(first, None)
        self.W = np.concatenate([self.terms.rows[at], self.C @ self.terms.rows[units]])
        self.responses = np.concatenate([self.terms.responses[at], self.C @ self.terms.responses[units]])
        self.rates = np.concatenate([self.terms.rates[at], self.C @ self.terms.rates[units]])
        self.rates[3 * model.n_contacts : len(at)] -= shifts
        self.labels = (*model.contact_labels, *(f"bounded row {k}" for k in chosen))
        self.chosen, self.unit = np.array(chosen, int), unit

    def _friction_rows(self, unit):
        """Rows of the surfaces over their joints' velocities; how bounds follow from alpha; normals by joint."""
        rows, limits, normals = [], [], {}
        for i in sorted(self.surfaces):
            surface, joint = self.surfaces[i], self.model.joints[i]
            S = np.array([[*s] for s in joint.motion_subspace(self.q[self.model.q_slice[i]].tolist())]).T
            N, T = surface.contacts(S)
            columns = [unit.index(k) for k in range(*self.model.v_slice[i].indices(self.model.nv))]
            slip = T @ S  # (points, 2, nv of the joint)
            normals[i] = np.linalg.pinv(N.T)
            if S.shape[1] == 1:
                row = np.zeros(len(unit))
                row[columns] = 1.0
                rows.append(row[None])
                limits.append((i, np.linalg.norm(slip[:, :, 0], axis=1)[None]))
            else:
                block = np.zeros((2 * len(N), len(unit)))
                block[:, columns] = slip.reshape(-1, S.shape[1])
                rows.append(block)
                limits.append((i, np.repeat(np.eye(len(N)), 2, axis=0)))
        return np.concatenate(rows), limits, normals

    def after(self, impulses) -> np.ndarray:
        """Joint velocities at the end of the step."""
        return self.terms.velocities + impulses @ self.responses

    def joint_impulses(self, impulses) -> np.ndarray:
        """Those of friction along all joint velocities."""
        found = np.zeros(self.model.nv)
        found[self.unit] = impulses[len(self.W) - len(self.C) :] @ self.C
        return found

    def normal_forces(self, impulses) -> dict[str, np.ndarray]:
        """alpha of each joint: the reactions under the mean forces of the step."""
        model, dt = self.plain, self.dt
        n = 3 * self.model.n_contacts
        tau = self.tau + self.joint_impulses(impulses) / dt
        inner = impulses[n : n + len(self.chosen)]
        if inner.size:  # limits push along their joints' velocities
            for k, impulse in zip(self.chosen, inner, strict=True):
                tau = tau + impulse / dt * self._coordinate(k)
        f_ext = self._contact_wrenches(impulses[:n].reshape(-1, 3) / dt)
        a = public_call("forward_dynamics")(model, self.q, self.v, tau, f_ext=f_ext, multipliers=bool(model.nc))
        if model.nc:
            a, multipliers = a
            f_ext = f_ext + self._loop_wrenches(multipliers)
        F = public_call("joint_wrenches")(model, self.q, self.v, a, f_ext=f_ext, reference="local")
        return {self.surfaces[i].joint: pinv @ F[i] for i, pinv in self.N.items()}

    def _coordinate(self, k: int) -> np.ndarray:
        """The velocity that a bounded row of the model acts on, as a unit of joint forces."""
        boxes = [c for c in self.model.constraints if c.row_kind == "box"]
        coordinates = [m for c in boxes for m in c.coordinates(self.model)]
        return np.eye(self.model.nv)[coordinates[k - 3 * self.model.n_contacts]]

    def _contact_wrenches(self, forces) -> np.ndarray:
        """Of contact forces on all bodies, world coordinates."""
        f_ext = np.zeros((self.model.nb, 6))
        if not len(forces):
            return f_ext
        positions, normals, _ = public_call("contact_points")(self.model, self.q)
        frames = [pair.frames for pair in self.model.contacts for _ in range(pair.count)]
        for p, n, force, (first, second) in zip(positions, normals, forces, frames, strict=True):
            f = axes_of(n) @ force
            wrench = np.concatenate([np.cross(p, f), f])
            f_ext[self.model.frame(second).body] += wrench
            f_ext[self.model.frame(first).body] -= wrench
        f_ext[0] = 0.0
        return f_ext

    def _loop_wrenches(self, multipliers) -> np.ndarray:
        model, f_ext = self.plain, np.zeros((self.model.nb, 6))
        F = public_call("closed_loops_wrenches")(model, self.q, multipliers, reference="world")
        for (_, loop), wrench in zip(model.loop_joints(), F, strict=True):
            f_ext[model.frame(loop.successor).body] += wrench
            f_ext[model.frame(loop.predecessor).body] -= wrench
        f_ext[0] = 0.0
        return f_ext

    def problem(self, alpha) -> ContactProblem:
        """The problem of contacts and friction for these normal forces."""
        most = [
            self.dt * self.surfaces[i].friction * (share @ np.abs(alpha[self.surfaces[i].joint]))
            for i, share in self.limits
        ]
        most = np.concatenate(most)
        terms, pairs = self.terms, self.model.contacts
        return ContactProblem(
            self.W @ self.W.T, self.rates, np.array([p.friction for p in pairs for _ in range(p.count)], float), 0.0,
            terms.compliance, (*self.labels, *(f"friction {k}" for k in range(len(most)))), bias=-terms.targets,
            bounds=np.concatenate([self.bounds, np.column_stack([-most, most])]),
        )  # fmt: skip


def axes_of(normal: np.ndarray) -> np.ndarray:
    """The contact axes (t1, t2, n) as columns."""
    from kinetree.collision.axes import contact_axes
    from kinetree.spatial import Vector3

    return np.array([[*axis] for axis in contact_axes(Vector3(*normal.tolist()))]).T
