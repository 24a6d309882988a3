"""``to_mjcf``: the text of an MJCF file from a Model.

A body is a body with its joints; a frame that a fixed joint left behind is a body without joints, any other frame a
site. Everything else refers to them by name.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kinetree.arguments import a_model, a_word, checked
from kinetree.io.free_names import Names
from kinetree.io.mjcf.contacts import write_contacts
from kinetree.io.mjcf.write_constraints import with_equalities
from kinetree.io.mjcf.write_equipment import EquipmentWriter
from kinetree.io.mjcf.write_forces import WrittenForces
from kinetree.io.mjcf.write_inertia import write_inertia
from kinetree.io.mjcf.write_joints import Part, Place, joint_attributes, places, settle_physics
from kinetree.io.mjcf.write_shapes import Shapes, pose
from kinetree.io.mjcf.write_states import States, shown_positions
from kinetree.io.number_text import number_text, numbers_text, quaternion_of, unshifted
from kinetree.io.writing import MeshNames, UnsupportedFeatures, add, attachments, is_depth_first, text_of
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import Frame, Report
from kinetree.spatial import Inertia
from kinetree.tendons import WrapShape

DEEPEST = 250  # our reader ends at 256 elements inside each other, MuJoCo's parser at 500


@checked(model=a_model, unsupported=a_word, meshes=a_word)
def to_mjcf(model, *, unsupported: str = "raise", meshes: str = "keep") -> str:
    """The text of an MJCF file of a model.

    Parameters
    ----------
    model : Model
    unsupported : {"raise", "drop"}
        Treatment of features that MJCF does not support: stops, springs of single freedoms of a ball joint, other
        loop joints than connect and weld. Joints that are no hinges and slides in a row are always refused.
    meshes : {"keep", "drop"}
        MuJoCo refuses files with missing meshes. Those that it cannot read (all but stl, obj, msh) are left out.

    Returns
    -------
    str

    Raises
    ------
    UnsupportedError

    Notes
    -----
    Universal, cylindrical, planar and Euler joints are written as hinges and slides in a row, with other names. MuJoCo
    refuses moving bodies without mass, points and rods: they get the smallest mass and moments that it takes, 2e-15.
    ``kt.save`` also returns a report, which lists these places. Velocity limits and names of merged fixed joints
    have no place in the format.

    Examples
    --------
    >>> import kinetree as kt
    >>> print("".join(kt.io.to_mjcf(kt.models.satellite()).splitlines(keepends=True)[2:6]), end="")
    <mujoco model="satellite">
      <compiler angle="radian" autolimits="false" inertiafromgeom="false"/>
      <option gravity="0 0 0"/>
      <worldbody>
    """
    return mjcf_text(model, unsupported=unsupported, meshes=meshes)[0]


def mjcf_text(
    model, *, unsupported: str = "raise", meshes: str = "keep", folder: Path | None = None
) -> tuple[str, Report]:
    """The text and the report; ``folder`` is where the file goes, for relative names of meshes."""
    features = UnsupportedFeatures(model, "MJCF", unsupported)
    forces = WrittenForces(model)
    settle_physics(model, features, forces.left)
    model = features.model = with_equalities(model, features)
    file = MjcfFile(model, features, MeshNames(meshes, folder, features), forces)
    file.write()
    return text_of(file.root), features.report()


class MjcfFile:
    """One run of the writer.

    Attributes
    ----------
    parts : list of Part
        The joints in the order of the file, which is that of MuJoCo's qpos and qvel.
    states : States
        Where the file shows the robot.
    """

    def __init__(self, model, features: UnsupportedFeatures, mesh_names: MeshNames, forces: WrittenForces) -> None:
        self.model, self.features, self.forces = model, features, forces
        self.root = add(None, "mujoco", model=model.name)
        add(self.root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
        add(self.root, "option", gravity=numbers_text(model.gravity), **forces.fluid)
        asset = add(self.root, "asset")
        self.wrapped = _wrapped(model)
        self.shapes = Shapes(asset, mesh_names, features, {id(shape): name for name, shape in self.wrapped.items()})
        self.places = places(model, features, _referred(model), shown_positions(model))
        self.place_of = {i: place for place in self.places.values() for i in place.bodies}
        self.parts: list[Part] = []
        self.parts_of: dict[str, list[Part]] = {name: [] for name in model.joint_names}
        self.states = States(model, [part for place in self.places.values() for part in place.parts], features)
        self.elements: dict[int, object] = {}
        self.own_bodies = {model.body_names[0]}  # frames that are the frame of a body of the file
        self.bodies = {model.body_names[0]}  # names of all bodies of the file
        self.sites: dict[str, int] = {}  # to the body they are on
        self.merged: list[str] = []  # bodies without joints, which are read as frames
        self.names = Names(frame.name for frame in model.frames)
        self.welded = set(model.welded.values()) - set(self.wrapped)

    def write(self) -> None:
        """The whole file, in the order of MuJoCo's own files."""
        model, features = self.model, self.features
        world = self.elements[0] = add(self.root, "worldbody")
        for shape in model.geometry[0]:
            self.shapes.geom(world, shape, model.body_names[0], False, np.zeros(3))
        carrier = self._world_carrier()
        carried = attachments(model)
        moving = _moving(model)
        waiting = carried[0][::-1]
        while waiting:
            item = waiting.pop()
            if isinstance(item, Frame):
                self._frame(item, model.I[0] if item is carrier else Inertia.zero())
            else:
                if item in self.places:
                    self._body(self.places[item], moving[item])
                waiting += carried[item][::-1]
        if len(self.root.find("asset")) == 0:
            self.root.remove(self.root.find("asset"))
        EquipmentWriter(self).write()
        write_contacts(self.root, model, self.bodies, self.shapes.written, features)
        if not is_depth_first(model):
            features.note("", "bodies are read depth first, so q has another order than in this model", "warning")
        if max(model.depth) > DEEPEST:
            message = f"{max(model.depth)} bodies in a chain: kinetree reads {DEEPEST} of them, MuJoCo about 490"
            features.note("", message, "warning")
        order = [*self.merged, *sorted(self.sites, key=self.sites.get)]
        if [f.name for f in model.frames[model.nb :] if f.name not in self.wrapped] != order:
            features.note("", "further frames are read in another order: merged bodies first, then sites body by body")
        fixed = Names(part.name for part in self.parts)
        read = {frame: fixed.new(frame) for frame in self.merged}
        for joint, frame in model.welded.items():
            if read.get(frame) != joint:
                features.omit("names of fixed joints", repr(joint))

    # The tree --------------------------------------------------------------------------------------------------------

    def _body(self, place: Place, moving: bool) -> None:
        model, i = self.model, place.body
        first, name = place.bodies[0], model.body_names[i]
        parent = model.parent[first]
        attributes = {"name": name} | self._placement(place, parent)
        if i in self.forces.gravcomp:
            attributes["gravcomp"] = self.forces.gravcomp[i]
        element = self.elements[i] = add(self.elements[parent], "body", **attributes)
        self.bodies.add(name)
        for part in place.parts:
            self.parts.append(part)
            self.parts_of[model.joint_name(part.body)].append(part)
            self._joint(element, part)
        write_inertia(element, name, model.I[i], place.shift, bool(place.parts), self.features)
        for shape in model.geometry[i]:
            self.shapes.geom(element, shape, name, moving, place.shift)
        if not place.parts and model.joint_name(i) != name:
            self.features.omit("names of fixed joints", repr(model.joint_name(i)))
        if not place.spare:
            self.own_bodies.add(name)
            return
        own, spare = model.frames[i], self.names.new(f"{name}_frame")
        message = f"the frame of this name is not one that MuJoCo can give the body; written as site {spare!r}"
        self.features.note(f"body {name!r}", message, "warning")
        add(element, "site", name=spare, **pose(own.R_BF, own.p_BF))
        self.sites[spare] = i

    def _placement(self, place: Place, parent: int) -> dict[str, str]:
        """Where the file's frame of a body is in that of its parent while its joints are at zero."""
        if place.parts and place.parts[0].kind == "free":
            at = self.states.shown(place.parts[0])
            if self.states.placement(place.parts[0]) is not None:
                message = "its q is the pose in the world in the file, not relative to its placement in the model"
                self.features.note(f"joint {place.parts[0].name!r}", message, "warning")
            position = {"pos": numbers_text(at[:3])} if any(at[:3]) else {}
            turned = tuple(at[3:]) != (1.0, 0.0, 0.0, 0.0)
            return position | ({"quat": numbers_text(at[3:])} if turned else {})
        shift = self.place_of[parent].shift if parent else np.zeros(3)
        lever = rotation_of_quaternion(quaternion_of(place.R)) @ place.first_anchor
        # The reader adds the shift of the parent's frame, then the way from the body's frame to the anchor.
        return pose(place.R, unshifted(place.p.tolist(), shift.tolist(), lever.tolist()))

    def _joint(self, element, part: Part) -> None:
        if part.kind == "free" and not np.any(self.model.damping[part.v]):
            add(element, "freejoint", name=part.name)
            return
        attributes = {"name": part.name, "type": part.kind}
        if part.kind != "free" and part.anchor.any():
            attributes["pos"] = numbers_text(part.anchor.tolist())
        if part.axis is not None:
            attributes["axis"] = numbers_text(part.axis)
        if part.ref:
            attributes["ref"] = number_text(part.ref)
        attributes |= joint_attributes(self.model, part, self.features)
        if (more := self.forces.higher.get(self.model.joint_name(part.body))) is not None:
            for what in ("stiffness", "damping"):
                if coefficients := getattr(more, f"higher_{what}"):
                    attributes[what] = numbers_text((float(getattr(self.model, what)[part.v][0]), *coefficients))
        add(element, "joint", **attributes)

    # Frames ----------------------------------------------------------------------------------------------------------

    def _frame(self, frame: Frame, I: Inertia) -> None:
        if frame.name in self.wrapped:
            return
        heavy = any((I.m, *I.h, *I.I))
        if frame.name not in self.welded and not heavy:
            self._site(frame.name, frame)
            return
        element = self.attach("body", frame.name, frame)
        self.own_bodies.add(frame.name)
        self.bodies.add(frame.name)
        self.merged.append(frame.name)
        if heavy:
            write_inertia(element, frame.name, frame.X_FB @ I, np.zeros(3), False, self.features)

    def attach(self, tag: str, name: str, frame: Frame, **attributes: str):
        """A new body, site or geom at a frame."""
        place = self.place_of.get(frame.body)  # none of the world
        shift = place.shift if place else np.zeros(3)
        host = self.elements[place.body if place else 0]
        at = pose(frame.R_BF, unshifted(frame.p_BF.tolist(), shift.tolist()))
        return add(host, tag, name=name, **attributes, **at)

    def _site(self, name: str, frame: Frame) -> None:
        self.attach("site", name, frame)
        self.sites[name] = frame.body

    def site(self, frame: str) -> str:
        """The name of a site at a frame, made if the frame is none."""
        if frame not in self.sites:
            name = f"{frame}_site"
            if name not in self.sites:
                name = self.names.new(name)
                self._site(name, self.model.frame(frame))
                self.features.note(f"frame {frame!r}", f"a body; elements that need a site there get {name!r}")
            return name
        return frame

    def extra_site(self, wish: str, frame: str, R: np.ndarray, p: np.ndarray) -> str:
        """A new site at a pose in a frame."""
        at = self.model.frame(frame)
        name = self.names.new(wish)
        self._site(name, Frame(name, at.body, at.R_BF @ R, at.p_BF + at.R_BF @ p))
        self.features.note(f"site {name!r}", "made for a point whose place there has no frame")
        return name

    def _world_carrier(self) -> Frame | None:
        """The frame that is written as a body with the inertia of all that is welded to the world."""
        I = self.model.I[0]
        if not any((I.m, *I.h, *I.I)):
            return None
        frames = [f for f in self.model.frames[1:] if f.body == 0]
        if not frames:
            self.features.note("body 'world'", "inertia fixed to the world left out: no frame carries it; no effect")
            return None
        return min(frames, key=lambda f: (f.name not in self.welded, not f.is_identity))


def _referred(model) -> set[str]:
    """Names of frames that equipment refers to."""
    found: set[str] = set()

    def seen(name: str) -> str:
        found.add(name)
        return name

    replace(model.equipment, contact_excludes=()).renamed(seen, str, str)  # exclusions need no poses
    return found


def _wrapped(model) -> dict[str, object]:
    """Frames around which tendons wrap, and the shapes there that carry their names; reading makes such frames."""
    found: dict[str, object] = {}
    for part in (part for tendon in model.tendons for part in tendon.path if isinstance(part, WrapShape)):
        frame = model.frame(part.frame)
        for shape in model.geometry[frame.body]:
            alike = shape.kind == part.kind and shape.size[0] == part.radius and shape.name in ("", frame.name)
            if alike and all(
                np.allclose(*pair, rtol=0, atol=1e-12) for pair in ((shape.p_BG, frame.p_BF), (shape.R_BG, frame.R_BF))
            ):
                found.setdefault(frame.name, shape)
    return found


def _moving(model) -> list[bool]:
    """Whether a body can move."""
    moving = [False] * model.nb
    for i in model.outward():
        moving[i] = moving[model.parent[i]] or model.joints[i].nv > 0
    return moving
