"""``to_urdf``: the text of a URDF file from a Model.

A body is a link; a frame is a link without mass on a fixed joint, which is read as a frame again. The world is the
root link: under the name of the robot's own root if the model has one (a frame of the world that the joint
``ROOT_to_world`` welded there), else as a link called 'world'.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from kinetree.arguments import a_model, a_word, checked
from kinetree.forces.registry import VELOCITY_PARAMETERS
from kinetree.io.free_names import Names
from kinetree.io.inertia_rules import ENTRIES, violation
from kinetree.io.number_text import central, number_text, numbers_text, rpy_of
from kinetree.io.urdf.loop_file import loops_text
from kinetree.io.urdf.records import DYNAMICS, JOINT_TYPES, LIMITS
from kinetree.io.urdf.surface import write_surface
from kinetree.io.urdf.version import CAPSULES, spelled
from kinetree.io.writing import MeshNames, UnsupportedFeatures, add, attachments, is_depth_first, text_of
from kinetree.joints import Planar, Prismatic, Reversed, Revolute
from kinetree.model.model import GRAVITY
from kinetree.model.parts import Frame, Geometry, Report, pose_of_transform
from kinetree.spatial import Inertia

TYPES = {joint: name for name, joint in JOINT_TYPES.items() if name != "continuous"}
# URDF has no infinity, and its usual parser refuses the word; this number replaces it in both directions.
NO_LIMIT = sys.float_info.max


@checked(model=a_model, unsupported=a_word, meshes=a_word)
def to_urdf(model, *, unsupported: str = "raise", meshes: str = "keep") -> str:
    """The text of a URDF file that is read as this model.

    Parameters
    ----------
    model : Model
    unsupported : {"raise", "drop"}
        Treatment of features that URDF does not support: armatures, springs, stops, loops, equalities, tendons,
        actuators, keyframes, a gravity of its own, ellipsoids and planes. Joints that it lacks are always refused.
    meshes : {"keep", "drop"}

    Returns
    -------
    str

    Raises
    ------
    UnsupportedError

    Notes
    -----
    Frames are massless links on fixed joints; a free base is a link 'world' with a floating joint, so that reading
    needs no option. Missing limits are written as the largest float, because common parsers require them.
    ``kt.save`` also gives a report.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load(kt.io.to_urdf(kt.models.double_pendulum())).body_names
    ('world', 'upper', 'lower')
    """
    return urdf_text(model, unsupported=unsupported, meshes=meshes)[0]


def urdf_text(
    model, *, unsupported: str = "raise", meshes: str = "keep", folder: Path | None = None
) -> tuple[str, Report]:
    """The text and the report; ``folder`` is where the file goes, for relative names of meshes."""
    text, _, report = urdf_files(model, unsupported=unsupported, meshes=meshes, folder=folder)
    return text, report


def urdf_files(
    model, *, unsupported: str, meshes: str, folder: Path | None, side: Path | None = None
) -> tuple[str, str, Report]:
    """The text, that of a side file, empty if there is nothing for it, and the report."""
    features = UnsupportedFeatures(model, "URDF", unsupported)
    _settle_physics(model, features)
    loops = _settle_constraints(model, features, side)
    robot = add(None, "robot", name=model.name)
    _Robot(model, robot, features, MeshNames(meshes, folder, features)).write()
    return text_of(robot), loops, features.report()


def _settle_constraints(model, features: UnsupportedFeatures, side: Path | None) -> str:
    """Report the constraints that neither the format nor a side file holds; the text of that."""
    held = [c for c in model.constraints if c.kind != "coupling" and c not in model.loops]
    held += model.loops
    text, lost = loops_text(held, side.suffix.lower()) if side is not None else ("", held)
    for c in lost:
        features.add("loop joints" if c in model.loops else "constraints", repr(c.name) if c.name else str(c))
    if len(lost) == len(held):
        return ""
    for c in model.equalities:
        if c.softness is not None and any(c.name == x.name for x in held if x not in lost):
            features.note(str(c), f"written into {side.name} without its softness")
    features.note("", f"{len(held) - len(lost)} of the constraints are in {side.name}")
    return text


def _settle_physics(model, features: UnsupportedFeatures) -> None:
    """Report physics that URDF does not support."""
    for i in model.outward():
        joint, name = model.joints[i], model.joint_name(i)
        if _plain(joint)[0] is None:
            known = "revolute, continuous, prismatic, fixed, floating and planar joints"
            raise features.refuse(f"joint {name!r} is {joint!r}; the format has {known}", joint=name)
    if tuple(model.gravity) != GRAVITY:
        features.add(f"gravity {tuple(model.gravity)} m/s^2 (its readers take {GRAVITY})")
    for what in ("armature", *(name for name in VELOCITY_PARAMETERS if name not in DYNAMICS.values())):
        for label, x in zip(model.velocity_labels, getattr(model, what), strict=True):
            if x:
                features.add(what.replace("limit", "stop").replace("_", " "), f"joint {label!r}")
    for what, none in (
        *((what, 0.0) for what in DYNAMICS.values()), ("lower", -math.inf), ("upper", math.inf),
        ("velocity_limit", math.inf), ("effort_limit", math.inf),
    ):  # fmt: skip
        for i in model.outward():
            if model.joints[i].nv != 1 and np.any(getattr(model, what)[model.v_slice[i]] != none):
                features.add(f"{what.replace('_', ' ')} of {TYPES[type(model.joints[i])]} joints", model.joint_name(i))
    for i in model.outward():
        q, v = model.q_slice[i], model.v_slice[i]
        reference, neutral = model.spring_reference[q], model.joints[i].neutral()
        if not np.any(model.stiffness[v]) and not np.array_equal(reference, neutral):
            features.note(f"joint {model.joint_name(i)!r}", "reference of a spring without stiffness left out")
    features.add_parts()
    constraints = [c.name for c in model.constraints if c not in model.own_constraints]
    for kind in ("equalities", "tendons", "actuators", "keyframes"):
        for piece in getattr(model.equipment, kind):
            if kind != "equalities" or piece.name not in constraints:
                features.add(kind, repr(piece.name) if piece.name else str(piece))


def _plain(joint) -> tuple[str | None, tuple[float, float, float] | None]:
    """Type and axis of a joint; a reversed joint of one freedom goes the other way along its axis."""
    if type(joint) is Reversed and type(joint.joint) in (Revolute, Prismatic):
        return TYPES[type(joint.joint)], tuple(-x for x in joint.joint.axis)
    axis = {Planar: (0.0, 0.0, 1.0)}.get(type(joint), getattr(joint, "axis", None))
    return TYPES.get(type(joint)), axis


class _Robot:
    """One run of the writer: adds links and joints to the element ``<robot>``."""

    def __init__(self, model, robot, features: UnsupportedFeatures, mesh_names: MeshNames) -> None:
        self.model, self.robot, self.features, self.mesh_names = model, robot, features, mesh_names
        # The frame of the world that is the root link of a robot welded there.
        welds = [frame for frame in model.frames[1:] if frame.body == 0 and frame.is_identity]
        roots = (frame for frame in welds if model.welded.get(f"{frame.name}_to_world") == frame.name)
        self.root = next(roots, None)
        self.links = [model.body_names[0] if self.root is None else self.root.name, *model.body_names[1:]]
        self.joint_of_frame = {frame: joint for joint, frame in model.welded.items()}
        self.joint_names = Names((*model.joint_names, *model.welded))
        self.link_names = Names(frame.name for frame in model.frames)
        self.masters = {model.joint(c.joint): c for c in model.couplings}

    def write(self) -> None:
        """Links and joints, depth first; every joint stands before the link that it carries."""
        model, features = self.model, self.features
        inertia = self._world_inertia()
        self._link(self.links[0], inertia.get(self.links[0], Inertia.zero()), model.geometry[0])
        carried = attachments(model)
        waiting = carried[0][::-1]
        while waiting:
            item = waiting.pop()
            if not isinstance(item, Frame):
                self._body(item)
                waiting += carried[item][::-1]
            elif item is not self.root:
                self._fixed(item, inertia.get(item.name, Inertia.zero()))
        if not is_depth_first(model):
            features.note("", "bodies are read depth first, so q has another order than in this model", "warning")
        if any(joint.nv == 0 for joint in model.joints[1:]):
            features.note("", "bodies on fixed joints are read as frames; merge_fixed=False keeps them bodies")

    def _world_inertia(self) -> dict[str, Inertia]:
        """The link that carries the inertia of all parts welded to the world, the root if there is one."""
        I = self.model.I[0]
        if self.root is not None:
            return {self.root.name: I}
        if not any((I.m, *I.h, *I.I)):
            return {}
        welded = [f for f in self.model.frames[1:] if f.body == 0]
        if not welded:
            self.features.note("body 'world'", "inertia fixed to the world left out: no link carries it; no effect")
            return {}
        frame = next((f for f in welded if f.is_identity), welded[0])
        return {frame.name: frame.X_FB @ I}

    def _body(self, i: int) -> None:
        model, features = self.model, self.features
        joint, name = model.joints[i], model.joint_name(i)
        kind, axis = _plain(joint)
        if type(joint) is Reversed:
            features.note(f"joint {name!r}", f"reversed: written as {kind} about the opposite axis")
        v = model.v_slice[i]
        limited = joint.nv == 1 and (np.isfinite(model.lower[v]) | np.isfinite(model.upper[v]))[0]
        if kind == "revolute" and not limited:
            kind = "continuous"
        element = self._joint(name, kind, self.links[model.parent[i]], model.body_names[i], model.X_T[i])
        if axis is not None:
            add(element, "axis", xyz=numbers_text(axis))
        if joint.nv == 1:
            self._drive(element, i, kind)
        self._link(model.body_names[i], model.I[i], model.geometry[i])
        own = model.frames[i]
        if not own.is_identity:
            spare = self.link_names.new(f"{own.name}_frame")
            message = f"the frame of this name is not at the joint, where the link is; written as link {spare!r}"
            features.note(f"body {own.name!r}", message, "warning")
            self._fixed(Frame(spare, i, own.R_BF, own.p_BF), Inertia.zero())

    def _drive(self, element, i: int, kind: str) -> None:
        """``<limit>``, ``<dynamics>`` and ``<mimic>`` of a joint with one variable."""
        model, v = self.model, self.model.v_slice[i]
        limits = {name: float(getattr(model, what)[v][0]) for name, what in LIMITS.items()}
        if kind == "continuous":
            del limits["lower"], limits["upper"]
        if kind != "continuous" or any(map(math.isfinite, limits.values())):
            written = {name: number_text(min(max(x, -NO_LIMIT), NO_LIMIT)) for name, x in limits.items()}
            add(element, "limit", **written)
        acting = {name: float(getattr(model, what)[v][0]) for name, what in DYNAMICS.items()}
        dynamics = {name: number_text(x) for name, x in acting.items() if x}
        if dynamics:
            add(element, "dynamics", **dynamics)
        if (c := self.masters.get(i)) is not None:
            offset = {"offset": number_text(c.offset)} if c.offset else {}
            add(element, "mimic", joint=c.master, multiplier=number_text(c.ratio), **offset)

    def _fixed(self, frame: Frame, I: Inertia) -> None:
        joint = self.joint_of_frame.get(frame.name) or self.joint_names.new(f"{frame.name}_fixed")
        self._joint(joint, "fixed", self.links[frame.body], frame.name, frame.X_FB)
        self._link(frame.name, I, ())

    def _joint(self, name: str, kind: str, parent: str, child: str, X):
        element = add(self.robot, "joint", name=name, type=kind)
        _origin(element, *pose_of_transform(X))
        add(element, "parent", link=parent)
        add(element, "child", link=child)
        return element

    def _link(self, name: str, I: Inertia, shapes) -> None:
        link = add(self.robot, "link", name=name)
        if any((I.m, *I.h, *I.I)):
            mass, com, I_com = central(I)
            tensor = np.array(I_com.matrix.rows)
            if broken := violation(mass, tensor):
                self.features.note(f"link {name!r}", f"{broken}; it is read with inertia='accept'", "warning")
            inertial = add(link, "inertial")
            _origin(inertial, np.eye(3), np.array(com))
            add(inertial, "mass", value=number_text(mass))
            add(inertial, "inertia", **{name: number_text(getattr(I_com, name[1:])) for name in ENTRIES})
        for role in ("visual", "collision"):
            for shape in shapes:
                if shape.role in (role, "both"):
                    self._shape(link, name, role, shape)
        write_surface(link, name, shapes, self.features)

    def _shape(self, link, body: str, role: str, shape: Geometry) -> None:
        what = f"{shape.kind} {shape.name!r} of body {body!r}" if shape.name else f"{shape.kind} of body {body!r}"
        if shape.role == "both" and role == "visual":
            self.features.note(what, "seen and touched: written twice, as visual and as collision")
        if shape.kind in ("ellipsoid", "plane", "heightfield"):
            if role == shape.role or role == "visual":
                self.features.add(f"{shape.kind}s", what)
            return
        filename = self.mesh_names(shape)
        if shape.kind == "mesh" and filename is None:
            return
        element = add(link, role, **({"name": shape.name} if shape.name else {}))
        _origin(element, shape.R_BG, shape.p_BG)
        geometry = add(element, "geometry")
        if shape.kind == "mesh":
            scale = {"scale": numbers_text(shape.scale)} if tuple(shape.scale) != (1.0, 1.0, 1.0) else {}
            add(geometry, "mesh", filename=filename, **scale)
        elif shape.kind == "box":
            add(geometry, "box", size=numbers_text(shape.size))
        else:
            if shape.kind == "capsule":  # left out by readers that take the file for version 1.0
                self.robot.set("version", spelled(CAPSULES))
            add(geometry, shape.kind, **dict(zip(("radius", "length"), map(number_text, shape.size), strict=False)))
        if shape.material or shape.color is not None:
            material = add(element, "material", name=shape.material)
            if shape.color is not None:
                add(material, "color", rgba=numbers_text(shape.color))
            if shape.texture is not None and shape.texture.file is not None:
                add(material, "texture", filename=shape.texture.file)
        if shape.texture is not None and (shape.texture.pattern or not (shape.material or shape.color is not None)):
            self.features.omit("patterns of materials", what)


def _origin(element, R: np.ndarray, p: np.ndarray) -> None:
    pose = {name: numbers_text(x) for name, x in (("xyz", p.tolist()), ("rpy", rpy_of(R))) if any(x)}
    if pose:
        add(element, "origin", **pose)
