"""The engines: Drake, Exudyn, MuJoCo and Pinocchio.

Drake has floating bodies by quaternion before position, their velocities in world coordinates. Exudyn's coordinates
count from reference values, and a rigid body's velocities are rates of Euler parameters. In MuJoCo a free joint's
linear velocity is in world coordinates, its angular velocity in body coordinates. Pinocchio has (linear; angular),
quaternions (x, y, z, w), cosines and sines of continuous angles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kinetree.arguments import a_mapping, a_model, a_truth_value, array, checked, number, of_kind, text, whole
from kinetree.conventions import coordinate_maps as maps
from kinetree.conventions.engine import SWAP, Engine
from kinetree.errors import ModelError, unknown_name
from kinetree.joints import Composite, Free, FreeSplit, Helical, Planar, Prismatic, Revolute, Spherical, SphericalEuler
from kinetree.model.parts import pose_of_transform


def names_by_name(what: str, value: object) -> None:
    """The check for names there by names here."""
    a_mapping(what, value)
    for name in (*value, *value.values()):
        text(f"one of {what}", name, "a name")


def paired(engine, model, names: Mapping[str, int], free: Sequence[int], joints=None) -> Iterator[tuple[int, int]]:
    """``(number here, number there)`` of every moving joint.

    Parameters
    ----------
    engine : Engine
        For its name.
    model : Model
    names : mapping of str to int
        The joints there.
    free : sequence of int
        The free joints there: a free joint without a namesake is the only one of them.
    joints : mapping of str to str, optional
        Names there by names here.
    """
    joints = dict(joints or {})
    for name in joints:
        model.joint(name)
    for i in model.outward():
        joint = model.joints[i]
        if joint.nv == 0 and joint.nq == 0:
            continue
        name = joints.get(model.joint_name(i), model.joint_name(i))
        if name in names:
            yield i, names[name]
        elif joint.nq == 7 and len(free) == 1 and name not in joints.values():
            yield i, free[0]
        else:
            raise unknown_name("joint", name, names, f"the model of {engine.name}")


def refuse_kind(engine, model, i: int, name: str, kind: str):
    """Raise ModelError for joints of two kinds without a conversion between them."""
    raise ModelError(
        f"{engine.name}: joint {model.joint_name(i)!r} is of another kind there: {model.joints[i]!r} here, and "
        f"{str(name)!r} is a joint with {kind}; no conversion between these is known. Joints that both engines have: "
        "docs/conventions.md.",
        joint=model.joint_name(i),
    )


def _drake_map(joint, kind: str) -> maps.CoordinateMap | None:
    """The coordinate map for a joint here and one of this type there."""
    if kind == "quaternion_floating":
        return maps.WorldFree() if isinstance(joint, Free) else None
    if kind == "ball_rpy":
        return maps.BallRpy() if isinstance(joint, Spherical) else None
    if kind == "planar":
        return maps.PlanarRates() if isinstance(joint, Planar) else None
    mine = {"revolute": (Revolute,), "prismatic": (Prismatic,), "screw": (Helical,)}.get(kind, ())
    return maps.same(1) if isinstance(joint, mine) else None


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

    Examples
    --------
    >>> from pydrake.multibody.plant import MultibodyPlant
    >>> from pydrake.multibody.parsing import Parser
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> plant = MultibodyPlant(0.0)
    >>> _ = Parser(plant).AddModelsFromString(kt.io.to_urdf(arm), "urdf")
    >>> plant.Finalize()
    >>> there = kt.conventions.Drake(arm, plant)
    >>> there.q_to([0.1, 0.2]).tolist()
    [0.1, 0.2]
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
            mapping = _drake_map(model.joints[i], joint.type_name())
            mapping = mapping or refuse_kind(self, model, i, joint.name(), f"the type {joint.type_name()!r}")
            pairs.append((i, mapping, joint.position_start(), joint.velocity_start()))
            bodies[i] = int(joint.child_body().index())
        super().__init__(model, self._slots(model, pairs), bodies, other.num_velocities())


class Exudyn(Engine):
    """Arrays of an Exudyn system: rigid bodies with Euler parameters, and joints of one coordinate.

    Parameters
    ----------
    model : Model
    places : mapping of str to int
        The first coordinate of each joint in the system's ODE2 coordinates: of a free joint, that of its
        ``NodeRigidBodyEP``; of the joints of an ``ObjectKinematicTree``, those of its node in the order of its lists.
    reference : mapping of str to number or (7,) array, optional
        Reference coordinates of the nodes, by joint; by default zeros, and (0, 0, 0, 1, 0, 0, 0) of a free joint.

    Raises
    ------
    ModelError
        A joint has no place, or is of a kind that Exudyn's nodes do not have.

    Notes
    -----
    A free body has seven velocities there, which obey ``quaternion . d quaternion/dt = 0``: T has a left inverse, and
    forces come back from forces on Euler parameters. `M_to` gives a matrix of rank 6; Exudyn adds the constraint as an
    algebraic equation. External wrenches are (force; moment) in world axes about the body's origin: loads at markers.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> first, second = arm.joint_names
    >>> there = kt.conventions.Exudyn(arm, {second: 0, first: 1})  # as a node has them
    >>> there.q_to([0.1, 0.2]).tolist()
    [0.2, 0.1]
    >>> there.q_from([0.2, 0.1]).tolist()
    [0.1, 0.2]
    """

    name = "Exudyn"
    angular_first = False

    @checked(model=a_model, places=a_mapping, reference=a_mapping)
    def __init__(self, model, places: Mapping[str, int], reference: Mapping[str, float | Sequence] | None = None):
        reference = dict(reference or {})
        for name in (*places, *reference):
            model.joint(name)
        pairs, bodies, count = [], [0] + [-1] * (model.nb - 1), 0
        for i, place in paired(self, model, places, ()):
            joint, name = model.joints[i], model.joint_name(i)
            what = f"{self.name}: reference of joint {name!r}"
            whole(f"{self.name}: place of joint {name!r}", place, "a whole number that is not negative", least=0)
            if isinstance(joint, Free) and model.parent[i] == 0:
                at = pose_of_transform(model.X_T[i])
                values = reference.get(name, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
                mapping = maps.EulerParameters(*at, array(what, values, "an array of real numbers", shape=(7,)))
            elif isinstance(joint, (Revolute, Prismatic, Helical)):
                mapping = maps.Displaced(number(what, reference.get(name, 0.0)))
            else:
                refuse_kind(self, model, i, name, "coordinates of an ODE2 node")
            pairs.append((i, mapping, place, place))
            bodies[i] = count = count + 1
        super().__init__(model, self._slots(model, pairs), bodies)


_KINDS = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}  # mjtJoint
_SPLIT = FreeSplit("translation")


def _mujoco_map(joint, kind: str, X_T) -> maps.CoordinateMap | None:
    if kind == "free":
        if isinstance(joint, Free):
            return maps.MixedFree(*pose_of_transform(X_T))
        here = pose_of_transform(X_T)
        at_origin = np.array_equal(here[0], np.eye(3)) and not here[1].any()
        return maps.CoordinateMap(range(7), (3, 4, 5, 0, 1, 2)) if joint == _SPLIT and at_origin else None
    if kind == "ball":
        return maps.same(4, 3) if isinstance(joint, Spherical) else None
    mine = (Prismatic,) if kind == "slide" else (Revolute, Helical)
    return maps.same(1) if isinstance(joint, mine) or joint.kind == "reversed" and joint.nq == joint.nv == 1 else None


class MuJoCo(Engine):
    """Arrays of a MuJoCo model of the same robot.

    Parameters
    ----------
    model : Model
    other : mujoco.MjModel
        Its joints are found by name; a free joint also as the only one.
    joints : mapping of str to str, optional
        Names of joints there by their names here, where they differ.
    by_order : bool
        Pair the moving joints by their order instead, as for MJCF files without names.

    Raises
    ------
    ModelError
        A joint has no partner, or one of another kind.

    Notes
    -----
    The q of a free joint is the body's pose in the world there, here its pose in the frame of the joint.
    A hinge or slide that is not at 0 in the model's reference pose (``ref`` in MJCF) counts from there in both.
    External wrenches are those of ``xfrc_applied``: (force; moment) in world axes about the body's center of mass.
    `mj_rne` leaves out the armature, which kinetree's `rnea` and both mass matrices include.
    """

    name = "MuJoCo"
    angular_first = False  # of mj_jac and xfrc_applied; cvel and cacc are (angular; linear)

    @checked(
        model=a_model,
        other=of_kind("mujoco.MjModel", "jnt_type", "jnt_qposadr", "jnt_dofadr", "body_ipos", "nbody", "nv"),
        joints=names_by_name,
        by_order=a_truth_value,
    )
    def __init__(self, model, other, joints=None, by_order: bool = False) -> None:
        kinds = [_KINDS[int(kind)] for kind in other.jnt_type]
        free = [j for j, kind in enumerate(kinds) if kind == "free"]
        if by_order:
            moving = [i for i in model.outward() if model.joints[i].nq]
            found = list(zip(moving, range(len(kinds)), strict=False))
        else:
            names = {other.joint(j).name: j for j in range(other.njnt)}
            found = list(paired(self, model, names, free, joints))
        pairs = []
        for i, j in found:
            mapping = None
            if kinds[j] != "free" or model.parent[i] == 0:
                mapping = _mujoco_map(model.joints[i], kinds[j], model.X_T[i])
            mapping = mapping or refuse_kind(self, model, i, other.joint(j).name, f"the type {kinds[j]!r}")
            pairs.append((i, mapping, int(other.jnt_qposadr[j]), int(other.jnt_dofadr[j])))
        numbers = {other.body(b).name: b for b in range(other.nbody)}
        bodies = [0, *(numbers.get(name, -1) for name in model.body_names[1:])]
        if by_order:
            for i, j in found:
                bodies[i] = int(other.jnt_bodyid[j])
        centers = np.asarray(other.body_ipos, dtype=float)
        self._centers = np.array([centers[b] if b > 0 else np.zeros(3) for b in bodies])
        super().__init__(model, self._slots(model, pairs), bodies, int(other.nv))

    def _about(self, R, p):
        return p + (R @ self._centers.astype(p.dtype)[..., None])[..., 0]


_POSE = (0, 1, 2, 4, 5, 6, 3)  # (p, x, y, z, w) out of (p, w, x, y, z)


def _pinocchio_map(joint, nq: int, nv: int, there=None) -> maps.CoordinateMap | None:
    """The coordinate map for a joint here and one ``there`` of these sizes; None if there is none."""
    if isinstance(joint, Free) and (nq, nv) == (7, 6):
        return maps.CoordinateMap(_POSE, SWAP)
    if isinstance(joint, Spherical) and (nq, nv) == (4, 3):
        return maps.CoordinateMap((1, 2, 3, 0), range(3))
    if isinstance(joint, Planar) and (nq, nv) == (4, 3):
        return maps.PlanarCircle()
    if joint.nq == joint.nv == 1 and (nq, nv) == (2, 1):
        return maps.Circle()
    if isinstance(joint, Composite):
        return _pinocchio_row(joint, there, nq, nv)
    euler = isinstance(joint, SphericalEuler) and joint.sequence == "zyx"
    plain = euler or joint.kind in ("translational", "ellipsoid", "universal") or joint.nv == 1
    return maps.same(nq, nv) if plain and (nq, nv) == (joint.nq, joint.nv) else None


def _pinocchio_row(joint: Composite, there, nq: int, nv: int) -> maps.CoordinateMap | None:
    """The map of a composite joint: of its parts, where Pinocchio has a composite joint of as many."""
    own = there.extract() if hasattr(there, "extract") else there
    parts = list(getattr(own, "joints", ()))
    if len(parts) != len(joint.joints):
        return maps.same(nq, nv) if (nq, nv) == (joint.nq, joint.nv) and joint.nq == joint.nv else None
    found = [
        _pinocchio_map(mine, int(part.nq), int(part.nv), part) for mine, part in zip(joint.joints, parts, strict=True)
    ]
    if any(part is None for part in found):
        return None
    return maps.InSeries([(part, mine.nq, mine.nv) for part, mine in zip(found, joint.joints, strict=True)])


def _flat(parts) -> list:
    """Parts of a composite joint, those of composite ones in their place."""
    inner = [part.extract() if hasattr(part, "extract") else part for part in parts]
    return [
        x
        for part, own in zip(parts, inner, strict=True)
        for x in (_flat(own.joints) if hasattr(own, "joints") else [part])
    ]


class Pinocchio(Engine):
    """Arrays of a Pinocchio model of the same robot.

    Parameters
    ----------
    model : Model
    other : pinocchio.Model
        Its joints are found by name; a free joint also as the only one at the root.
    joints : mapping of str to str, optional
        Names of joints there by their names here, where they differ.

    Raises
    ------
    ModelError
        A joint has no partner, or one of another kind.

    Notes
    -----
    Pinocchio numbers joints depth first, children sorted by name. The mass matrix that its `crba` gives may have its
    upper triangle only: `M_from` accepts that. External wrenches are (force; moment) in the joint's own coordinates.

    Examples
    --------
    ``there = kt.conventions.Pinocchio(model, pin_model)``, then ``pin.rnea(pin_model, data, there.q_to(q),
    there.v_to(q, v), there.a_to(q, v, a))`` is ``there.tau_to(q, kt.rnea(model, q, v, a))``.
    """

    name = "Pinocchio"
    angular_first = False
    scalar_last = True

    @checked(
        model=a_model,
        other=of_kind("pinocchio.Model", "names", "nqs", "nvs", "nv", "idx_qs", "idx_vs"),
        joints=names_by_name,
    )
    def __init__(self, model, other, joints=None) -> None:
        names = {str(name): j for j, name in enumerate(other.names) if j}
        chains = self._chains(model, other, names)
        free = [j for j in names.values() if (other.nqs[j], other.nvs[j]) == (7, 6)]
        pairs, bodies = [], [0] + [-1] * (model.nb - 1)
        for i, j in paired(self, model, names | {name: j for name, (j, *_) in chains.items()}, free, joints):
            nq, nv, q, v, part = int(other.nqs[j]), int(other.nvs[j]), int(other.idx_qs[j]), int(other.idx_vs[j]), None
            if (name := model.joint_name(i)) in chains:
                _, part, before_q, before_v, last = chains[name]
                nq, nv, q, v = int(part.nq), int(part.nv), q + before_q, v + before_v
            else:
                part, last = other.joints[j] if hasattr(other, "joints") else None, True
            mapping = _pinocchio_map(model.joints[i], nq, nv, part)
            mapping = mapping or refuse_kind(self, model, i, other.names[j], f"nq={nq}, nv={nv}")
            pairs.append((i, mapping, q, v))
            bodies[i] = j if last else -1
        super().__init__(model, self._slots(model, pairs), bodies, int(other.nv))

    @staticmethod
    def _chains(model, other, names: Mapping[str, int]) -> dict[str, tuple]:
        """Joints ``name.1``, ``name.2``, ... here that are the parts of a composite joint there.

        By their names: number there, the part, positions and velocities before it, and whether it is the last one.
        """
        found: dict[str, tuple] = {}
        for name, j in names.items():
            if name in model.joint_names or f"{name}.1" not in model.joint_names:
                continue
            own = other.joints[j].extract()
            parts, q, v = _flat(getattr(own, "joints", ())), 0, 0
            for k, part in enumerate(parts, 1):
                found[f"{name}.{k}"] = (j, part, q, v, k == len(parts))
                q, v = q + int(part.nq), v + int(part.nv)
        return found

    @staticmethod
    def _full(M):
        upper = np.triu(M)
        return upper + np.swapaxes(np.triu(upper, 1), -1, -2)

    def _wrench_to(self, n, f, R, p):
        n = n - np.cross(p, f)
        turn = np.swapaxes(R, -1, -2)
        return np.concatenate([(turn @ f[..., None])[..., 0], (turn @ n[..., None])[..., 0]], axis=-1)

    def _wrench_from(self, rows, R, p):
        f, n = (R @ rows[..., :3, None])[..., 0], (R @ rows[..., 3:, None])[..., 0]
        return np.concatenate([n + np.cross(p, f), f], axis=-1)
