"""Data of a model beside its tree: loop joints, equalities, tendons, actuators, their ranges, and keyframes.

All of it refers to frames, bodies, joints and tendons by name, so it survives any renumbering of the tree. Items
whose forces the dynamics do not compute yet are *unsupported*: `Equipment.unsupported` names them, and the complete
dynamics raise an error for a model that has some instead of leaving them out.

Actuators follow MuJoCo's law, whose names are kept: ``force = gain(length, velocity) * input + bias(length,
velocity)``. The input is the control, or the activation if the actuator has a state; control, activation and force are
clamped to their ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType

import numpy as np

from kinetree.actuators.dynamics import DYNAMICS
from kinetree.actuators.gains import BIASES, GAINS
from kinetree.arguments import names, number
from kinetree.constraints.loop_joint import LoopJoint, Softness
from kinetree.errors import ModelError, ShapeError, unknown_name
from kinetree.model.contact_data import ContactExclude, GeometryPair
from kinetree.model.parts import freeze, two_named
from kinetree.model.tendon import EVERYWHERE, Tendon

TRANSMISSIONS = ("joint", "joint_in_parent", "tendon", "site", "slider_crank", "body", "rotation")

# Laws without force at zero input: a gain is multiplied by the input, an activation of zero stays there. Any other law,
# of a user or of a later MuJoCo, may exert a force.
_GAINS = ("fixed", "affine", "muscle", "user")
_DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle")
_CONTROLLERS = {"dcmotor": "DC motor", "pid": "PID controller", "so3": "orientation servo"}
_PEAK, _SCALE, _PASSIVE = 2, 3, 7  # of a muscle's parameters: peak force (or -1: from the scale), scale, passive force


@dataclass(frozen=True, slots=True)
class Actuator:
    """The map from a control to a force, and the target of that force; a model makes a force element of it.

    Parameters
    ----------
    name : str
    transmission : str
        One of "joint", "joint_in_parent", "tendon", "site", "slider_crank", "body", "rotation".
    target : str
        Name of the joint, tendon, frame or body.
    gear : tuple of 6 floats
        Ratio of the force at the target to the actuator's; all six entries matter for joints of several freedoms and
        for frames.
    dynamics, gain, bias : str
        Laws of activation, of the force per activation, and of the force without activation, by MuJoCo's names:
        dynamics "none", "integrator", "filter", "filterexact", "muscle", ...; gain "fixed", "affine", "muscle", ...;
        bias "none", "affine", "muscle", ...
    dynamics_parameters, gain_parameters, bias_parameters : tuple of float
        Trailing zeros are left out.
    control_range, force_range, activation_range : tuple of 2 floats
        Infinite where there is none.
    inputs : tuple of str
        Of controllers and DC motors: "position", "velocity", "feedforward", "voltage"; of rotations "x", "y", "z", "w".
    input_ranges : tuple of tuples of 2 floats
        The ranges of these.
    length_range : tuple of 2 floats
        Shortest and longest length of the transmission, which scales muscles [m].
    reference : str, optional
        Frame to which a "site" or "rotation" is relative (none: a ball joint's), slider's frame of a "slider_crank".
    crank_length : float
        [m].
    acc0 : float
        Acceleration by a unit of force [1/kg], which scales muscles whose peak force is negative.
    early : float
        The force is that of the activation after this time, a step of MuJoCo, in which set points with a limited rate
        move, too [s].
    delay : float
        Of the control [s].
    plugin : str
        Name of the plugin whose law it follows instead; empty if it follows the laws above.
    active : bool
        False: switched off, so without effect.
    """

    name: str
    transmission: str
    target: str
    gear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    dynamics: str = "none"
    gain: str = "fixed"
    bias: str = "none"
    dynamics_parameters: tuple[float, ...] = ()
    gain_parameters: tuple[float, ...] = (1.0,)
    bias_parameters: tuple[float, ...] = ()
    control_range: tuple[float, float] = EVERYWHERE
    force_range: tuple[float, float] = EVERYWHERE
    activation_range: tuple[float, float] = EVERYWHERE
    inputs: tuple[str, ...] = ()
    input_ranges: tuple[tuple[float, float], ...] = ()
    length_range: tuple[float, float] = (0.0, 0.0)
    reference: str | None = None
    crank_length: float = 0.0
    acc0: float = 0.0
    early: float = 0.0
    delay: float = 0.0
    plugin: str = ""
    active: bool = True

    def __post_init__(self) -> None:
        freeze(self)
        parameters = "dynamics_parameters", "gain_parameters", "bias_parameters"
        for what in ("gear", *parameters, "length_range", "crank_length", "acc0", "early", "delay"):
            values = getattr(self, what)
            for x in values if isinstance(values, tuple) else (values,):
                number(f"actuator {self.name!r}: {what}", x)
        if not isinstance(self.gear, tuple) or len(self.gear) != 6:
            raise ModelError(f"actuator {self.name!r}: gear is {self.gear!r}, expected 6 numbers")
        for what in ("control_range", "force_range", "activation_range"):
            check_range(f"actuator {self.name!r}: {what}", getattr(self, what))
        for what, limits in zip(self.inputs, self.input_ranges, strict=True):
            check_range(f"actuator {self.name!r}: range of input {what!r}", limits)
        if self.transmission not in TRANSMISSIONS:
            known = ", ".join(TRANSMISSIONS)
            raise ModelError(f"actuator {self.name!r}: transmission {self.transmission!r}; known: {known}")

    @property
    def refers(self) -> dict[str, str]:
        """Fields that name something, each with its kind."""
        kinds = dict.fromkeys(("joint", "joint_in_parent", *["rotation"] * (not self.reference)), "joint")
        return {"target": (kinds | {"tendon": "tendon"}).get(self.transmission, "frame"), "reference": "frame"}

    @property
    def is_muscle(self) -> bool:
        """Whether its force follows a muscle's force-length-velocity curves."""
        return self.gain == "muscle"

    @property
    def not_computed(self) -> str:
        """The part of its law that the dynamics do not compute; empty if they compute all."""
        scaled = any(
            law == "muscle" and (*prm, *(0.0,) * 9)[_PEAK] < 0.0
            for law, prm in ((self.gain, self.gain_parameters), (self.bias, self.bias_parameters))
        )
        laws = ("dynamics", (*DYNAMICS, "none")), ("gain", GAINS), ("bias", BIASES)
        whole = self.is_controller or self.is_dc_motor or self.is_orientation_servo
        kinds = [(what, kind) for what, known in laws if (kind := getattr(self, what)) not in known and not whole]
        for is_missing, what in (
            (self.plugin, f"plugin {self.plugin!r}"),
            (self.transmission == "body", "adhesion"),
            *((True, _CONTROLLERS.get(kind) or f"{what} {kind!r}") for what, kind in kinds),
            (self.delay, "delay of the control"),
            ("muscle" in (self.gain, self.bias) and not self.length_range[0] < self.length_range[1],
             "muscle without a range of lengths"),
            (scaled and not self.acc0 > 0.0, "muscle whose peak force is scaled by an acceleration, which is 0"),
        ):  # fmt: skip
            if is_missing:
                return what
        return ""

    @property
    def is_controller(self) -> bool:
        """Whether its law is that of a PID controller."""
        return self.gain == "pid" and self.bias == "affine" and self.dynamics in ("none", "pid") and bool(self.inputs)

    @property
    def is_orientation_servo(self) -> bool:
        """Whether its law is that of a servo of an orientation."""
        return (self.transmission, self.dynamics, self.gain, self.bias) == ("rotation", "none", "so3", "so3")

    @property
    def is_dc_motor(self) -> bool:
        """Whether its law is that of a DC motor."""
        return (self.dynamics, self.gain, self.bias) == ("dcmotor",) * 3

    @property
    def is_motor(self) -> bool:
        """Whether its force is a constant times its control, and nothing else."""
        return (self.dynamics, self.gain, self.bias) == ("none", "fixed", "none") and not self.forces

    @property
    def forces(self) -> tuple[str, ...]:
        """Its force at zero control and activation: "position servo", "affine bias", ...

        Empty for motors, and for all whose force is a multiple of their input.

        Examples
        --------
        >>> Actuator("drive", "joint", "knee").forces
        ()
        >>> Actuator("servo", "joint", "knee", gain_parameters=(200.0,), bias="affine", bias_parameters=(0.0, -200.0)
        ...          ).forces
        ('position servo',)
        """
        if not self.active or not any(self.gear):
            return ()
        if self.plugin:
            return (f"plugin {self.plugin!r}",)
        return tuple(dict.fromkeys((*self._laws(), *self._ranges())))

    def _laws(self) -> Iterator[str]:
        """Laws that exert a force without an input."""
        if self.gain not in _GAINS:
            yield _CONTROLLERS.get(self.gain) or f"gain {self.gain!r}"
        if self.dynamics not in _DYNAMICS:
            yield _CONTROLLERS.get(self.dynamics) or f"activation {self.dynamics!r}"
        if self.bias == "affine" and self.gain not in _CONTROLLERS:
            yield from self._affine()
        elif self.bias == "muscle":
            prm = (*self.bias_parameters, *(0.0,) * 9)
            if prm[_PASSIVE] and (prm[_PEAK] > 0.0 or prm[_PEAK] < 0.0 and prm[_SCALE]):
                yield "passive force of a muscle" + " without a range of lengths" * (not np.ptp(self.length_range))
        elif self.bias not in ("none", "affine"):
            yield _CONTROLLERS.get(self.bias) or f"bias {self.bias!r}"

    def _affine(self) -> Iterator[str]:
        """The common name of a bias ``c0 + c1 length + c2 velocity``."""
        c0, c1, c2 = (*self.bias_parameters, 0.0, 0.0, 0.0)[:3]
        if not (c0 or c1 or c2):
            return
        kp = self.gain_parameters[0] if self.gain == "fixed" and self.gain_parameters else 0.0
        if kp and c0 == 0.0 and c1 == -kp:
            yield "position servo"
        elif kp and c0 == c1 == 0.0 and c2 == -kp:
            yield "velocity servo"
        else:
            yield "affine bias"

    def _ranges(self) -> Iterator[str]:
        """Ranges that do not contain zero."""
        has_gain = self.gain not in ("fixed", "affine") or any(self.gain_parameters)
        has_state = self.dynamics != "none"
        for what, (low, high), acts in (
            ("control", self.control_range, has_gain),
            ("activation", self.activation_range, has_gain and has_state),
            ("force", self.force_range, True),
        ):
            if acts and not low <= 0.0 <= high:
                yield f"{what} range {low:g} to {high:g}"

    def __str__(self) -> str:
        forces = f": {', '.join(self.forces)}" if self.forces else ""
        return f"actuator {self.name!r} ({self.transmission} {self.target!r}{forces})"


FORCEFUL = ("loops", "equalities", "tendons", "actuators")  # kinds that may exert forces
REFERRING = (  # by names, tendons early
    "loops", "tendons", "equalities", "actuators", "force_ranges", "keyframes", "contact_excludes", "contact_pairs",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ForceRange:
    """Limits of the sum of all actuators' forces on a joint of one freedom.

    Parameters
    ----------
    joint : str
    lower, upper : float
        [N m or N].
    """

    joint: str
    lower: float
    upper: float
    name: str = ""

    refers = MappingProxyType({"joint": "joint"})

    def __post_init__(self) -> None:
        freeze(self)
        check_range(str(self), (self.lower, self.upper))

    def __str__(self) -> str:
        return f"range of actuator forces on joint {self.joint!r}"


def check_range(what: str, limits) -> None:
    """Raise ModelError unless these are two numbers in order."""
    low, high = limits if isinstance(limits, tuple) and len(limits) == 2 else (np.nan, np.nan)
    if not low <= high:
        raise ModelError(f"{what} is {limits!r}, expected (lower, upper); were they exchanged?")


@dataclass(frozen=True, slots=True)
class Equality:
    """One coordinate is a polynomial of another: ``y - y0 = c0 + c1 (x - x0) + c2 (x - x0)^2 + ...``.

    Parameters
    ----------
    name : str
    of : {"joint", "tendon"}
        The quantities y and x: positions of joints of one freedom [rad or m], or lengths of tendons [m].
    follower : str
        Name of y.
    master : str, optional
        Name of x; without one, y - y0 = c0.
    coefficients : tuple of float
        c0, c1, ...
    follower_reference, master_reference : float
        y0 and x0.
    softness : Softness, optional
    active : bool

    Examples
    --------
    >>> import kinetree as kt
    >>> gear = kt.model.Equality("gear", "joint", "wheel", "motor", (0.0, 0.5))  # wheel = motor / 2
    >>> gear.follower, gear.coefficients
    ('wheel', (0.0, 0.5))
    """

    name: str
    of: str
    follower: str
    master: str | None
    coefficients: tuple[float, ...]
    follower_reference: float = 0.0
    master_reference: float = 0.0
    softness: Softness | None = None
    active: bool = True

    @property
    def refers(self) -> dict[str, str]:
        """Fields that name something, each with its kind."""
        return dict.fromkeys(("follower", "master"), self.of)

    def __post_init__(self) -> None:
        freeze(self)
        if self.of not in ("joint", "tendon"):
            raise ModelError(f"equality {self.name!r} is of {self.of!r}; known: joint, tendon")
        numbers = (*self.coefficients, self.follower_reference, self.master_reference)
        if not np.all(np.isfinite(numbers)):
            raise ModelError(f"equality {self.name!r} has {numbers}, expected finite numbers")

    def __str__(self) -> str:
        to = f" to {self.master!r}" if self.master else ""
        return f"equality {self.name!r} of {self.of} {self.follower!r}{to}"


@dataclass(frozen=True, slots=True)
class RotationLimit:
    """The rotation of a spherical joint away from its neutral position is limited to an angle.

    The dynamics compute it where a force element of the model is its stop: `kinetree.forces.RotationStop`.

    Parameters
    ----------
    joint : str
    angle : float
        Largest rotation [rad].
    softness : Softness, optional
        The file's, which is relative to the inertia.

    Examples
    --------
    >>> import kinetree as kt
    >>> hip = kt.model.RotationLimit("hip", angle=1.2)
    >>> kt.model.Equipment(equalities=(hip,)).equalities[0].joint
    'hip'
    """

    joint: str
    angle: float
    name: str = ""
    active: bool = True
    softness: Softness | None = None

    refers = MappingProxyType({"joint": "joint"})

    def __str__(self) -> str:
        return f"rotation limit of joint {self.joint!r} at {self.angle:g} rad"


@dataclass(frozen=True, slots=True, eq=False)
class Keyframe:
    """A named state.

    Parameters
    ----------
    name : str
    q, v : mapping of joint name to sequence of float
        Positions and velocities of joints; the others are neutral, and at rest.
    controls, activations : mapping of actuator name to sequence of float
        Controls and internal states of actuators; those of actuators that a model does not have are without effect.
    """

    name: str
    q: Mapping[str, tuple[float, ...]]
    v: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    controls: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    activations: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    refers = MappingProxyType({})

    def __post_init__(self) -> None:
        freeze(self)

    def __reduce__(self):
        return Keyframe, (self.name, *map(dict, (self.q, self.v, self.controls, self.activations)))

    def __str__(self) -> str:
        return f"keyframe {self.name!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Equipment:
    """All data of a model beside its tree.

    Parameters
    ----------
    loops : tuple of LoopJoint
    equalities : tuple of Equality or RotationLimit
    tendons : tuple of Tendon
    actuators : tuple of Actuator
    keyframes : tuple of Keyframe
    force_ranges : tuple of ForceRange
        Of the joints.
    contact_excludes : tuple of ContactExclude
        Pairs of links whose shapes do not touch.
    contact_pairs : tuple of GeometryPair
        Pairs of shapes that touch by parameters of their own.
    """

    loops: tuple[LoopJoint, ...] = ()
    equalities: tuple[Equality | RotationLimit, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    force_ranges: tuple[ForceRange, ...] = ()
    contact_excludes: tuple[ContactExclude, ...] = ()
    contact_pairs: tuple[GeometryPair, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def __bool__(self) -> bool:
        return any(getattr(self, f.name) for f in fields(self))

    def __add__(self, other: Equipment) -> Equipment:
        return Equipment(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Names of the tendons and actuators whose forces the dynamics do not compute yet."""
        computed = set(map(id, self.computed_actuators))
        actuators = [actuator for actuator in self.actuators if id(actuator) not in computed]
        tendons = [tendon for tendon in self.tendons if tendon.not_computed]
        return tuple(str(each) for each in (*tendons, *actuators) if each.forces)

    @property
    def computed_actuators(self) -> tuple[Actuator, ...]:
        """The actuators that are on and whose forces the dynamics compute."""
        paths = {tendon.name for tendon in self.tendons if tendon.path}
        on = (a for a in self.actuators if a.active and any(a.gear) and not a.not_computed)
        return tuple(a for a in on if a.transmission != "tendon" or a.target in paths)

    @property
    def acting(self) -> tuple[str, ...]:
        """Names of the items that exert forces."""
        tendons = [str(tendon) for tendon in self.tendons if tendon.forces]
        held = [str(each) for each in (*self.loops, *self.equalities) if each.active]
        return tuple(dict.fromkeys((*held, *tendons, *self.unsupported)))

    def without_forces(self, *kinds: str) -> Equipment:
        """The part without forces of these kinds or all; lengths of tendons, motors and keyframes remain.

        Parameters
        ----------
        *kinds : {"loops", "equalities", "tendons", "actuators"}

        Raises
        ------
        UnknownNameError
        """
        for kind in names("without_unsupported: kinds", kinds):
            if kind not in FORCEFUL:
                raise unknown_name("kind", kind, FORCEFUL, "without_unsupported")
        left = {"loops": (), "equalities": ()}
        left["tendons"] = tuple(tendon.without_forces() for tendon in self.tendons)
        left["actuators"] = tuple(actuator for actuator in self.actuators if not actuator.forces)
        return replace(self, **{kind: left[kind] for kind in kinds or FORCEFUL})

    def renamed(
        self,
        frame: Callable[[str], str],
        joint: Callable[[str], str],
        own: Callable[[str], str],
        shape: Callable[[str], str] = str,
    ) -> Equipment:
        """A copy with other names.

        Parameters
        ----------
        frame, joint, own, shape : callable
            New names of frames (and bodies), of joints, of the pieces of equipment themselves, and of shapes.
        """
        new = {"frame": frame, "joint": joint, "tendon": own, "own": own, "shape": shape}
        return Equipment(*(tuple(_renamed(piece, new) for piece in getattr(self, f.name)) for f in fields(self)))

    def missing(
        self, frames: Iterable[str], joints: Iterable[str], shapes: Iterable[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """Items that refer to absent ones, with the missing names.

        Parameters
        ----------
        frames, joints, shapes : iterable of str
            The names that exist; without ``shapes``, those of shapes are not checked.

        Returns
        -------
        dict
            From ``str(piece)`` to names; a tendon of the list is missing for the items that need it.
        """
        valid: dict[str, set[str]] = {"frame": set(frames), "joint": set(joints), "tendon": set()}
        if shapes is not None:
            valid["shape"] = set(shapes)
        lacking: dict[str, tuple[str, ...]] = {}
        for kind in REFERRING:
            for piece in getattr(self, kind):
                absent = tuple(name for what, name in _references(piece) if name not in valid.get(what, (name,)))
                if absent:
                    lacking[str(piece)] = lacking.get(str(piece), ()) + absent
                elif kind == "tendons":
                    valid["tendon"].add(piece.name)
        return lacking

    def restricted(
        self, frames: Iterable[str], joints: Iterable[str], shapes: Iterable[str] | None = None
    ) -> Equipment:
        """The part for a smaller model: whole items only, keyframes without the removed joints."""
        joints = set(joints)
        keys = tuple(
            replace(k, **{what: {j: x for j, x in getattr(k, what).items() if j in joints} for what in ("q", "v")})
            for k in self.keyframes
        )
        lacking = replace(self, keyframes=()).missing(frames, joints, shapes)
        kept = {kind: tuple(x for x in getattr(self, kind) if str(x) not in lacking) for kind in REFERRING}
        return Equipment(**kept | {"keyframes": keys})


def _named_fields(piece) -> Iterator[tuple[str, str]]:
    """The fields of a record that name something, each with its kind: joint, frame or tendon."""
    refers = dict.fromkeys(piece.frame_fields, "frame") if isinstance(piece, LoopJoint) else piece.refers
    return ((name, kind) for name, kind in refers.items() if getattr(piece, name) is not None)


def _references(piece) -> Iterator[tuple[str, str]]:
    """The kind and the name of everything that an item refers to."""
    if isinstance(piece, Keyframe):
        yield from (("joint", joint) for joint in (*piece.q, *piece.v))
    for part in (piece, *getattr(piece, "path", ())):
        yield from ((kind, getattr(part, name)) for name, kind in _named_fields(part))


def _renamed(piece, new: Mapping[str, Callable[[str], str]]):
    """The item under other names, those of each kind by a function."""
    changes = {name: new[kind](getattr(piece, name)) for name, kind in _named_fields(piece)}
    if getattr(piece, "name", ""):
        changes["name"] = new["own"](piece.name)
    if isinstance(piece, Tendon):
        changes["path"] = tuple(_renamed(part, new) for part in piece.path)
    if isinstance(piece, Keyframe):
        for of, fields_of in (("joint", ("q", "v")), ("own", ("controls", "activations"))):
            changes |= {what: {new[of](name): x for name, x in getattr(piece, what).items()} for what in fields_of}
    return replace(piece, **changes)


def check_equipment(model, equipment: Equipment) -> None:
    """Every name must exist, names of one kind must differ, and keyframes must fit their joints.

    Raises
    ------
    UnknownNameError, DuplicateNameError, ShapeError
    """
    tendons = [tendon.name for tendon in equipment.tendons]
    shapes = [shape.name for body in model.geometry for shape in body if shape.name]
    valid = {
        "frame": [frame.name for frame in model.frames], "joint": model.joint_names, "tendon": tendons, "shape": shapes,
    }  # fmt: skip
    for piece in (piece for kind in REFERRING for piece in getattr(equipment, kind)):
        for kind, name in _references(piece):
            if name not in valid[kind]:
                raise unknown_name(kind, name, valid[kind], f"model {model.name!r} ({piece})")
            if kind == "shape" and shapes.count(name) > 1:
                raise two_named("shape", name, model.name, f"; {piece} needs one")
    for f in fields(equipment):
        seen: set[str] = set()
        for piece in getattr(equipment, f.name):
            if piece.name and piece.name in seen:
                raise two_named(f.name, piece.name, model.name, plural=f.name)
            seen.add(piece.name)
    for key in equipment.keyframes:
        for what, values, slices in (("q", key.q, model.q_slice), ("v", key.v, model.v_slice)):
            for joint, x in values.items():
                slot = slices[model.joint(joint)]
                if len(x) != slot.stop - slot.start or not np.all(np.isfinite(x)):
                    raise ShapeError(
                        f"keyframe {key.name!r}: {what} of joint {joint!r} is {tuple(x)}, expected "
                        f"{slot.stop - slot.start} finite numbers"
                    )
