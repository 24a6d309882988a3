"""Loop joints, couplings, equalities, tendons, actuators and keyframes of a model in an MJCF file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.forces.contract import present
from kinetree.forces.registry import COEFFICIENTS
from kinetree.io.mjcf.equipment import LAWS
from kinetree.io.mjcf.write_joints import UNIFORM, range_attributes
from kinetree.io.number_text import number_text, numbers_text, quaternion_of, undone
from kinetree.io.writing import add
from kinetree.joints import Fixed, Revolute, Spherical
from kinetree.model.equipment import EVERYWHERE, LoopJoint, RotationLimit
from kinetree.model.loop_joints import DATA
from kinetree.model.parts import pose_of_transform
from kinetree.spatial import Transform, Vector3
from kinetree.state_kinematics import Kinematics
from kinetree.tendons import JointTerm, Pulley, ViaPoint, WrapShape, path_length

MOST_COEFFICIENTS = 5
SAME_POINT = 1e-12  # [m]
ON_AXIS = 0.1  # [m] between the two points of a hinge
GROUP_OFF = "30"  # of actuators that are switched off
# Types that <general> describes in full; the inputs, states and plugins that other types need are not kept.
WHOLE = {
    "dynamics": {"none", "integrator", "filter", "filterexact", "muscle", "user"},
    "gain": {"fixed", "affine", "muscle", "user"},
    "bias": {"none", "affine", "muscle", "user"},
}


class EquipmentWriter:
    """Adds the sections after the bodies to an MjcfFile; an element that is left out takes its references with it."""

    def __init__(self, file) -> None:
        self.file, self.model, self.features, self.root = file, file.model, file.features, file.root
        self.tendons: set[str] = set()
        self.actuators: list = []  # that are written

    def write(self) -> None:
        model = self.model
        # Couplings first: the reader takes the first linear one for a joint as its coupling.
        rows = (self._coupling, model.couplings), (self._loop, model.loops), (self._constraint, model.equalities)
        tendons, actuators = (self._tendon, model.tendons), (self._actuator, model.actuators)
        for tag, writers in (("tendon", (tendons,)), ("equality", rows), ("actuator", (actuators,))):
            section = add(self.root, tag)
            for write, pieces in writers:
                for piece in pieces:
                    write(section, piece)
            if len(section) == 0:
                self.root.remove(section)
        self.file.states.write_keys(self.root, self.file.parts, self.actuators)

    def _joint(self, name: str | None) -> str | None:
        """A joint's name in the file, if it is one there."""
        parts = self.file.parts_of.get(name, [])
        return parts[0].name if len(parts) == 1 else None

    def _target(self, kind: str, name: str | None) -> str | None:
        """The name in the file of the target of an actuator or equality, if it is there; a frame gets a site."""
        if kind in ("joint", "joint_in_parent"):
            return self._joint(name)
        if kind in ("tendon", "body"):
            return name if name in (self.tendons if kind == "tendon" else self.file.own_bodies) else None
        return self.file.site(name)

    # Equalities ----------------------------------------------------------------------------------------------------

    def _q0(self, joint: str) -> float:
        return float(self.file.states.q0[self.model.q_index(joint)][0])

    def _length0(self, tendon) -> float:
        """The length where the file shows the robot."""
        return float(path_length(tendon.path, Kinematics(self.model, self.file.states.q0.tolist())))

    def _coupling(self, section, coupling) -> None:
        follower, master = self._joint(coupling.joint), self._joint(coupling.master)
        if coupling.ratio == 0.0:
            self.features.note(f"coupling of joint {coupling.joint!r}", "ratio 0: read as an equality", "warning")
        y0, x0 = self._q0(coupling.joint), self._q0(coupling.master)
        # MuJoCo's polynomial is about the positions in which the file shows the joints.
        offset = undone(coupling.offset, lambda c: c - y0 + coupling.ratio * x0, lambda c: y0 + c - coupling.ratio * x0)
        polynomial = numbers_text((offset, coupling.ratio, 0.0, 0.0, 0.0))
        add(section, "joint", joint1=follower, joint2=master, polycoef=polynomial)

    def _loop(self, section, loop) -> None:
        for what in COEFFICIENTS:
            if any(map(present, loop.along(what))):
                self.features.add(f"{what.replace('_', ' ')} of loop joints", repr(loop.name))
        if loop.has_limits:
            self.features.add("limits of loop joints", repr(loop.name))
        if type(loop.joint) is Revolute:
            self._hinge(section, loop)
            return
        tag = {Spherical: "connect", Fixed: "weld"}.get(type(loop.joint))
        if tag is None:
            known = "ball joints (connect), hinges (two of them) and fixed ones (weld)"
            self.features.add(f"loop joints besides {known}", str(loop))
            return
        (R_P, p_P), (R_S, p_S) = map(pose_of_transform, (loop.X_P, loop.X_S))
        first, second = loop.predecessor, loop.successor
        on_bodies = {first, second} <= self.file.own_bodies
        still = not p_P.any() and not p_S.any() and np.array_equal(R_P, np.eye(3)) and np.array_equal(R_S, np.eye(3))
        if {first, second} <= self.file.sites.keys() and still:
            ends = {"site1": first, "site2": second}
        elif on_bodies and tag == "weld":
            relative = numbers_text((*p_P.tolist(), *quaternion_of(R_P @ R_S.T)))
            ends = {"body1": first, "body2": second, "anchor": numbers_text(p_S.tolist()), "relpose": relative}
            ends["torquescale"] = "1"
        elif on_bodies and self._meet(loop):
            ends = {"body1": first, "body2": second, "anchor": numbers_text(p_P.tolist())}
        else:
            site = self.file.extra_site
            ends = {"site1": site(f"{loop.name}_1", first, R_P, p_P), "site2": site(f"{loop.name}_2", second, R_S, p_S)}
        add(section, tag, **ends, name=loop.name, **_softness(loop))

    def _hinge(self, section, loop) -> None:
        """Two points of the axis coincide."""
        axis, second = Vector3(*loop.joint.axis) * ON_AXIS, f"{loop.name}_axis"
        while second in {other.name for other in (*self.model.loops, *self.model.equalities)}:
            second += "_"
        for name, shift in ((loop.name, Vector3.zero()), (second, axis)):
            X_P, X_S = (Transform.shift(shift) @ X for X in (loop.X_P, loop.X_S))
            point = {"name": name, "joint": Spherical(), "X_P": X_P, "X_S": X_S}
            none = {what: LoopJoint.__dataclass_fields__[what].default for what in DATA}
            self._loop(section, replace(loop, **point, **none))
        self.features.note(str(loop), f"written as two points of its axis, {loop.name!r} and {second!r}, held together")

    def _meet(self, loop) -> bool:
        """Whether the two points of a connect coincide where the file shows the robot, which MuJoCo assumes."""
        points = []
        for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
            R, p = self.file.states.pose_of(self.model.frame(name))
            points.append(p + R @ pose_of_transform(X)[1])
        return bool(np.abs(points[0] - points[1]).max() <= SAME_POINT * max(1.0, np.abs(points[0]).max()))

    def _constraint(self, section, c) -> None:
        if isinstance(c, RotationLimit):
            if not c.active:
                self.features.note(str(c), "switched off: left out")
            elif self._joint(c.joint) is None:
                self.features.add("limits of rotation of joints that are no ball joints", str(c))
            elif c.name:
                self.features.note(str(c), "written at its joint, without a name")
            return
        follower, master = self._target(c.of, c.follower), self._target(c.of, c.master)
        polynomial = self._coefficients(c)
        if follower is None or (c.master and master is None) or polynomial is None:
            self.features.add("equalities", str(c))
            return
        ends = {f"{c.of}1": follower} | ({f"{c.of}2": master} if master else {})
        add(section, c.of, name=c.name, **ends, polycoef=numbers_text(polynomial), **_softness(c))

    def _coefficients(self, c) -> list[float] | None:
        """The coefficients about the file's references; None if there is no such polynomial."""
        if len(c.coefficients) > MOST_COEFFICIENTS:
            return None
        x0, y0 = c.master_reference, c.follower_reference
        if c.of == "joint":
            x0, y0 = (x0 - self._q0(c.master) if c.master else x0), y0 - self._q0(c.follower)
        else:
            tendons = {t.name: t for t in self.model.tendons}
            x0 = _left(x0, self._length0(tendons[c.master])) if c.master else x0
            y0 = _left(y0, self._length0(tendons[c.follower]))
        if x0 == 0.0 and y0 == 0.0:
            return _padded(c.coefficients)
        shifted = np.polynomial.Polynomial(c.coefficients or (0.0,))(np.polynomial.Polynomial((-x0, 1.0))).coef
        shifted[0] += y0
        return _padded(shifted.tolist())

    # Tendons and actuators -----------------------------------------------------------------------------------------

    def _tendon(self, section, tendon) -> None:
        terms = [part for part in tendon.path if isinstance(part, JointTerm)]
        if terms and (not tendon.is_fixed or any(self._joint(term.joint) is None for term in terms)):
            self.features.add("tendons over joints that the file has under other names", str(tendon))
            return
        self.tendons.add(tendon.name)
        data = {"name": tendon.name}
        for what, name in UNIFORM.items():
            if x := getattr(tendon, what):
                data[name] = number_text(x)
        for what in ("stiffness", "damping"):
            if more := getattr(tendon, f"higher_{what}"):
                data[what] = numbers_text((getattr(tendon, what), *more))
        data["springlength"] = numbers_text(tendon.rest_length)
        data |= range_attributes("", (tendon.lower, tendon.upper))
        if tendon.limit_softness is not None:
            data["solreflimit"] = numbers_text(tendon.limit_softness.solref)
            data["solimplimit"] = numbers_text(tendon.limit_softness.solimp)
        elif tendon.is_limited and tendon.limit_stiffness:
            self.features.add("stop stiffness", str(tendon))
        data |= range_attributes("actuatorfrc", tendon.actuator_force_range)
        element = add(section, "fixed" if terms else "spatial", **data)
        for part in tendon.path:
            if isinstance(part, JointTerm):
                add(element, "joint", joint=self._joint(part.joint), coef=number_text(part.coefficient))
            elif isinstance(part, ViaPoint):
                add(element, "site", site=self._via(tendon, part))
            elif isinstance(part, Pulley):
                add(element, "pulley", divisor=number_text(part.divisor))
            elif isinstance(part, WrapShape):
                side = {"sidesite": self.file.site(part.side)} if part.side else {}
                add(element, "geom", geom=self._wrap(part), **side)

    def _via(self, tendon, part: ViaPoint) -> str:
        """The site of a point."""
        if not any(part.at):
            return self.file.site(part.frame)
        return self.file.extra_site(f"{tendon.name}_point", part.frame, np.eye(3), np.array(part.at))

    def _wrap(self, part: WrapShape) -> str:
        """The geom around which a tendon wraps: the shape that is there, or one made for it."""
        if part.frame in self.file.wrapped:
            return part.frame
        name, size = f"{part.frame}_wrap", (part.radius,) if part.kind == "sphere" else (part.radius, part.radius)
        look = {"type": part.kind, "size": numbers_text(size), "group": "4", "contype": "0", "conaffinity": "0"}
        self.file.attach("geom", name, self.model.frame(part.frame), **look)
        self.features.note(f"geom {name!r}", f"made for a tendon that wraps around frame {part.frame!r}")
        return name

    def _actuator(self, section, a) -> None:
        data = {"name": a.name}
        turns_joint = a.transmission == "rotation" and a.reference is None
        target = self._target("joint" if turns_joint else a.transmission, a.target)
        if target is None:
            self.features.add("actuators whose target the file does not have", str(a))
            return
        whole = a.is_controller or a.is_orientation_servo or all(getattr(a, k) in kinds for k, kinds in WHOLE.items())
        if a.plugin or a.delay or not whole:
            self.features.add("actuators whose law is kept in part only", str(a))
            return
        self.actuators.append(a)
        if not a.active:
            data["group"] = GROUP_OFF
            self.root.find("option").set("actuatorgroupdisable", GROUP_OFF)
        if a.transmission == "slider_crank":
            data |= {"cranksite": target, "slidersite": self.file.site(a.reference)}
            data |= {"cranklength": number_text(a.crank_length)}
        else:
            kind = {"rotation": "joint" if turns_joint else "site"}.get(a.transmission, a.transmission)
            data[kind.replace("_", "")] = target
            if a.reference is not None:
                data["refsite"] = self.file.site(a.reference)
        if a.is_orientation_servo:
            data["input"] = "quat" if "w" in a.inputs else "expmap"
        gear = np.trim_zeros(a.gear, "b") or (0.0,)
        if gear != (1.0,):
            data["gear"] = numbers_text(gear)
        for what, limits in (("ctrl", a.control_range), ("force", a.force_range), ("act", a.activation_range)):
            data |= range_attributes(what, limits)
        if a.early:
            data["actearly"] = "true"
            self._time_step(a)
        if any(a.length_range):
            data["lengthrange"] = numbers_text(a.length_range)
        if a.is_controller:
            self._controller(section, a, data)
            return
        for law, short in LAWS.items():
            parameters = getattr(a, f"{law}_parameters") or (0.0,)
            data |= {f"{short}type": getattr(a, law), f"{short}prm": numbers_text(parameters)}
        add(section, "general", **data)

    def _controller(self, section, a, data: dict[str, str]) -> None:
        for what in ("ctrllimited", "ctrlrange", "actearly"):
            data.pop(what, None)
        ki, kp, kv = (*a.gain_parameters, 0.0)[0], *(-x for x in (*a.bias_parameters, 0.0, 0.0, 0.0)[1:3])
        limit, slew = (*a.dynamics_parameters, 0.0, 0.0)[:2]
        data |= {"kp": number_text(kp), "kv": number_text(kv)}
        for name, x in (("ki", ki), ("imax", limit), ("slewmax", slew)):
            data |= {name: number_text(x)} if x else {}
        short = {"position": "pos", "velocity": "vel", "feedforward": "ff"}
        data["input"] = " ".join(short[what] for what in a.inputs)
        ranges = {what: limits for what, limits in zip(a.inputs, a.input_ranges, strict=True) if limits != EVERYWHERE}
        if 0 < len(ranges) < len(a.inputs):
            self.features.add("ranges of some inputs of a controller without the others", str(a))
        data |= {"ctrllimited": "true"} if ranges else {}
        data |= {f"{short[what]}range": numbers_text(limits) for what, limits in ranges.items()}
        add(section, "pid", **data)

    def _time_step(self, a) -> None:
        """The step of MuJoCo after which the activation is taken."""
        option = self.root.find("option")
        if option.get("timestep", number_text(a.early)) != number_text(a.early):
            self.features.add("several time steps of actuators", str(a))
        option.set("timestep", number_text(a.early))


def _left(reference: float, length: float) -> float:
    """The difference of two lengths, without rounding."""
    x = reference - length
    return 0.0 if abs(x) <= SAME_POINT * max(1.0, abs(length)) else x


def _softness(piece) -> dict[str, str]:
    data = {} if piece.active else {"active": "false"}
    if piece.softness is not None:
        data |= {"solref": numbers_text(piece.softness.solref), "solimp": numbers_text(piece.softness.solimp)}
    return data


def _padded(coefficients) -> list[float]:
    return [*coefficients, *([0.0] * (MOST_COEFFICIENTS - len(coefficients)))]
