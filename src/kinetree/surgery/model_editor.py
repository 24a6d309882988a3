"""A model taken apart: bodies that are welded, cut off, re-framed and attached elsewhere, and then built again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kinetree.arguments import listed
from kinetree.errors import ModelError
from kinetree.joints import Fixed, Free, Joint
from kinetree.model import Model, ModelBuilder
from kinetree.model.builder import WORLD
from kinetree.model.parts import Geometry
from kinetree.spatial import Inertia, Transform

ENDLESS = "plane"  # a shape that belongs to the world and can be on nothing that moves


class ModelEditor(ModelBuilder):
    """The records of a model, with the steps of which surgery consists.

    ``ModelEditor.of(model)`` copies the records, so the model is not changed. Bodies are cut and joined by name; the
    world is the body ``WORLD``, which is stored apart.
    """

    def result(self) -> Model:
        """The model that the records now describe; fixed joints stay as they are."""
        return self.build(merge_fixed=False)

    # Questions -------------------------------------------------------------------------------------------------------

    def roots(self) -> list[str]:
        """The bodies attached to the world."""
        return [body.name for body in self._bodies.values() if body.parent == WORLD]

    def joint_names(self) -> list[str]:
        """The joints that are not merged away."""
        return [body.joint_name for body in self._bodies.values()]

    def free_joint_name(self, wish: str, replaced: str = "") -> str:
        """A name that no other joint has, merged ones included: the wish, with a number if that is taken."""
        taken = {*self.joint_names(), *self._welded} - {replaced}
        name, number = wish, 2
        while name in taken:
            name, number = f"{wish}_{number}", number + 1
        return name

    def frame_names(self) -> list[str]:
        """The frames, those of the bodies and of the world among them."""
        return [WORLD, *self._bodies, *(name for name in self._frames if name != WORLD and name not in self._bodies)]

    def body_of(self, frame: str) -> str:
        """The body that carries a frame."""
        return frame if frame == WORLD or frame in self._bodies else self._frames[frame][0]

    def pose_of(self, frame: str) -> Transform:
        """X_FB of a frame."""
        return self._frames[frame][1] if frame in self._frames else Transform.identity()

    def frames_on(self, body: str) -> list[str]:
        """The frames of a body besides its own."""
        return [name for name, (on, _) in self._frames.items() if on == body and name != body]

    # Steps -----------------------------------------------------------------------------------------------------------

    def absorb(self, name: str, q: Sequence[float] = ()) -> None:
        """Weld a body to its parent, its joint at position q: all that it carries becomes the parent's."""
        body = self._bodies.pop(name)
        X, parent = body.joint.transform(q) @ body.X, body.parent
        self._give_inertia(parent, X.inverse_apply(body.inertia))
        self._shapes(parent).extend(shape.seen_from(X, name) for shape in body.geometry)
        for child in self._bodies.values():
            if child.parent == name:
                child.parent, child.X = parent, child.X @ X
        self._frames.setdefault(name, (name, Transform.identity()))
        for frame in [frame for frame, (on, _) in self._frames.items() if on == name]:
            self._frames[frame] = (parent, self._frames[frame][1] @ X)
        self._lock_gears(body.joint_name, "its joint stands still")
        self._drop_forces("lock", (), (body.joint_name,))
        self._shift_rotors(name, parent, X.inverse())
        del self._joint_names[body.joint_name]
        self._welded[body.joint_name] = name

    def reframe(self, name: str, Y: Transform) -> None:
        """Give a body other coordinates, Y from the old to the new; its joint's place is left to the caller."""
        body, back = self._bodies[name], Y.inverse()
        body.inertia = Y @ body.inertia
        self._shift_rotors(name, name, Y)
        body.geometry = [shape.seen_from(back) for shape in body.geometry]
        for child in self._bodies.values():
            if child.parent == name:
                child.X = child.X @ back
        self._frames.setdefault(name, (name, Transform.identity()))  # the frame by this name stays where it is
        for frame in [frame for frame, (on, _) in self._frames.items() if on == name]:
            self._frames[frame] = (name, self._frames[frame][1] @ back)

    def embody_world(self, name: str, joint_name: str, X: Transform | None = None) -> None:
        """Make a body of the parts welded to the world, still fixed there, in coordinates that X leads to.

        Free bodies stay on the world, and so do endless planes, which are its floors.
        """
        X = X if X is not None else Transform.identity()
        back = X.inverse()
        carried = [body for body in self._bodies.values() if body.parent == WORLD and not isinstance(body.joint, Free)]
        for joint in [joint for joint, frame in self._welded.items() if frame == name]:
            del self._welded[joint]
        self.add_body(name, WORLD, Fixed(), joint_name, X)
        base = self._bodies.pop(name)
        self._bodies = {name: base, **self._bodies}  # first, so that the numbering stays regular
        base.inertia, self._world_inertia = X @ self._world_inertia, Inertia.zero()
        base.geometry = [shape.seen_from(back) for shape in self._world_geometry if shape.kind != ENDLESS]
        self._world_geometry = [shape for shape in self._world_geometry if shape.kind == ENDLESS]
        for frame in self.frames_on(WORLD):
            self._frames[frame] = (name, self._frames[frame][1] @ back)
        self._frames.pop(name, None)
        free = {j for j in self._joint_names if self._root_of(self._joint_names[j]) not in {b.name for b in carried}}
        self._shift_rotors(WORLD, name, X, free)
        for body in carried:
            body.parent, body.X = name, body.X @ back

    def set_joint(self, name: str, joint: Joint, joint_name: str, X: Transform) -> None:
        """Place a body on the same parent by another joint, without armature, friction, springs and limits."""
        body = self._bodies[name]
        self.forget_joint(body.joint_name)
        body.joint, body.joint_name, body.X, body.data = joint, joint_name, X, {}
        self._joint_names[joint_name] = name

    def forget_joint(self, joint_name: str) -> None:
        """Take out references to a joint that is replaced."""
        self._lock_gears(joint_name, "its joint is replaced")
        del self._joint_names[joint_name]
        self._cut_references(frames=(), joints=(joint_name,))

    def cut(self, bodies: Collection[str]) -> None:
        """Leave bodies out, with their joints, frames, shapes and equipment; the report lists all that crossed it."""
        bodies = set(bodies)
        if not bodies:
            return
        frames = {frame for frame in self.frame_names() if self.body_of(frame) in bodies}
        joints = [body.joint_name for body in self._bodies.values() if body.name in bodies]
        mass = sum(self._bodies[name].inertia.m for name in bodies)
        self.note("info", "cut", f"left out {listed(sorted(bodies))} with {mass:.6g} kg")
        self._cut_references(frames, joints)
        self._cut_rotors(bodies, joints)
        self._bodies = {name: body for name, body in self._bodies.items() if name not in bodies}
        self._frames = {name: frame for name, frame in self._frames.items() if name not in frames}
        self._forget_welds(frames)
        for joint in joints:
            del self._joint_names[joint]

    def clear_world(self) -> None:
        """Leave out all that is welded to the world."""
        frames = self.frames_on(WORLD)
        self._cut_references(frames, ())
        self._frames = {name: frame for name, frame in self._frames.items() if name not in frames}
        self._forget_welds(frames)
        self._world_geometry, self._world_inertia = [], Inertia.zero()

    # Their parts -----------------------------------------------------------------------------------------------------

    def _forget_welds(self, frames: Collection[str]) -> None:
        self._welded = {joint: frame for joint, frame in self._welded.items() if frame not in frames}

    def _give_inertia(self, name: str, I: Inertia) -> None:
        if name == WORLD:
            self._world_inertia = self._world_inertia + I
        else:
            self._bodies[name].inertia = self._bodies[name].inertia + I

    def _root_of(self, body: str) -> str:
        while self._bodies[body].parent != WORLD:
            body = self._bodies[body].parent
        return body

    def named_parts(self) -> dict[str, set[str]]:
        """Names of the parts that have names of their own, by kind."""
        parts = {"rotor": [x for *_, x in self._gears], "force element": self._forces, "contact pair": self._contacts}
        return {kind: {x.name for x in found} for kind, found in parts.items()}

    def _lock_gears(self, joint_name: str, why: str) -> None:
        """Rotors whose joint goes stand still in their stators, which contain them already."""
        for joint, on, rotor in self._gears:
            if joint == joint_name:
                self.note("info", "gears", f"{rotor} is locked in {on!r}: {why}")
        self._gears = [gear for gear in self._gears if gear[0] != joint_name]

    def _shift_rotors(self, stator: str, to: str, X: Transform, but: Collection[str] = ()) -> None:
        """Give the rotors in a body, but those of some joints, to another one; X leads to its coordinates."""
        for k, (joint, on, rotor) in enumerate(self._gears):
            if on == stator and joint not in but:
                self._gears[k] = (joint, to, rotor.seen_from(X))

    def _cut_rotors(self, bodies: Collection[str], joints: Collection[str]) -> None:
        """Leave out the rotors of joints that go, and those in bodies that go.

        A joint of a cut stands still, and so does its support: its rotors do not turn but with the joint.
        """
        gears, self._gears = self._gears, []
        for joint, on, rotor in gears:
            if joint in joints:
                if on not in bodies:
                    self.note("info", "cut", f"{rotor} is locked in {on!r}: joint {joint!r} is not there any more")
            elif on not in bodies:
                self._gears.append((joint, on, rotor))
            elif self._carries(self._joint_names[joint], on):
                self.note("dropped", "cut", f"{rotor} of joint {joint!r}: its stator {on!r} is not there any more")
            else:
                self.note("info", "cut", f"{rotor}: its stator {on!r} stands still")
                self._gears.append((joint, WORLD, rotor))

    def _carries(self, body: str, other: str) -> bool:
        while other not in (WORLD, body):
            other = self._bodies[other].parent
        return other == body

    def _shapes(self, name: str) -> list[Geometry]:
        return self._world_geometry if name == WORLD else self._bodies[name].geometry

    def _drop_forces(self, step: str, frames: Collection[str], joints: Collection[str]) -> None:
        """Take out force elements that need removed parts."""
        for force in self._forces:
            if lost := [*({*force.frames} & {*frames}), *({*force.joints} & {*joints})]:
                self.note("dropped", step, f"force element {force.name!r}: {listed(sorted(lost))} not there any more")
                self._forces = [other for other in self._forces if other is not force]

    def _drop_contacts(self, frames: Collection[str]) -> None:
        """Take out contact pairs with a shape on a removed part; report those of which the other shape stays."""
        lost = {pair.name: [frame in frames for frame in pair.frames] for pair in self._contacts}
        for pair in self._contacts:
            stays = [frame for frame in pair.frames if frame not in frames]
            if len(stays) == 1 and stays[0] != WORLD:
                gone = pair.frames[lost[pair.name].index(True)]
                self.note("dropped", "cut", f"{pair}: frame {gone!r} is not there any more")
        self._contacts = [pair for pair in self._contacts if not any(lost[pair.name])]

    def _cut_references(self, frames: Collection[str], joints: Collection[str]) -> None:
        """Take out couplings and equipment that need removed parts; report those that also need remaining ones."""
        going = set(joints)
        for c in list(self._constraints):
            lost = [f"joint {name!r}" for name in c.joints if name in going]
            lost += [f"frame {name!r}" for name in c.frames if name in frames]
            if 0 < len(lost) < len(c.joints) + len(c.frames):
                self.note("dropped", "cut", f"{c}: {lost[0]} is not there any more")
            if lost:
                self._constraints.remove(c)
        self._drop_forces("cut", frames, joints)
        self._drop_contacts(frames)
        stay_frames = [name for name in self.frame_names() if name not in frames]
        stay_joints = [name for name in self.joint_names() if name not in going]
        shapes = {True: [], False: []}  # by whether they stay
        for body in (WORLD, *self._bodies):
            shapes[body not in frames] += [shape.name for shape in self._shapes(body)]
        rest = self.equipment.missing(frames, joints, shapes[False])  # what is not on the removed part alone
        for piece, names in self.equipment.missing(stay_frames, stay_joints, shapes[True]).items():
            if piece in rest:
                level = "dropped" if piece in self.equipment.acting else "info"
                self.note(level, "cut", f"{piece}: {listed(sorted(names))} not there any more")
        before = {loop.name for loop in self.equipment.loops}
        self.equipment = self.equipment.restricted(stay_frames, stay_joints, shapes[True])
        self._drop_forces("cut", (), before - {loop.name for loop in self.equipment.loops})


def checked_body(model: Model, name: str | int, what: str) -> str:
    """The name of a moving body.

    Raises
    ------
    UnknownNameError, ModelError
        If there is no such body, or it is the world.
    """
    i = model.body(name)
    if i == 0:
        raise ModelError(f"{what}: the world is no part of a robot; bodies of model {model.name!r}: "
                         f"{', '.join(model.body_names[1:9])}", body=WORLD)  # fmt: skip
    return model.body_names[i]


def as_names(value: object) -> list[str]:
    """One name, or several."""
    return [value] if isinstance(value, str) else list(value)


def as_mapping(value: object) -> dict[str, object]:
    """Names with values, or names alone, whose values are None."""
    return dict(value) if isinstance(value, Mapping) else dict.fromkeys(as_names(value))
