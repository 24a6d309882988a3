"""Where the parts of a compiled MJCF model go in ours: names, frames, and which joints stay.

MuJoCo keeps a body's frame where the file puts it; our bodies sit at their joints. So a MuJoCo body with joints is our
body at the anchor of its last joint, plus a frame of the body's own name. All of it differs by one shift per body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kinetree.arguments import listed
from kinetree.errors import ModelError
from kinetree.io.free_names import Names, base_joint_name
from kinetree.io.mjcf.notes import Notes
from kinetree.model.builder import WORLD, rotation_of_quaternion

FREE, BALL, SLIDE, HINGE = range(4)  # MuJoCo's mjtJoint
POSITIONS, VELOCITIES = (7, 4, 1, 1), (6, 3, 1, 1)  # by type


@dataclass(slots=True)
class Layout:
    """Names and places; the index of each list is MuJoCo's number.

    Parameters
    ----------
    mj : mujoco.MjModel
    bodies, sites : list of str
        Names of frames of our model; the shift below leads from there to our body.
    joints : list of str or None
        None where ``floating_base=False`` made the joint fixed.
    shift : (nbody, 3) array
        Origin of MuJoCo's body frame in our body's frame, whose axes are the same [m].
    names : Names
        Names of bodies and frames.
    joint_names : Names
    freed : int or None
        The body that ``floating_base=True`` frees.
    base_joint : str
        The name of the joint that frees it.
    """

    mj: object
    bodies: list[str]
    sites: list[str]
    joints: list[str | None]
    shift: np.ndarray
    names: Names
    joint_names: Names
    freed: int | None
    base_joint: str
    geom_frames: dict[int, str] = field(default_factory=dict)

    def joints_of(self, body: int) -> list[int]:
        """Numbers of the joints that move a body against its parent, those made fixed left out."""
        first = self.mj.body_jntadr[body]
        found = range(first, first + self.mj.body_jntnum[body])
        return [j for j in found if self.joints[j] is not None]

    def pose(self, body: int, position, quaternion) -> tuple[np.ndarray, np.ndarray]:
        """A pose (R, p) in our body's frame, from one in MuJoCo's frame of the body."""
        return rotation_of_quaternion(quaternion), np.asarray(position, dtype=float) + self.shift[body]

    def dofs(self, joint: int) -> slice:
        """MuJoCo's velocity coordinates of a joint."""
        first = self.mj.jnt_dofadr[joint]
        return slice(first, first + VELOCITIES[self.mj.jnt_type[joint]])

    def positions(self, joint: int) -> slice:
        """MuJoCo's position coordinates of a joint."""
        first = self.mj.jnt_qposadr[joint]
        return slice(first, first + POSITIONS[self.mj.jnt_type[joint]])


def rotation_about(axis, angle: float) -> np.ndarray:
    """The rotation matrix of an angle [rad] about a unit vector."""
    return rotation_of_quaternion([math.cos(0.5 * angle), *(math.sin(0.5 * angle) * np.asarray(axis))])


def of_kind(mj, kind: str, count: int) -> list[str]:
    """The names of all elements of one of MuJoCo's kinds ("body", "joint", ...), "" where there is none."""
    import mujoco

    number = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return [mujoco.mj_id2name(mj, number, k) or "" for k in range(count)]


def names_of(mj, kind: str, count: int, names: Names | None = None) -> list[str]:
    """The same, made unique, with ``kind_number`` for those without; ``names`` remembers all of them."""
    return unique(of_kind(mj, kind, count), kind, names or Names())


def unique(given: list[str], kind: str, names: Names) -> list[str]:
    """Given names first, then ``kind_number`` for those without; ``names`` remembers all of them."""
    kept = [name and names.new(name) for name in given]
    return [name or names.new(f"{kind}_{k}") for k, name in enumerate(kept)]


