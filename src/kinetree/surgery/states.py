"""The states of a model as those of a model that surgery made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from kinetree.arguments import a_mapping, a_model, checked
from kinetree.errors import ModelError, ShapeError, UnknownNameError, UnsupportedError
from kinetree.joints import Free, Joint
from kinetree.joints.position_search import CLOSE, nearest_velocity, position_at
from kinetree.joints.reversed import reversed_joint
from kinetree.model import Keyframe, LoopJoint, Model
from kinetree.model.loop_joints import named_loops
from kinetree.model.parts import numeric
from kinetree.spatial import Transform
from kinetree.spatial.rotations import quaternion_from_rotation
from kinetree.spatial.vectors import assemble
from kinetree.state_kinematics import Kinematics, body_twists, world_transforms
from kinetree.surgery.position import joint_position


class StateMap:
    """Takes positions, velocities and joint forces of one model to another that shares joints and frames with it.

    Parameters
    ----------
    source, target : Model
        Joints are paired by name. The pose and twist of a body that only the target lets float are those of the
        source's frame of that name; so are those of a floating base that is not that of the source. A joint that is a
        loop joint of the source has the position that the two bodies give it, so the loop must be closed.
    rest : mapping, optional
        Positions of joints that only the target has, by name [rad or m]; they are at rest there.

    Raises
    ------
    ModelError
        If the target has a joint whose position neither a joint, nor a frame of the source, nor ``rest`` gives; when
        a state is mapped, if a loop of the source is open whose joint the target has in its tree.

    Notes
    -----
    ``StateMap(target, source)`` is the inverse. Velocities are mapped by ``v' = G(q) v``; forces so that they have the
    same power in all motions that both models can do, and are zero at joints that only the target has.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> robot = kt.load("humanoid", floating_base=True)
    >>> standing = kt.surgery.reroot(robot, "left_foot")
    >>> states = StateMap(robot, standing)
    >>> q, v = robot.random_state(np.random.default_rng(0))
    >>> bool(np.isclose(kt.kinetic_energy(robot, q, v), kt.kinetic_energy(standing, states.q(q), states.v(q, v))))
    True
    """

    __slots__ = ("source", "target", "_copies", "_floats", "_loops", "_rest", "_identical")

    @checked(source=a_model, target=a_model, rest=a_mapping)
    def __init__(self, source: Model, target: Model, *, rest: Mapping[str, object] | None = None) -> None:
        rest = dict(rest or {})
        self.source, self.target = source, target
        self._copies: list[tuple[int, int]] = []  # (joint of the target, joint of the source)
        self._floats: list[tuple[int, int]] = []  # (free joint of the target, frame of the source)
        self._loops: list[tuple[int, LoopJoint]] = []  # (joint of the target, loop joint of the source)
        self._rest: list[tuple[int, list[float]]] = []
        loops = named_loops(source)
        for name in rest:
            target.joint(name)
        for i in target.outward():
            name, joint = target.joint_name(i), target.joints[i]
            partner = source._joint_numbers.get(name)
            if joint.nq == joint.nv == 0:
                continue
            if name in rest:
                self._rest.append((i, joint_position(target, name, rest[name])))
            elif isinstance(joint, Free) and target.parent[i] == 0 and not _same_root(source, partner, target, i):
                self._floats.append((i, self._frame_of(i)))
            elif partner is not None:
                found = source.joints[partner]
                if (found.nq, found.nv) != (joint.nq, joint.nv):
                    raise ModelError(f"joint {name!r} is {found!r} in {source.name!r} and {joint!r} in "
                                     f"{target.name!r}; give its position in rest=", joint=name)  # fmt: skip
                self._copies.append((i, partner))
            elif name in loops and joint in (loops[name].joint, reversed_joint(loops[name].joint)):
                self._loops.append((i, loops[name]))
            else:
                raise ModelError(f"model {source.name!r} has no joint {name!r}, so its position in {target.name!r} is "
                                 f"not known; give rest={{{name!r}: ...}}", joint=name)  # fmt: skip
        # The joints that both have: forces have their power in the motions of these.
        both = [(i, source._joint_numbers.get(target.joint_name(i))) for i, *_ in (*self._copies, *self._floats)]
        both = [(i, j) for i, j in both if j is not None and source.joints[j].nv == target.joints[i].nv]
        self._identical = tuple(
            np.array([k for i in pair for k in range(model.v_slice[i].start, model.v_slice[i].stop)], dtype=int)
            for model, pair in ((target, [i for i, _ in both]), (source, [j for _, j in both]))
        )

    def q(self, q):
        """Positions of the target.

        Parameters
        ----------
        q : (..., nq) array
            Positions of the source [rad or m].

        Returns
        -------
        (..., nq) array
            [rad or m].
        """
        q = _sized("q", q, self.source.nq)
        out = np.zeros((*q.shape[:-1], self.target.nq))
        for i, j in self._copies:
            out[..., self.target.q_slice[i]] = q[..., self.source.q_slice[j]]
        for i, position in self._rest:
            out[..., self.target.q_slice[i]] = position
        if self._floats:
            X_0 = world_transforms(self.source, _scalars(q))
            for i, frame in self._floats:
                body = self.source.frames[frame].body
                # X_F0 = X_FB X_B0 is the same on both sides, and X_B0 = X_J X_T on the target's.
                X_J = self._to_body(i, frame) @ X_0[body] @ self.target.X_T[i].inverse()
                out[..., self.target.q_slice[i]] = assemble([*X_J.r, *quaternion_from_rotation(X_J.E)])
        if self._loops:
            for index in np.ndindex(q.shape[:-1]):
                kin = Kinematics(self.source, q[index].tolist())
                for i, loop in self._loops:
                    X = kin.relative(loop.predecessor, loop.successor, loop.X_P, loop.X_S).X
                    what = f"loop joint {loop.name!r} of {self.source.name!r}"
                    out[(*index, self.target.q_slice[i])] = joint_coordinates(loop.joint, X, what)
        return out

    def v(self, q, v):
        """Velocities of the target.

        Parameters
        ----------
        q : (..., nq) array
            Positions of the source [rad or m].
        v : (..., nv) array
            Velocities of the source [rad/s or m/s].

        Returns
        -------
        (..., nv) array
            [rad/s or m/s].
        """
        q, v = _sized("q", q, self.source.nq), _sized("v", v, self.source.nv)
        out = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), self.target.nv))
        for i, j in self._copies:
            out[..., self.target.v_slice[i]] = v[..., self.source.v_slice[j]]
        if self._floats:
            _, V = body_twists(self.source, _scalars(q), _scalars(v))
            for i, frame in self._floats:
                twist = self._to_body(i, frame) @ V[self.source.frames[frame].body]
                out[..., self.target.v_slice[i]] = assemble(list(twist))
        if self._loops:
            batch = out.shape[:-1]
            each_q, each_v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
            for index in np.ndindex(batch):
                kin = Kinematics(self.source, each_q[index].tolist(), each_v[index].tolist())
                for i, loop in self._loops:
                    motion = kin.relative(loop.predecessor, loop.successor, loop.X_P, loop.X_S)
                    position = joint_coordinates(loop.joint, motion.X, f"loop joint {loop.name!r}")
                    out[(*index, self.target.v_slice[i])] = nearest_velocity(loop.joint, position, motion.velocity)
        return out

    def velocity_matrix(self, q):
        """G with v' = G v.

        Parameters
        ----------
        q : (..., nq) array
            Positions of the source [rad or m].

        Returns
        -------
        (..., nv', nv) array
            [1, m or 1/m].
        """
        q = _sized("q", q, self.source.nq)
        return np.stack([self.v(q, unit) for unit in np.eye(self.source.nv)], axis=-1)

    def tau(self, q, tau):
        """Joint forces of the target.

        Parameters
        ----------
        q : (..., nq) array
            Positions of the source [rad or m].
        tau : (..., nv) array
            Joint forces of the source [N m or N].

        Returns
        -------
        (..., nv) array
            [N m or N]; with the same power in every motion of the joints that both have.
        """
        q, tau = _sized("q", q, self.source.nq), _sized("tau", tau, self.source.nv)
        out = np.zeros((*np.broadcast_shapes(q.shape[:-1], tau.shape[:-1]), self.target.nv))
        here, there = self._identical
        if self._floats:
            G = self.velocity_matrix(q)[..., here[:, None], there]
            out[..., here] = np.linalg.solve(np.swapaxes(G, -1, -2), tau[..., there, None])[..., 0]
        else:
            out[..., here] = tau[..., there]
        return out

    def __repr__(self) -> str:
        return f"<StateMap {self.source.name!r} (nv={self.source.nv}) to {self.target.name!r} (nv={self.target.nv})>"

    def _frame_of(self, i: int) -> int:
        name = self.target.body_names[i]
        try:
            return self.source._frame_numbers[self.source.frame(name).name]
        except UnknownNameError:
            fault = f"body {name!r} floats in {self.target.name!r}, and {self.source.name!r} has no frame of that name"
            message = f"{fault}; give rest={{{self.target.joint_name(i)!r}: ...}}"
            raise ModelError(message, body=name) from None

    def _to_body(self, i: int, frame: int) -> Transform:
        """From the body that carries the frame in the source to body i of the target, whose frame it is."""
        return self.target.frames[i].X_FB.inverse() @ self.source.frames[frame].X_FB


def _same_root(source: Model, j: int | None, target: Model, i: int) -> bool:
    """Whether two free joints are one, so that its numbers can be copied."""
    if j is None or not isinstance(source.joints[j], Free) or source.parent[j] != 0:
        return False
    return source.body_names[j] == target.body_names[i] and all(
        list(a.r) == list(b.r) and a.E.matrix.rows == b.E.matrix.rows
        for a, b in ((source.X_T[j], target.X_T[i]), (source.frames[j].X_FB, target.frames[i].X_FB))
    )


def _sized(what: str, values, size: int) -> np.ndarray:
    array = numeric(what, values)
    if array.ndim == 0 or array.shape[-1] != size:
        raise ShapeError(f"{what} has shape {array.shape}, expected (..., {size})", shape=array.shape)
    return array


def _scalars(array: np.ndarray) -> list:
    return array.tolist() if array.ndim == 1 else list(np.moveaxis(array, -1, 0))


def with_keyframes(model: Model, new: Model, keyframes: Sequence[Keyframe]) -> Model:
    """The new model with keyframes of the one that it was made of, as its own states."""
    if not keyframes:
        return new
    states, mapped = StateMap(model, new), []
    for key in keyframes:
        q, v = model.keyframe(key.name)
        try:
            q, v = states.q(q), states.v(q, v)
        except ModelError as problem:
            new = new.replace(report=new.report.with_entry("info", f"keyframe {key.name!r}", f"left out: {problem}"))
            continue
        q, v = ({new.joint_name(i): tuple(x[s[i]].tolist()) for i in new.outward() if x[s[i]].size}
                 for x, s in ((q, new.q_slice), (v, new.v_slice)))  # fmt: skip
        mapped.append(replace(key, q=q, v=v))
    return new.replace(equipment=replace(new.equipment, keyframes=tuple(mapped)))


def joint_coordinates(joint: Joint, X: Transform, what: str) -> list[float]:
    """The position q with X_J(q) = X, or the nearest to it.

    Parameters
    ----------
    joint : Joint
    X : Transform
        From the joint's predecessor frame to its successor frame, as floats.
    what : str
        Opens the message of an error.

    Raises
    ------
    ModelError
        If the joint cannot reach X: the remainder is more than 1e-6 rad or m.

    Notes
    -----
    Newton's method from the coordinate of X, or the neutral position, then, where that fails, from random ones.
    """
    start = joint.neutral()
    with suppress(UnsupportedError):
        start = [float(x) for x in joint.loop_coordinates(X)[0]]
    q, distance = position_at(joint, X, start)
    if distance < CLOSE:
        return [float(x) for x in joint.normalize(q)]
    fault = f"{what}: its bodies are {distance:.3g} [rad, m] away from what {joint!r} allows"
    message = f"{fault}; the loop must be closed before its state can be mapped to another tree: kt.assemble"
    raise ModelError(message, distance=distance)
