"""Force elements that an MJCF file holds: fluids, compensation of gravity, springs of higher order, stops of balls.

MuJoCo computes a fluid on every moving body, so boxes are written where they are those of all bodies alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.forces import BoxDrag, ForceElement, PointForce, RotationStop, TendonForce
from kinetree.io.mjcf.body_forces import HIGHER, MINIMUM
from kinetree.io.mjcf.stops import stop_of
from kinetree.io.number_text import number_text, numbers_text
from kinetree.model import RotationLimit
from kinetree.spatial.rotations import quaternion_to_rotation
from kinetree.tendons import JointTerm

SAME = 1e-9  # relative
APART = 1e-6  # edges of boxes that differ less leave the axes open


class WrittenForces:
    """The force elements of a model that the file holds.

    Attributes
    ----------
    fluid : dict of str to str
        Attributes of ``<option>``.
    gravcomp : dict of int to str
        Of bodies by number.
    higher : dict of str to TendonForce
        Springs and dampers of higher order by joint.
    left : tuple of ForceElement
        All others.
    """

    def __init__(self, model) -> None:
        self.fluid, self.gravcomp, self.higher = {}, {}, {}
        boxes = [force for force in model.own_elements if isinstance(force, BoxDrag)]
        wet = bool(boxes) and self._fluid(model, boxes)
        self.left = tuple(f for f in model.own_elements if not (wet if f in boxes else self._is_written(model, f)))

    def _is_written(self, model, force: ForceElement) -> bool:
        if isinstance(force, PointForce):
            return self._compensates(model, force)
        if isinstance(force, RotationStop):
            return any(_is_stop(force, limit) for limit in model.equalities if isinstance(limit, RotationLimit))
        return isinstance(force, TendonForce) and self._is_higher(model, force)

    def _compensates(self, model, force: PointForce) -> bool:
        i, g = model.frame(force.frame).body, np.array([*model.gravity], float)
        mass, f = float(model.I[i].m), np.array(force.vector)
        plain = force.axes == "world" and not force.scaled and not any(force.moment)
        if not (plain and i and mass > 0.0 and g.any() and i not in self.gravcomp):
            return False
        share = -float(f @ g) / float(g @ g) / mass
        center = np.array([*model.I[i].h], float) / mass
        same = np.allclose(f, -share * mass * g, rtol=0.0, atol=SAME * np.abs(f).max())
        if not same or not _near(_in_body(model, force), center):
            return False
        self.gravcomp[i] = number_text(share)
        return True

    def _is_higher(self, model, force: TendonForce) -> bool:
        if len(force.path) != 1 or not isinstance(force.path[0], JointTerm) or force.path[0].coefficient != 1.0:
            return False
        joint = force.path[0].joint
        k = model.coordinate(joint)
        relaxed = not force.higher_stiffness or force.rest_length == (
            float(model.spring_reference[model.q_index(joint)][0]),
        )
        higher = {"higher_stiffness": force.higher_stiffness, "higher_damping": force.higher_damping}
        alone = force == TendonForce(force.name, force.path, rest_length=force.rest_length, **higher)
        if not (
            alone and relaxed and force.name == HIGHER + joint and (model.stiffness[k] or not force.higher_stiffness)
        ):
            return False
        self.higher[joint] = force
        return True

    def _fluid(self, model, boxes: Sequence[BoxDrag]) -> bool:
        """Whether the boxes are those of all moving bodies in one fluid."""
        density, viscosity, wind = boxes[0].density, boxes[0].viscosity, boxes[0].wind
        if any((box.density, box.viscosity, box.wind) != (density, viscosity, wind) for box in boxes):
            return False
        moving = [i for i in model.outward() if any(model.joints[j].nv for j in model.support(i))]
        needed = {i for i in moving if float(model.I[i].m) >= MINIMUM}
        found = {model.frame(box.frame).body: box for box in boxes}
        expected = {model.frame(box.frame).body: box for box in BoxDrag.of_bodies(model, density, viscosity, wind)}
        if (
            len(found) != len(boxes)
            or set(found) != needed
            or not all(_alike(model, found[i], expected[i]) for i in needed)
        ):
            return False
        given = {"density": density, "viscosity": viscosity}
        self.fluid = {what: number_text(x) for what, x in given.items() if x}
        if any(wind):
            self.fluid["wind"] = numbers_text(wind)
        return True


def _is_stop(force: RotationStop, limit: RotationLimit) -> bool:
    """Whether it is the stop of the file's limit at some inertia."""
    if not limit.active or limit.softness is None or (limit.joint, limit.angle) != (force.joint, force.angle):
        return False
    k, d = stop_of(limit.softness, 1.0)
    return bool(np.isclose(force.stiffness * d, force.damping * k, rtol=SAME, atol=0.0))


def _in_body(model, force) -> np.ndarray:
    frame = model.frame(force.frame)
    return frame.p_BF + frame.R_BF @ np.array(force.at)


def _near(x, y) -> bool:
    return np.allclose(x, y, rtol=0.0, atol=SAME * max(1e-3, float(np.abs(y).max())))


def _alike(model, box: BoxDrag, other: BoxDrag) -> bool:
    """Whether two boxes are one, whatever the order and signs of their axes."""
    (size, axes), (edges, directions) = (_edges(model, each) for each in (box, other))
    apart = np.diff(edges).min() > APART * edges.max()
    same = np.allclose(size, edges, rtol=SAME) and np.allclose(
        np.abs(np.sum(axes * directions, axis=1)), 1.0, atol=SAME
    )
    return bool(apart and same and _near(_in_body(model, box), _in_body(model, other)))


def _edges(model, box: BoxDrag) -> tuple[np.ndarray, np.ndarray]:
    """The edges in ascending order, and their directions in the body, by rows."""
    E = quaternion_to_rotation(box.orientation)
    rows = np.array(E.matrix.rows, float) @ model.frame(box.frame).R_BF.T
    order = np.argsort(box.size)
    return np.array(box.size)[order], rows[order]
