"""States of an MJCF file: keyframes, and the pose in which it shows free bodies."""

from __future__ import annotations

import numpy as np

from kinetree.io.mjcf.write_joints import SAME, Part
from kinetree.io.number_text import numbers_text
from kinetree.io.writing import UnsupportedFeatures, add
from kinetree.joints import Free, Prismatic, Revolute
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import pose_of_transform
from kinetree.spatial import Transform
from kinetree.spatial.rotations import quaternion_from_rotation, quaternion_product
from kinetree.state_kinematics import world_transforms

INITIAL = "initial"  # read from the pose that the file shows, if no keyframe has it


def shown_positions(model) -> np.ndarray | None:
    """The positions of the keyframe "initial", if joints of the file can have them as references."""
    if not model.keyframes or model.keyframes[-1] != INITIAL:
        return None
    q, v = model.keyframe(INITIAL)
    for i in model.outward():
        kind, x = type(model.joints[i]), q[model.q_slice[i]]
        if kind not in (Free, Revolute, Prismatic) and not np.array_equal(x, model.joints[i].neutral()):
            return None
    return None if v.any() else q


class States:
    """Where the file shows the robot: in the neutral position, its free bodies in that of the keyframe "initial".

    Attributes
    ----------
    is_shown : bool
        Whether the placement of free bodies and references is the keyframe "initial", which needs no ``<key>``.
    q0 : (nq,) array
        MuJoCo's qpos0, in our order.
    """

    def __init__(self, model, parts: list[Part], features: UnsupportedFeatures) -> None:
        self.model = model
        self.q0 = np.array([x for i in model.outward() for x in model.joints[i].neutral()], dtype=float)
        neutral = np.array(self.q0)
        for part in parts:
            if part.ref:
                self.q0[part.q] = part.ref
        self.is_shown = self._can_be_shown(neutral)
        if self.is_shown:
            self.q0 = model.keyframe(INITIAL)[0]
        elif not np.array_equal(self.q0, neutral):
            features.note("", "read with one more keyframe, in which the file shows the robot")

    def _can_be_shown(self, neutral: np.ndarray) -> bool:
        model, q = self.model, shown_positions(self.model)
        if q is None:
            return False
        free = np.zeros(model.nq, dtype=bool)
        for i in model.outward():
            free[model.q_slice[i]] = isinstance(model.joints[i], Free)
        as_placed = np.abs(q - self.q0)[~free].max(initial=0.0) <= SAME * max(1.0, np.abs(q).max())
        return as_placed and not np.array_equal(q, neutral)

    def placement(self, part: Part) -> Transform | None:
        """Where a free joint begins, if not at the world's origin."""
        X = self.model.X_T[part.body]
        R, p = pose_of_transform(X)
        return None if np.array_equal(R, np.eye(3)) and not p.any() else X

    def in_world(self, part: Part, q) -> list[float]:
        """Position and quaternion of a free body in the world, from its seven coordinates."""
        X = self.placement(part)
        q = [float(x) for x in q]
        if X is None:
            return q
        R, p = pose_of_transform(X)
        turn = quaternion_product([float(x) for x in quaternion_from_rotation(X.E)], q[3:])
        return [*(p + R @ q[:3]).tolist(), *turn]

    def shown(self, part: Part) -> list[float]:
        """Where the file shows a free body."""
        return self.in_world(part, self.q0[part.q])

    def write_keys(self, root, parts: list[Part], actuators: list) -> None:
        """Add the keyframes, with controls and activations of these actuators."""
        names = self.model.keyframes[:-1] if self.is_shown else self.model.keyframes
        if not names:
            return
        section = add(root, "keyframe")
        for name in names:
            q, v = self.model.keyframe(name)
            positions, velocities = [], []
            for part in parts:
                x = q[part.q].tolist()
                positions += self.in_world(part, x) if part.kind == "free" else x
                velocities += self._rate(part, q, v)
            moving = {"qvel": numbers_text(velocities)} if any(velocities) else {}
            at = {"qpos": numbers_text(positions)} if positions else {}
            add(section, "key", name=name, **at, **moving, **self._commands(name, actuators))

    def _commands(self, name: str, actuators: list) -> dict[str, str]:
        key = next(key for key in self.model.equipment.keyframes if key.name == name)
        laws = {law.name: law for element in self.model.elements if element.actuates for law in element.laws}
        controls, activations = [], []
        for a in actuators:
            law = laws.get(a.name)
            counts = (len(law.inputs), len(law.states)) if law else (1, int(a.dynamics != "none"))
            controls += (*key.controls.get(a.name, ()), *(0.0,) * counts[0])[: counts[0]]
            activations += (*key.activations.get(a.name, ()), *(0.0,) * counts[1])[: counts[1]]
        given = {"ctrl": controls, "act": activations}
        return {what: numbers_text(values) for what, values in given.items() if any(values)}

    def _rate(self, part: Part, q, v) -> list[float]:
        """MuJoCo's velocity: of free bodies linear in world axes, then angular; of parts of a joint the rates of q."""
        if part.kind == "free":
            w, u = v[part.v][:3], v[part.v][3:]
            R = rotation_of_quaternion(self.in_world(part, q[part.q])[3:])
            return [*(R @ u).tolist(), *w.tolist()]
        joint = self.model.joints[part.body]
        if part.kind == "ball" or joint.nv == 1:
            return v[part.v].tolist()
        all_q, all_v = (x[s[part.body]].tolist() for x, s in ((q, self.model.q_slice), (v, self.model.v_slice)))
        return [float(joint.q_dot(all_q, all_v)[part.q.start - self.model.q_slice[part.body].start])]

    def pose_of(self, frame) -> tuple[np.ndarray, np.ndarray]:
        """Where a frame is in the world (R, p) while the file shows the robot."""
        path = self.model.support(frame.body) if frame.body else ()
        X_0 = world_transforms(self.model, self.q0.tolist(), path)
        return pose_of_transform(frame.X_FB @ X_0[frame.body])
