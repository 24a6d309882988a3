"""Drake: floating bodies by quaternion before position, their velocities in world coordinates."""

from __future__ import annotations

from kinetree.arguments import a_model, checked, of_kind
from kinetree.conventions.coordinate_maps import BallRpy, CoordinateMap, PlanarRates, WorldFree, same
from kinetree.conventions.engine import Engine
from kinetree.conventions.pairing import names_by_name, paired, refuse_kind
from kinetree.joints import Free, Helical, Planar, Prismatic, Revolute, Spherical


def _coordinate_map(joint, kind: str) -> CoordinateMap | None:
    """The coordinate map for a joint here and one of this type there."""
    if kind == "quaternion_floating":
        return WorldFree() if isinstance(joint, Free) else None
    if kind == "ball_rpy":
        return BallRpy() if isinstance(joint, Spherical) else None
    if kind == "planar":
        return PlanarRates() if isinstance(joint, Planar) else None
    mine = {"revolute": (Revolute,), "prismatic": (Prismatic,), "screw": (Helical,)}.get(kind, ())
    return same(1) if isinstance(joint, mine) else None


class Drake(Engine):
    """Arrays of a Drake ``MultibodyPlant`` of the same robot.

    Parameters
    ----------
    model : Model
    other : pydrake.multibody.plant.MultibodyPlant
        Finalized. Its joints are found by name; a floating base also as the only one.
    joints : mapping of str to str, optional
        Names of joints there by their names here, where they differ.

    Raises
    ------
    ModelError
        A joint has no partner, or one of another kind.

    Notes
    -----
    A ball joint is Drake's ``BallRpyJoint``, whose angles are singular at a quarter turn of pitch. External wrenches
    are [moment; force] in world axes about the body's origin: ``ExternallyAppliedSpatialForce`` with ``p_BoBq_B`` zero.
    Rows of the result are by body index.
    """

    name = "Drake"
    quaternion_first = True

    @checked(
        model=a_model,
        other=of_kind("MultibodyPlant of pydrake", "GetJointIndices", "get_joint", "num_velocities"),
        joints=names_by_name,
    )
    def __init__(self, model, other, joints=None) -> None:
        found = {int(j): other.get_joint(j) for j in other.GetJointIndices()}
        moving = {j: joint for j, joint in found.items() if joint.num_positions()}
        names = {joint.name(): j for j, joint in moving.items()}
        free = [j for j, joint in moving.items() if joint.num_positions() == 7]
        pairs, bodies = [], [0] + [-1] * (model.nb - 1)
        for i, j in paired(self, model, names, free, joints):
            joint = moving[j]
            mapping = _coordinate_map(model.joints[i], joint.type_name())
            mapping = mapping or refuse_kind(self, model, i, joint.name(), f"the type {joint.type_name()!r}")
            pairs.append((i, mapping, joint.position_start(), joint.velocity_start()))
            bodies[i] = int(joint.child_body().index())
        super().__init__(model, self._slots(model, pairs), bodies, other.num_velocities())
