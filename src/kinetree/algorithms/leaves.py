"""Leaves of the laws of force elements: inputs of a separate trace, in which a law is differentiated.

`Leaves` stands in for `Kinematics` there; the inputs that the law uses are its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.errors import ModelError
from kinetree.spatial import Matrix3, Vector3
from kinetree.state_kinematics import ORIGIN, Kinematics
from kinetree.trace.differentiate import adjoints
from kinetree.trace.evaluate import evaluate
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph

POSITIONS = ("point", "rotation", "coordinate")
TRIALS, BALANCED = 8, 1e-9  # states of random leaves in which a scalar is found to be relative, and the tolerance
OF_JOINTS = ("coordinate", "rate", "coordinate_rate")


class Leaf:
    """A leaf of a law: its inputs in the law's trace, and its values and motions in the state.

    ``size`` scalars; ``value(kin)`` gives them, ``columns(kin)`` their rates under a unit of each velocity coordinate,
    ``push(kin, force, wrenches, tau)`` enters the forces along them.
    """

    def __init__(self, name: str, target: str, at: Sequence, traced_at: Sequence, symbols: Sequence[Expr]) -> None:
        self.name, self.target, self.at, self.traced_at, self.symbols = name, target, at, traced_at, symbols

    def value(self, kin: Kinematics) -> list:
        """The scalars in the state."""
        given = {"point": [self.at], "velocity": [self.at]}
        found = getattr(kin, self.name)(self.target, *(self.at if self.name in OF_JOINTS else given.get(self.name, ())))
        if self.name == "rotation":
            return [x for row in found.rows for x in row]
        return list(found) if isinstance(found, Vector3) else [found]

    def columns(self, kin: Kinematics) -> dict[int, list]:
        """Velocity coordinate -> rates of the scalars under a unit of it; rates of velocities are those of v."""
        model = kin.model
        if self.name in OF_JOINTS:
            return {k: [x] for k, x in self._row(kin).items()}
        body, found = kin.body(self.target), {}
        for i in model.support(body) if body else ():
            for k, S in zip(kin.dofs_of(i), kin.columns[i], strict=True):
                found[k] = self._rates(kin, kin.in_space(S))
        return found

    def _row(self, kin: Kinematics) -> dict:
        return (kin.row if self.name == "rate" else kin.coordinate_row)(self.target, *self.at)

    def _rates(self, kin: Kinematics, S) -> list:
        if self.name == "angular_velocity":
            return list(S.angular)
        if self.name == "rotation":
            turned = [S.angular.cross(column) for column in _columns(kin.rotation(self.target))]
            return [turned[c][r] for r in range(3) for c in range(3)]
        return list(S.linear + S.angular.cross(kin.point(self.target, self.at)))

    def rates(self, kin: Kinematics) -> list:
        """Rates of the scalars in the state; of velocities those of constant velocity coordinates' unit: themselves."""
        if self.name in OF_JOINTS:
            return [sum((x * kin.v[k] for k, x in self._row(kin).items()), start=0.0)]
        if self.name == "angular_velocity":
            return list(kin.angular_velocity(self.target))
        if self.name == "rotation":
            w = kin.angular_velocity(self.target)
            turned = [w.cross(column) for column in _columns(kin.rotation(self.target))]
            return [turned[c][r] for r in range(3) for c in range(3)]
        return list(kin.velocity(self.target, self.at))

    def push(self, kin: Kinematics, force: Sequence, wrenches: list, tau: list) -> None:
        """Enter forces along the scalars: wrenches of bodies about the world's origin, or a joint force."""
        if self.name in OF_JOINTS:
            for k, x in self._row(kin).items():
                tau[k] = tau[k] + force[0] * x
            return
        zero = Vector3.zero()
        if self.name == "angular_velocity":
            wrench = kin.wrench(Vector3(*force), zero)
        elif self.name == "rotation":
            moment = zero
            for c, column in enumerate(_columns(kin.rotation(self.target))):
                moment = moment + column.cross(Vector3(*force[c::3]))
            wrench = kin.wrench(moment, zero)
        else:
            f = Vector3(*force)
            wrench = kin.wrench(kin.point(self.target, self.at).cross(f), f)
        body = kin.body(self.target)
        wrenches[body] = wrenches[body] + wrench


