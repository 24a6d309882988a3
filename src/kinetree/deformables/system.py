"""Deformable bodies and an articulated model as one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, an_instance, array, choice, instance, several
from kinetree.deformables.attachment import AttachedPoints, Attachment
from kinetree.deformables.body import Deformable
from kinetree.deformables.node_matrix import SOLVERS, NodeMatrix
from kinetree.deformables.nodes import Nodes
from kinetree.deformables.rigid import INTERNAL, Frames, Load, Rigid
from kinetree.errors import DuplicateNameError, ModelError, NonFiniteError, SimulationError, unknown_name
from kinetree.integrators.coordinates import Coordinates
from kinetree.simulation.initial import joined_state
from kinetree.simulation.limits import with_soft_stops

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(slots=True)
class State:
    """A state of a coupled system: q, v of the model; positions x and velocities u of all nodes (n, 3).

    z are the internal states of the model's force elements, None if it has none.
    """

    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    u: np.ndarray
    z: np.ndarray | None = None


class CoupledSystem:
    """The data of a scene, its states and its energies; see `Coupled`."""

    def __init__(
        self,
        model,
        bodies: Deformable | Sequence[Deformable],
        attachments: Sequence[Attachment] = (),
        *,
        q=None,
        gravity=None,
        solver: str = "direct",
    ) -> None:
        if model is not None:
            a_model("Coupled: model", model)
        bodies = (bodies,) if isinstance(bodies, Deformable) else bodies
        attachments = (attachments,) if isinstance(attachments, Attachment) else attachments
        several(an_instance(Deformable))("Coupled: bodies", bodies)
        several(an_instance(Attachment))("Coupled: attachments", attachments)
        bodies, attachments = tuple(bodies), tuple(attachments)
        choice("Coupled: solver", solver, SOLVERS)
        self.model, self.bodies, self.attachments, self.notes = model, bodies, attachments, ()
        self._check_names()
        g = self._gravity(gravity)
        q = self._position("Coupled: q", q)
        if model is not None:
            self.model, notes = with_soft_stops(model, q)
            self.notes = tuple(notes)
        self.rigid, self.points = None, AttachedPoints((), np.zeros((0, 3)))
        self.starts = np.concatenate(([0], np.cumsum([len(body.nodes) for body in bodies]))).astype(int)
        attached, fixed = self._attach(q)
        self.elements = Nodes(bodies, attached, fixed, g)
        self.matrix = NodeMatrix(self.elements, solver)

    def __repr__(self) -> str:
        model = "no model" if self.model is None else f"model {self.model.name!r}"
        names = ", ".join(repr(body.name) for body in self.bodies)
        return f"<Coupled: {model}, deformables {names}, {len(self.elements)} nodes, {len(self.points)} attached>"

    # Construction ----------------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        names = [body.name for body in self.bodies]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise DuplicateNameError(f"Coupled: two deformables are named {min(twice)!r}; set name= of one of them.")
        if not names:
            raise ModelError("Coupled: bodies is empty, expected at least one Deformable.")

    def _gravity(self, gravity) -> np.ndarray:
        if gravity is not None and self.model is not None:
            raise ModelError("Coupled: gravity is that of the model; give gravity= only where model is None.")
        if self.model is not None:
            return np.array([float(x) for x in self.model.gravity])
        return array("Coupled: gravity", GRAVITY if gravity is None else gravity, "[m/s^2]", shape=(3,))

    def _position(self, what: str, q) -> np.ndarray:
        if self.model is None:
            if q is not None and np.size(q):
                raise ModelError(f"{what} is given, but there is no model.")
            return np.zeros(0)
        return self.model.neutral() if q is None else array(what, q, "positions of the joints", shape=(self.model.nq,))

    def _attach(self, q) -> tuple[list[int], list[int]]:
        """Nodes on frames, and nodes that are fixed, in the numbering of all; makes the points and the functions."""
        fixed = [int(s) + k for s, body in zip(self.starts, self.bodies, strict=False) for k in body.fixed]
        owners: dict[int, str] = dict.fromkeys(fixed, "the world, in which it is fixed")
        frames, found = [], []  # of each attached node: number, frame, position in it or None
        for each in self.attachments:
            body, start = self._body(each)
            nodes = self._checked(each, body)
            if each.frame not in frames:
                frames.append(each.frame)
            for n, node in enumerate(nodes):
                k = start + node
                if k in owners:
                    twice = f"attached to {each.frame!r} and to {owners[k]}"
                    message = f"Coupled: node {node} of {body.name!r} is {twice}, expected one of them."
                    raise ModelError(message, node=node)
                owners[k] = repr(each.frame)
                at = None if each.at is None else each.at[n if len(each.at) > 1 else 0]
                found.append((k, frames.index(each.frame), at))
        if self.model is not None:
            self.rigid = Rigid(self.model, frames)
            R, p = self.rigid.poses(q)
            rest = np.concatenate([body.nodes for body in self.bodies])
            places = [R[f].T @ (rest[k] - p[f]) if at is None else at for k, f, at in found]
            self.points = AttachedPoints([f for _, f, _ in found], np.array(places).reshape(-1, 3))
        return [k for k, _, _ in found], fixed

    def _checked(self, attachment: Attachment, body: Deformable) -> tuple[int, ...]:
        """The numbers of the nodes of an attachment in its body."""
        frame, at = attachment.frame, attachment.at
        if self.model is None:
            message = f"Coupled: an attachment to frame {frame!r}, but there is no model"
            raise ModelError(f"{message}. Nodes are fixed in the world by fixed=.")
        names = [each.name for each in self.model.frames]
        if frame not in names:
            raise unknown_name("frame", frame, names, f"model {self.model.name!r}")
        nodes = body.numbers(f"an attachment to {frame!r}", attachment.nodes)
        if at is not None and len(at) != len(nodes):
            found = f"{len(at)} positions for {len(nodes)} nodes"
            raise ModelError(f"Coupled: the attachment to {frame!r} has {found}, expected one for each.")
        return nodes

    def _body(self, attachment: Attachment) -> tuple[Deformable, int]:
        """The body of an attachment, and the number of its first node."""
        names = [body.name for body in self.bodies]
        if attachment.body is None and len(names) > 1:
            raise ModelError(
                f"Coupled: an attachment to {attachment.frame!r} names no body, and there are several: give body= one "
                f"of {', '.join(map(repr, names))}."
            )
        name = names[0] if attachment.body is None else attachment.body
        if name not in names:
            raise unknown_name("deformable", name, names, "this Coupled")
        k = names.index(name)
        return self.bodies[k], int(self.starts[k])

    # States ----------------------------------------------------------------------------------------------------------

    def state(self, q=None, v=None, nodes=None, velocities=None, x0=None) -> State:
        """A state with the attached nodes where their frames are.

        Parameters
        ----------
        q : (nq,) array_like, optional
            Positions of the joints [rad or m]; default: the neutral position.
        v : (nv,) array_like, optional
            [rad/s or m/s]; default: zero.
        nodes : (n, 3) array_like, optional
            Positions of all nodes, body after body [m]; default: at rest. Those of attached nodes do not count,
            fixed ones stay there.
        velocities : (n, 3) array_like, optional
            [m/s]; default: zero. Those of attached and fixed nodes do not count.
        x0 : (nx,) array_like, optional
            Internal states of force elements [as the elements define them]; default: as they define them.

        Returns
        -------
        State
        """
        q = self._position("state: q", q)
        nv, n = 0 if self.model is None else self.model.nv, len(self.elements)
        v = np.zeros(nv) if v is None else array("state: v", v, "velocities of the joints", shape=(nv,))
        x = self.elements.rest if nodes is None else array("state: nodes", nodes, "positions [m]", shape=(n, 3))
        u = np.zeros((n, 3)) if velocities is None else array("state: velocities", velocities, "[m/s]", shape=(n, 3))
        self._check_finite(q, v, x, u)
        x, u = x.copy(), u.copy()
        u[self.elements.fixed] = 0.0
        if self.model is None and x0 is not None:
            raise SimulationError("state: x0 is given, but there is no model.")
        z = None if self.model is None else joined_state(self.model, v, x0)[nv:]
        z = None if z is None or not len(z) else z
        return self.placed(State(q, v, x, u, z))

    def _check_finite(self, q, v, x, u) -> None:
        """Refuse a start that is not finite, by the name of the joint or the number of the node."""
        bad = None if self.model is None else Coordinates.of(self.model).first_bad(q, v)
        for what, rows in (("position", x), ("velocity", u)):
            if bad is None and not np.isfinite(rows).all():
                bad = f"{what} of node {np.flatnonzero(~np.isfinite(rows).all(axis=1))[0]}"
        if bad is not None:
            raise NonFiniteError(f"the state at the start must be finite, and the {bad} is not.", name=bad)

    def placed(self, state: State, frames: Frames | None = None) -> State:
        """The state with positions and velocities of attached nodes from those of the model, in place."""
        if len(self.points):
            frames = self.rigid.kinematics(state.q) if frames is None else frames
            attached = self.elements.attached
            state.x[attached] = self.points.positions(frames.R, frames.p)
            state.u[attached] = self.points.jacobian(frames.R, frames.J) @ state.v
        return state

    def ahead(self, load: Load, state: State, h: float) -> Load:
        """The inputs of a step of h seconds from a state, with the model's internal states at its end."""
        if load.z is None:
            return load
        return load._replace(z=self.rigid.function(INTERNAL)(state.q, state.v, np.array(h), *load.of_elements))

    def attachment_jacobian(self, q, v=None) -> tuple[np.ndarray, np.ndarray]:
        """``J_am J_mr`` of the attached nodes, and ``d(J_am J_mr)/dt v``.

        Parameters
        ----------
        q : (nq,) array_like
            [rad or m]
        v : (nv,) array_like, optional
            [rad/s or m/s]; default: zero.

        Returns
        -------
        jacobian : (na, 3, nv) array
            Velocities of the attached nodes per joint velocity, world axes [m/rad or 1].
        bias : (na, 3) array
            Their accelerations without those of the joints [m/s^2].

        Notes
        -----
        Source: Sueda, eq. 2.87-2.89.
        """
        state = self.state(q, v)
        if self.rigid is None:
            return np.zeros((0, 3, 0)), np.zeros((0, 3))
        frames = self.rigid.kinematics(state.q)
        return self.points.jacobian(frames.R, frames.J), self.bias(state, frames)

    def bias(self, state: State, frames: Frames) -> np.ndarray:
        """Accelerations of attached nodes without those of the joints (na, 3)."""
        twists = frames.J @ state.v
        return self.points.bias(frames.R, twists, self.rigid.rates(state.q, state.v))

    # Energies --------------------------------------------------------------------------------------------------------

    def energies(self, state: State) -> dict[str, float]:
        """Kinetic, gravitational and elastic energy of the model and of all nodes [J].

        Parameters
        ----------
        state : State

        Returns
        -------
        dict of str to float
        """
        instance("energies: state", state, State, "a State, as Coupled.state gives it")
        e, f = self.elements, None if self.rigid is None else self.rigid.system.energies(state.q, state.v)
        rigid = (0.0, 0.0, 0.0) if f is None else map(float, f.values())
        nodes = (
            0.5 * float(e.masses @ np.einsum("ni,ni->n", state.u, state.u)),
            -float(np.sum(e.weight * state.x)),
            e.elastic_energy(state.x),
        )
        names = ("kinetic", "gravitational", "elastic")
        return {name: a + b for name, a, b in zip(names, rigid, nodes, strict=True)}