def layout(mj, floating_base: bool | None, base_joint: str, locked: set[str], notes: Notes) -> Layout:
    """Lay out a compiled model without some joints; the options are those of `load_mjcf`."""
    names, joint_names = Names(), Names()
    bodies = of_kind(mj, "body", mj.nbody)
    bodies[0] = WORLD
    sites = of_kind(mj, "site", mj.nsite)
    taken = set(bodies)
    shared = [name for name in sites if name and name in taken]
    if shared:
        message = f"sites with the name of a body get '_site' after it, as both are frames: {listed(shared)}"
        notes.info(("site", shared[0]), message)
        sites = [f"{name}_site" if name in taken else name for name in sites]
    bodies = unique(bodies, "body", names)
    sites = unique(sites, "site", names)
    joints: list[str | None] = list(names_of(mj, "joint", mj.njnt, joint_names))
    freed = None
    if floating_base is True:
        freed = _body_to_free(mj, bodies, joints, notes)
        if freed is not None:
            at = "joint", base_joint
            fail, note = partial(notes.sources.fail, at), partial(notes.info, at)
            base_joint = base_joint_name(base_joint, joint_names, set(joints), fail, note)
    elif floating_base is False:
        _fix_base(mj, bodies, joints, notes)
    joints = [None if name in locked else name for name in joints]
    place = Layout(mj, bodies, sites, joints, np.zeros((mj.nbody, 3)), names, joint_names, freed, base_joint)
    for body in range(1, mj.nbody):
        own = place.joints_of(body)
        if own:
            place.shift[body] = 0.0 - anchors(mj, own)[-1]
    return place


def anchors(mj, joints: list[int]) -> list[np.ndarray]:
    """The points of one body's joints in its MuJoCo frame; a slide has none of its own and takes the one before."""
    found, last = [], np.zeros(3)
    for j in joints:
        if mj.jnt_type[j] != SLIDE:
            last = np.zeros(3) if mj.jnt_type[j] == FREE else np.array(mj.jnt_pos[j])
        found.append(last)
    return found


def _body_to_free(mj, bodies, joints, notes: Notes) -> int | None:
    """The one root that floating_base=True frees; None if there is a free joint already."""
    free = [joints[j] for j in range(mj.njnt) if mj.jnt_type[j] == FREE]
    if len(free) == 1:
        return None
    if free:
        raise _error(notes, f"floating_base=True requires one free base, but there are {len(free)} free joints: {free}")
    roots = [b for b in range(1, mj.nbody) if mj.body_parentid[b] == 0]
    shown = ", ".join(repr(bodies[b]) for b in roots[:8]) or "none"
    if len(roots) > 1:
        # Furniture beside the robot carries no joints.
        carrying = {mj.body_rootid[mj.jnt_bodyid[j]] for j in range(mj.njnt)}
        roots = [b for b in roots if b in carrying] or roots
    if len(roots) != 1:
        raise _error(notes, f"floating_base=True frees the root body, but there are several: {shown}")
    name = bodies[roots[0]]
    if mj.body_jntnum[roots[0]]:
        own = joints[mj.body_jntadr[roots[0]]]
        raise _error(notes, f"floating_base=True frees the root body, but joint {own!r} already moves {name!r}")
    notes.info(("body", name), f"body '{name}' moves freely (floating_base=True)")
    return roots[0]


def _fix_base(mj, bodies, joints: list, notes: Notes) -> None:
    """Take out the one free joint; a model without one stands on the world already."""
    free = [j for j in range(mj.njnt) if mj.jnt_type[j] == FREE]
    if len(free) > 1:
        shown = ", ".join(f"{joints[j]!r} of body {bodies[mj.jnt_bodyid[j]]!r}" for j in free[:8])
        raise _error(notes, f"floating_base=False fixes the one root, but {len(free)} bodies move freely: {shown}")
    for j in free:
        body = bodies[mj.jnt_bodyid[j]]
        message = f"free joint '{joints[j]}' of body '{body}' made fixed where the file puts it (floating_base=False)"
        notes.info(("body", body), message)
        joints[j] = None


def _error(notes: Notes, message: str) -> ModelError:
    return ModelError(f"{notes.sources.main.file}: {message}", file=notes.sources.main.file)
