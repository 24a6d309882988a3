"""The contract of force elements: their interface to models and algorithms.

A force element is frozen data that a model holds in ``model.forces``. It names joints and frames by name and states its
law over scalars of any kind, so that the law runs on floats, arrays and expressions and is differentiated exactly.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kinetree.errors import ArgumentError
from kinetree.spatial import Vector3
from kinetree.tendons.parts import ViaPoint
from kinetree.tendons.path import names_in, path_numbers, path_structure, renamed_path, with_path_numbers
from kinetree.tendons.wrapping import magnitude


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a kind of joint force has for each coordinate of its joint.

    Attributes
    ----------
    name : str
        The field of the element, the array of the model and the argument of ``ModelBuilder.add_body``: "stiffness".
    unit : str
        Over the joint's units, "force" and "position": "force s/position".
    position : bool
        One for each position instead of one for each velocity; it may have either sign, and is neutral by default.
    urdf, mjcf, sdf : str
        Its name in files of these formats; empty where they have none.
    """

    name: str
    unit: str
    position: bool = False
    urdf: str = ""
    mjcf: str = ""
    sdf: str = ""


class ForceElement:
    """A force law on a model: a frozen dataclass whose fields are its name, names of joints and frames, and numbers.

    A class defines ``energy``, ``dissipation`` or both, or ``length`` with ``stored``, ``tension`` or both, or
    ``force`` where the force is the derivative of no law. ``length`` may list several strains. Joint forces, slopes for
    implicit steps, energy balance and derivatives follow by differentiation of the law.

    Attributes
    ----------
    kind : str
        Name in the registry; by default the name of the class in snake case.
    joint_fields, frame_fields : tuple of str
        Fields that hold the name of a joint or frame, or a tuple of names.
    joint_kind : str
        The kind that its joints must have, such as "spherical"; empty for any.
    path_fields : tuple of str
        Fields that hold the path of a tendon, a tuple of parts of `kinetree.tendons`.
    states, inputs : tuple of str
        Names of its internal states, such as ``("activation",)``, and of its inputs, such as ``("excitation",)``.
    kinked : bool
        Whether slopes of the force jump, so that Newton's method needs further corrections.
    stiff_at_rest : bool
        Whether the law is stiff near rest at any step.
    beyond_limits : bool
        Whether it acts only outside the position limits of a joint.
    passive : bool
        Whether it never gives more energy than it has stored: the power of all other forces is not positive at any
        state. `kinetree.verify` checks it.
    actuates : bool
        Whether it is an actuator: the sum of all their forces on a joint may have a range.
    commanded : bool
        Whether it delivers a joint force that is commanded from outside, as motors do, instead of a law of positions
        and velocities: then simulations and rollouts apply it, and algorithms are given the delivered force.

    Notes
    -----
    Fields that hold numbers, or tuples of numbers, are numbers of the model: inputs of compiled code, by the names
    ``"name.field"``. Text, truth values, None and fields annotated ``int`` are structure. In the methods, ``self`` has
    scalars of any kind in the place of the numbers, and ``kin`` gives, by name, ``point(frame, at)``,
    ``velocity(frame, at)``, ``rotation(frame)``, ``angular_velocity(frame)``, ``coordinate(joint)``, ``rate(joint)``:
    in world coordinates, ``at`` a point in the frame's.

    In classes with states or inputs, ``tension``, ``force`` and ``state_rate`` take two further arguments x and u: the
    states and the inputs, by name (``x.activation``). They are the arrays x and u of the model's dynamics, integrated
    and given in simulations.

    Examples
    --------
    A spring between two points that is straight at its rest length:

    >>> import kinetree as kt
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Rubber(kt.forces.ForceElement):
    ...     name: str
    ...     start: str
    ...     end: str
    ...     stiffness: float
    ...     frame_fields = ("start", "end")
    ...     def energy(self, kin):
    ...         d = kin.point(self.end) - kin.point(self.start)
    ...         return 0.5 * self.stiffness * d.dot(d)
    >>> model = kt.models.pendulum().replace(forces=[Rubber("rubber", "world", "bob", 3.0)])
    >>> model.numbers().as_dict()["rubber.stiffness"]
    3.0

    A thruster whose thrust follows its input with a lag:

    >>> @dataclass(frozen=True)
    ... class Thruster(kt.forces.ForceElement):
    ...     name: str
    ...     frame: str
    ...     time_constant: float
    ...     states, inputs = ("thrust",), ("command",)
    ...     def force(self, kin, x, u):
    ...         yield kin.velocity(self.frame), kin.rotation(self.frame) @ kt.spatial.Vector3(0.0, 0.0, x.thrust)
    ...     def state_rate(self, kin, x, u):
    ...         return [(u.command - x.thrust) / self.time_constant]
    >>> model = kt.models.pendulum().replace(forces=[Thruster("jet", "bob", 0.1)])
    >>> model.state_names, model.input_names, kt.dynamics.force_state_rates(model, [0.1], [0.0], u=[2.0]).tolist()
    (('jet.thrust',), ('jet.command',), [20.0])
    """

    __slots__ = ()

    kind: str = "force_element"
    joint_fields: tuple[str, ...] = ("joint",)
    joint_kind: str = ""
    frame_fields: tuple[str, ...] = ("frame",)
    path_fields: tuple[str, ...] = ("path",)
    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    kinked: bool = False
    stiff_at_rest: bool = False
    beyond_limits: bool = False
    passive: bool = False
    actuates: bool = False
    commanded: bool = False

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            cls.kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    # The law ---------------------------------------------------------------------------------------------------------

    def energy(self, kin):
        """Stored energy over positions [J]."""
        raise NotImplementedError

    def dissipation(self, kin):
        """A potential of velocities R: the force on a velocity is -dR/dvelocity [W]."""
        raise NotImplementedError

    def length(self, kin):
        """Length over positions, along which a tension acts [m or rad]; or a list, for laws of several strains."""
        raise NotImplementedError

    def stored(self, length):
        """Energy stored in the length or lengths [J], whose derivatives are tensions."""
        raise NotImplementedError

    def tension(self, length, rate):
        """Force that shortens the length where it is positive [N or N m], or a list, beside that of stored energy."""
        raise NotImplementedError

    def force(self, kin):
        """Pairs ``(velocity, force)``: forces and the velocities with which they give power, vectors or scalars [W]."""
        raise NotImplementedError

    def state_rate(self, kin, x, u):
        """Rates of the internal states, a sequence."""
        raise NotImplementedError

    def states_after(self, kin, x, u, dt) -> Sequence:
        """The internal states after a time dt [s] at a constant velocity, in closed form, for steps of a fixed length.

        Optional: otherwise these steps are linearly implicit in the states.
        """
        raise NotImplementedError

    def initial_state(self) -> Sequence:
        """The internal states where none are given."""
        return [0.0] * len(self.states)

    @classmethod
    def defines(cls, what: str) -> bool:
        """Whether the class defines this part of the law."""
        return getattr(cls, what) is not getattr(ForceElement, what)

    @property
    def is_spring(self) -> bool:
        """Whether it stores energy and its slope does not jump."""
        return (self.defines("energy") or self.defines("stored")) and not self.kinked

    # Data ------------------------------------------------------------------------------------------------------------

    @classmethod
    def example(cls, model, rng) -> ForceElement:
        """An instance on a model for the tests: random names and numbers, named as its kind."""
        single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        frames = [str(name) for name in rng.permutation([frame.name for frame in model.frames])]
        values: dict[str, object] = {}
        for field in dataclasses.fields(cls):
            if field.type in (tuple, "tuple"):
                values[field.name] = tuple(rng.uniform(0.5, 2.0, 3).tolist())
            elif not isinstance(field.default, (str, bool)):
                values[field.name] = float(rng.uniform(0.5, 2.0))
        own = _fields(cls)
        names = {"name": cls.kind} if "name" in own else {}
        names |= {what: str(rng.choice(single)) for what in cls.joint_fields if what in own}
        names |= {what: frames.pop() for what in cls.frame_fields if what in own}
        paths = {what: (ViaPoint(frames.pop(), tuple(rng.normal(size=3))), ViaPoint(frames.pop()))
                 for what in cls.path_fields if what in own}  # fmt: skip
        return cls(**values | names | paths)

    @property
    def state_labels(self) -> tuple[str, ...]:
        """Names of the internal states in a model."""
        return tuple(f"{self.name}.{state}" for state in self.states)

    @property
    def input_labels(self) -> tuple[str, ...]:
        """Names of the inputs in a model."""
        return tuple(f"{self.name}.{name}" for name in self.inputs)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self._names(self.joint_fields, "joint")

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames."""
        return self._names(self.frame_fields, "frame")

    def _names(self, fields: Sequence[str], kind: str) -> tuple[str, ...]:
        values = [getattr(self, name) for name in fields if name in _fields(type(self))]
        values += [names_in(getattr(self, what), kind) for what in self._paths()]
        return tuple(name for value in values for name in (value if isinstance(value, tuple) else (value,)))

    def renamed(self, joint: Callable[[str], str], frame: Callable[[str], str], name: str | None = None):
        """The element with the names that the functions give to joints and frames, and a name of its own."""
        changes = {} if name is None else {"name": name}
        for new, fields in ((joint, self.joint_fields), (frame, self.frame_fields)):
            for what in fields:
                value = getattr(self, what, None)
                if value is not None:
                    changes[what] = new(value) if isinstance(value, str) else tuple(map(new, value))
        changes |= {what: renamed_path(getattr(self, what), joint, frame) for what in self._paths()}
        return self._with(changes)

    def numbers(self) -> dict[str, object]:
        """The scalars by the names of their fields; entries of tuples as "field.0", "field.1"."""
        found = {}
        for what, value in self._values().items():
            if what in self._paths():
                found |= path_numbers(value, what)
            elif isinstance(value, tuple):
                found |= {f"{what}.{k}": x for k, x in enumerate(value)}
            else:
                found[what] = value
        return found

    def with_numbers(self, values: Sequence) -> ForceElement:
        """The element over other scalars, in the order of ``numbers()``."""
        source = iter(values)
        paths = self._paths()
        return self._with({
            what: with_path_numbers(value, source) if what in paths
            else tuple(next(source) for _ in value) if isinstance(value, tuple) else next(source)
            for what, value in self._values().items()
        })  # fmt: skip

    def structure(self) -> tuple:
        """The rest, hashable: the class, and fields that are no numbers."""
        numbers = self._values()
        rest = tuple((what, repr(getattr(self, what))) for what in _fields(type(self)) if what not in numbers)
        rest += tuple((what, path_structure(getattr(self, what))) for what in self._paths())
        return type(self).__module__, type(self).__qualname__, rest

    def _values(self) -> dict[str, object]:
        fields = _fields(type(self))
        return {what: value for what in fields for value in [getattr(self, what)] if _is_number(value, fields[what])}

    def _paths(self) -> tuple[str, ...]:
        """The path fields that the class has."""
        return tuple(what for what in self.path_fields if isinstance(getattr(self, what, None), tuple))

    def _with(self, changes: Mapping[str, object]) -> ForceElement:
        made = object.__new__(type(self))
        for what in _fields(type(self)):
            object.__setattr__(made, what, changes.get(what, getattr(self, what)))
        return made


def _fields(cls: type) -> dict[str, object]:
    """Fields of a dataclass and their annotations."""
    return {field.name: field.type for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}


def _is_number(value, annotation) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(_is_number(x, None) for x in value)
    return not (isinstance(value, (str, bool)) or value is None or annotation in (int, "int"))


def norm(r):
    """The length of a vector; its derivative at zero, where it has no direction, is zero.

    Parameters
    ----------
    r : Vector3
        As ``kin.point`` and ``kin.velocity`` give it.

    Returns
    -------
    scalar
        In the unit of r.

    Raises
    ------
    ArgumentError
        r is no Vector3.

    Examples
    --------
    >>> from kinetree.forces import norm
    >>> from kinetree.spatial import Vector3
    >>> float(norm(Vector3(3.0, 0.0, 4.0)))
    5.0
    """
    if not isinstance(r, Vector3):
        raise ArgumentError(f"norm: r is {r!r}, expected a Vector3, as kin.point(...) gives it")
    return magnitude(r)


class JointForce(ForceElement):
    """A law along the velocity coordinates of one joint, with parameters for each of them.

    Fields are the joint's name and the ``parameters``: tuples with one scalar for each coordinate, or one number for
    all.

    Attributes
    ----------
    parameters : tuple of Parameter
        The first ones, up to the first per position, are zero where the law does not act.
    energy_channel, power_channel : str
        Names in the energy balance of the stored energy and of the dissipated power; empty for none.

    Notes
    -----
    The methods take ``at``, the joint in a state: ``at.q``, ``at.v``, ``at.lower``, ``at.upper`` (lists of scalars),
    ``at.deflection(reference)``, along the velocities, and ``at.tangent_inverse(deflection)``, its rate as the joint
    moves. They return lists with one entry for each velocity coordinate. The force is ``elastic(at) - dissipative(at)
    v``.
    """

    __slots__ = ()

    parameters: tuple[Parameter, ...] = ()
    energy_channel: str = ""
    power_channel: str = ""

    @property
    def is_spring(self) -> bool:
        """Whether it stores energy and its slope does not jump."""
        return bool(self.energy_channel) and not self.kinked

    def energy(self, at):
        """Stored energy [J]."""
        return 0.0

    def elastic(self, at) -> Sequence:
        """Conservative forces [N m or N]."""
        return [0.0] * len(at.v)

    def dissipative(self, at) -> Sequence:
        """Coefficients d of the dissipative forces ``-d v`` [N m s/rad or N s/m]."""
        return [0.0] * len(at.v)

    def dissipative_slope(self, at) -> Sequence:
        """``-d force / dv`` [N m s/rad or N s/m]; by default d, which does not depend on v."""
        return self.dissipative(at)

    def dissipative_at_rest(self, at) -> Sequence:
        """d where the velocities are zero [N m s/rad or N s/m]; by default as at any other velocity."""
        return self.dissipative(at)

    def stiffness_diagonal(self, at) -> Sequence:
        """``k`` with ``d elastic / dt = -k v`` to leading order, or an upper bound [N m/rad or N/m]."""
        return [0.0] * len(at.v)

    def gauss_newton_rows(self, at) -> Sequence[Sequence]:
        """``-d elastic / dq`` with deflections linear in q: positive semidefinite; by default the diagonal."""
        return _diagonal(self.stiffness_diagonal(at))

    def stiffness_rows(self, at) -> Sequence[Sequence]:
        """``-d elastic / dq`` along the manifold, rows of forces; by default the diagonal."""
        return _diagonal(self.stiffness_diagonal(at))

    def largest_slopes(self, at) -> tuple[Sequence, Sequence]:
        """Stiffness and damping where they are largest; by default those at this position."""
        return self.stiffness_diagonal(at), self.dissipative(at)

    def without(self, coordinates: Sequence[bool]) -> JointForce:
        """The element without the coordinates that are true."""
        first = self.parameters[0].name
        values = zip(getattr(self, first), coordinates, strict=True)
        return self._with({first: tuple(0.0 if gone else x for x, gone in values)})

    def depth(self, at) -> Sequence:
        """The excess of each coordinate over the point where the force begins, signed; zeros for one without such."""
        return [0.0] * len(at.v)


def _diagonal(values: Sequence) -> list[list]:
    return [[x if m == n else 0.0 for n in range(len(values))] for m, x in enumerate(values)]


def present(x) -> bool:
    """Whether a parameter is other than a structural zero."""
    return not (isinstance(x, float) and x == 0.0)


def of_coordinates(values, n: int) -> Iterator[tuple[int, object]]:
    """Number and parameter of each coordinate of a joint at which the parameter is present."""
    return ((m, values[m]) for m in range(n) if present(values[m]))