def scalars(leaves: Sequence[Leaf]) -> list[int]:
    """The inputs of leaves, one leaf after the other."""
    return [x.id for leaf in leaves for x in leaf.symbols]


def paired(leaves: Sequence[Leaf], nodes: Sequence[int]) -> list[tuple[Leaf, list[int]]]:
    """Leaves with their share of nodes, one for each of `scalars`."""
    source = iter(nodes)
    return [(leaf, [next(source) for _ in leaf.symbols]) for leaf in leaves]


def _some_values(leaf: Leaf, rng) -> list:
    """Random values of a leaf, several of each scalar; rotations are proper."""
    if leaf.name != "rotation":
        return [rng.standard_normal(TRIALS) for _ in leaf.symbols]
    a, b = (x / np.linalg.norm(x, axis=0) for x in rng.standard_normal((2, 3, TRIALS)))
    c = np.cross(a, b, axis=0)
    c /= np.linalg.norm(c, axis=0)
    return list(np.stack([a, np.cross(c, a, axis=0), c], axis=1).reshape(9, TRIALS))


def _columns(R: Matrix3) -> list[Vector3]:
    return [Vector3(*(R.rows[r][c] for r in range(3))) for c in range(3)]


class Leaves:
    """The kinematics for a law: every result is an input of the law's trace.

    Parameters
    ----------
    graph : Graph
    element : ForceElement
        Whose names are available.
    numbers : sequence of scalars
        The element's numbers, internal states and inputs in the state's scalars, whose params are inputs of the trace.
    """

    def __init__(self, graph: Graph, element, numbers: Sequence) -> None:
        self._graph, self._element, self._numbers = graph, element, numbers
        self.found: list[Leaf] = []
        self._known: dict[tuple, Leaf] = {}
        self._relative: dict[tuple, bool] = {}

    def outer(self, ids: Sequence[int], kin: Kinematics | None) -> list:
        """Nodes of the law's trace in the scalars of the state."""

        def leaf(op, args):
            if op == "param":
                return self._numbers[args[0]]
            key = args[0]
            if key not in values:
                values[key] = self.found[key].value(kin)
            return values[key][args[1]]

        values: dict[int, list] = {}
        return evaluate(self._graph, ids, leaf)

    def is_relative(self, row) -> bool:
        """Whether a scalar, given by its derivatives with respect to positions, is the same in all poses of the whole.

        So are lengths between points and relative rotations. Decided by numbers: the derivatives have no resultant.
        """
        key = tuple(k for _, ids in row for k in ids)
        if key not in self._relative:
            self._relative[key] = all(leaf.name in ("point", "rotation") for leaf, _ in row) and self._balanced(row)
        return self._relative[key]

    def _balanced(self, row) -> bool:
        rng = np.random.default_rng(0)
        values = {leaf: _some_values(leaf, rng) for leaf in self.found}
        numbers = rng.uniform(0.1, 1.0, len(self._numbers))

        def value(op, args):
            return numbers[args[0]] if op == "param" else values[self.found[args[0]]][args[1]]

        with np.errstate(all="ignore"):
            weights = iter(evaluate(self._graph, [k for _, ids in row for k in ids], value))
        force, moment = np.zeros((2, 3, TRIALS))
        for leaf, ids in row:
            w = np.array([np.broadcast_to(next(weights), TRIALS) for _ in ids]).reshape(3, -1, TRIALS)
            force += w[:, 0] if leaf.name == "point" else 0.0
            moment += np.cross(np.array(values[leaf]).reshape(w.shape), w, axis=0).sum(axis=1)
        return bool(np.all(np.abs([force, moment]) < BALANCED))

    def _leaf(self, name: str, target: str, at: Sequence = ORIGIN) -> Sequence[Expr]:
        known = self._element.joints if name in OF_JOINTS else self._element.frames
        if target not in known:
            raise ModelError(
                f"force element {self._element.name!r} uses the {name} of {target!r}, which is none of the joints "
                f"and frames that it names: {', '.join(known) or 'none'}. Name its fields in joint_fields or "
                "frame_fields of the class, so that they are checked, and renamed with the model.",
                element=self._element.name,
            )
        numbered = name in OF_JOINTS
        ids = tuple(at) if numbered else tuple(x.id if isinstance(x, Expr) else self._graph.const(x) for x in at)
        key = (name, target, ids)
        if key not in self._known:
            size = 1 if numbered else {"rotation": 9}.get(name, 3)
            symbols = [self._graph.input(len(self.found), c) for c in range(size)]
            self._known[key] = Leaf(name, target, ids if numbered else self.outer(ids, None), at, symbols)
            self.found.append(self._known[key])
        return self._known[key].symbols

    def point(self, frame: str, at: Sequence = ORIGIN) -> Vector3:
        """Position of a point given in a frame [m]."""
        return Vector3(*self._leaf("point", frame, at))

    def velocity(self, frame: str, at: Sequence = ORIGIN) -> Vector3:
        """Velocity of a point given in a frame [m/s]."""
        return Vector3(*self._leaf("velocity", frame, at))

    def seen_from(self, frame: str) -> Leaves:
        """Points and rotations that a law needs relative to a frame, in any axes: here those of the world."""
        return self

    def rotation(self, frame: str) -> Matrix3:
        """Orientation of a frame, R_WF [1]."""
        x = self._leaf("rotation", frame)
        return Matrix3((x[0:3], x[3:6], x[6:9]))

    def angular_velocity(self, frame: str) -> Vector3:
        """Of a frame [rad/s]."""
        return Vector3(*self._leaf("angular_velocity", frame))

    def coordinate(self, joint: str, n: int | None = None):
        """The n-th position of a joint, or that of one with a single one [rad or m]."""
        return self._leaf("coordinate", joint, (n,))[0]

    def rate(self, joint: str, n: int | None = None):
        """The n-th velocity of a joint, or that of one with a single one [rad/s or m/s]."""
        return self._leaf("rate", joint, (n,))[0]

    def time_derivative(self, value):
        """Rate of a scalar over positions."""
        if not isinstance(value, Expr):
            return 0.0
        rate = self._graph.constant(0.0)
        for leaf, slopes in self.gradient(value):
            for k, x_dot in zip(slopes, self.rate_of(leaf), strict=True):
                rate = rate + Expr(self._graph, k) * x_dot
        return rate

    @property
    def velocities(self) -> list[Leaf]:
        """The velocity leaves found so far."""
        return [leaf for leaf in self.found if leaf.name not in POSITIONS]

    def gradient(self, value) -> list[tuple[Leaf, list[int]]]:
        """The position leaves found so far, and the nodes of a scalar's derivatives with respect to them."""
        leaves = [leaf for leaf in self.found if leaf.name in POSITIONS]
        return paired(leaves, adjoints(self._graph, {value.id: self._graph.ONE}, scalars(leaves)))

    def rate_of(self, leaf: Leaf) -> list:
        """Rates of the scalars of a position leaf, over the inputs of the trace."""
        if leaf.name == "point":
            return list(self.velocity(leaf.target, leaf.traced_at))
        if leaf.name == "coordinate":
            return list(self._leaf("rate" if leaf.at == (None,) else "coordinate_rate", leaf.target, leaf.at))
        w, x = self.angular_velocity(leaf.target), leaf.symbols
        turned = [w.cross(Vector3(*x[c::3])) for c in range(3)]
        return [turned[c][r] for r in range(3) for c in range(3)]
