"""Soft contact of two shapes: compliant surfaces, with states or without, and Coulomb friction on springs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.arguments import choice, instance, refuse
from kinetree.collision.axes import contact_axes
from kinetree.collision.laws import ContactPoint
from kinetree.collision.material import yielding_force
from kinetree.collision.pair import ContactPair
from kinetree.collision.shape import Shape
from kinetree.forces.contract import ForceElement, present
from kinetree.forces.fields import set_numbers
from kinetree.spatial import Matrix3, Vector3
from kinetree.spatial.scalar import absolute, exp, sqrt, where

LAWS = ("surface", "kelvin_voigt", "hunt_crossley")
NEAR = 0.01
"""Share of its compression by which a surface may be behind a body that it carries: errors of integration."""
_NUMBERS = ("stiffness", "damping", "friction", "tangential_stiffness", "tangential_damping", "exponent")
_SECOND = ("second_stiffness", "second_damping")  # where both surfaces yield


class Point(NamedTuple):
    """A point of contact at a state.

    Attributes
    ----------
    contact : ContactPoint
    force : Vector3
        On the second body [N].
    normal : scalar
        Normal force [N].
    tangential : list
        Two tangential forces [N], or none without friction.
    surfaces, deflections : list
        Internal states of the surfaces, and of friction [m].
    rates : list
        Relative velocity along the tangents and the normal, the latter alone without friction [m/s].
    sticks : bool
        Whether friction is that of sticking.
    """

    contact: ContactPoint
    force: Vector3
    normal: object
    tangential: list
    surfaces: list
    deflections: list
    rates: list
    sticks: object


@dataclass(frozen=True)
class SoftContact(ForceElement):
    """Contact of two shapes by springs and dampers: at each candidate point a normal force and friction.

    Parameters
    ----------
    name : str
    pair : ContactPair
        The shapes; its friction is that of the contact, its other numbers are not used.
    stiffness : float
        K of the surface [N/m], or [N/m^exponent] of "hunt_crossley".
    damping : float
        D of the surface [N s/m], or the dissipation d of "hunt_crossley" [s/m].
    law : {"surface", "kelvin_voigt", "hunt_crossley"}
        See the notes.
    exponent : float
        Of the penetration in the law of Hunt and Crossley, 1.5 for spheres (Hertz) [1].
    tangential_stiffness, tangential_damping : float, optional
        K_t and D_t of the springs that hold the surface in its plane [N/m, N s/m]; with friction alone. By default
        those of the normal direction, of both surfaces in series, but of "hunt_crossley" they are needed.
    second_stiffness, second_damping : float, optional
        Of the surface of the pair's second shape, if both yield; law "surface" alone [N/m, N s/m].

    Raises
    ------
    ArgumentError
        A number is negative, a stiffness is not positive, or a damping is zero that has to be positive: that of
        "surface", and the tangential one with friction.

    Notes
    -----
    p is the gap of a point, negative where the shapes overlap, p' its rate, f the normal force.

    * "surface": a massless surface with the deflection z as internal state, ``z' = -(K z + f) / D``. It is touched
      where p <= z: then ``f = max(0, -K p - D p')``, so that p and z stay equal; else f = 0, and the surface recovers.
      A body can so leave a surface that is still compressed, and touch it again before it has recovered.
    * "surface" with a second one: both carry the same force, and ``z_1 + z_2 = p`` where they touch, so that
      ``f = max(0, -(p' + K_1 z_1 / D_1 + K_2 z_2 / D_2) / (1 / D_1 + 1 / D_2))``. Each recovers on its own. With equal
      K / D they are one surface, of springs in series and dampers in series.
    * "kelvin_voigt": the same for a surface that recovers at once, without states, where p < 0.
    * "hunt_crossley": ``f = K (-p)^exponent max(0, 1 - d p')`` where p < 0, without states.

    A surface that nothing touches recovers as ``z exp(-K t / D)``: steps of a fixed length take this closed form, and
    that of the springs of friction, so that fast surfaces do not bound dt.

    Friction holds each point by two springs in the tangent plane, with the deflection x as internal states:
    ``f_t = -K_t x - D_t v`` where this is in Coulomb's cone ``|f_t| <= mu f``, else it is scaled to its surface, and
    ``x' = -(K_t x + f_t) / D_t``. So a resting body is held without creep. The springs turn with the first body.

    *Source*: Featherstone (2008), eq. 11.73-11.79, in space; Hunt and Crossley (1975). *Differs*: the surface counts as
    touched up to a gap of 1 % of its compression, for errors of integration.

    Examples
    --------
    A ball of 1 kg rests 1 mm deep on a surface of 9810 N/m:

    >>> import kinetree as kt
    >>> ball = kt.model.Geometry("sphere", (0.1,), name="ball")
    >>> b = kt.ModelBuilder("ball")
    >>> b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), mass=1.0, geometry=[ball])
    >>> hard = b.build().with_contacts(ground=True)
    >>> (soft,) = kt.forces.SoftContact.of_contacts(hard, stiffness=9810.0, damping=100.0, friction=False)
    >>> model = hard.replace(contacts=()).with_forces(soft)
    >>> round(kt.forward_dynamics(model, [0.099], [0.0], [0.0], x=[-0.001]).item(), 9)
    0.0
    """

    name: str
    pair: ContactPair
    stiffness: float
    damping: float = 0.0
    law: str = "surface"
    exponent: float = 1.5
    tangential_stiffness: float | None = None
    tangential_damping: float | None = None
    second_stiffness: float | None = None
    second_damping: float | None = None

    joint_fields, frame_fields, kinked = (), (), True

    def __post_init__(self) -> None:
        what = f"SoftContact {self.name!r}"
        instance(f"{what}: pair", self.pair, ContactPair, "a kt.collision.ContactPair")
        choice("law", self.law, LAWS, what)
        set_numbers(self, "stiffness", "damping", "exponent", least=0.0)
        if self.stiffness == 0.0:
            refuse(f"{what}: stiffness", self.stiffness, "a positive stiffness [N/m]")
        if self.law == "surface" and self.damping == 0.0:
            refuse(f"{what}: damping", self.damping, "a positive damping [N s/m]: the surface recovers by it")
        self._check_second(what)
        for tangential, normal in (("tangential_stiffness", "stiffness"), ("tangential_damping", "damping")):
            if getattr(self, tangential) is None:
                own = 0.0 if self.law == "hunt_crossley" else getattr(self, normal)
                if self.yields_twice:
                    other = getattr(self, f"second_{normal}")
                    own = own * other / (own + other)
                object.__setattr__(self, tangential, own)
            set_numbers(self, tangential, least=0.0)
            if self.pair.friction > 0.0 and getattr(self, tangential) == 0.0:
                expected = "a positive number, since the pair has friction; friction=0 in the pair leaves it out"
                refuse(f"{what}: {tangential}", getattr(self, tangential), expected)

    def _check_second(self, what: str) -> None:
        """Both numbers of the second surface, or none."""
        if self.second_stiffness is None and self.second_damping is None:
            return
        if self.law != "surface":
            refuse(f"{what}: second_stiffness", self.second_stiffness, "None: only law 'surface' has two surfaces")
        for number in _SECOND:
            if getattr(self, number) is None:
                refuse(f"{what}: {number}", None, "a positive number, as the other one of the second surface is given")
        set_numbers(self, *_SECOND, least=0.0)
        for number in _SECOND:
            if getattr(self, number) == 0.0:
                refuse(f"{what}: {number}", 0.0, "a positive number; None for one surface that yields")

    @property
    def yields_twice(self) -> bool:
        """Whether both surfaces yield."""
        return self.second_stiffness is not None

    @classmethod
    def of_contacts(cls, model, *, friction: bool = True, **numbers) -> list[SoftContact]:
        """Soft contacts in place of the contact pairs of a model, which then has to leave them out.

        Parameters
        ----------
        model : Model
            With contacts.
        friction : bool
            Whether the friction of the pairs is kept.
        **numbers
            ``stiffness``, ``damping``, ``law`` and the others of this class.

        Returns
        -------
        list of SoftContact
            Named as the pairs; ``model.replace(contacts=()).with_forces(*found)``.
        """
        pairs = model.contacts if friction else [_with_friction(pair, 0.0) for pair in model.contacts]
        return [cls(pair.name, pair, **numbers) for pair in pairs]

    @property
    def states(self) -> tuple[str, ...]:
        """Of each point the compression of its surface, or of both, and its two tangential deflections."""
        surfaces = ("z", "second") if self.yields_twice else ("z",)
        parts = (surfaces if self.law == "surface" else ()) + (("x", "y") if present(self.pair.friction) else ())
        return tuple(f"{part}{n}" for n in range(self.pair.count) for part in parts)

    # The law ---------------------------------------------------------------------------------------------------------

    def force(self, kin, x=(), u=()) -> Iterator[tuple]:
        """Forces and moments on both bodies, at their origins."""
        for point in self._forces(kin, x):
            at = point.contact.position
            for shape, f in ((self.pair.second, point.force), (self.pair.first, -point.force)):
                arm = at if shape.body == "world" else at - kin.point(shape.body)
                yield kin.velocity(shape.body), f
                yield kin.angular_velocity(shape.body), arm.cross(f)

    def state_rate(self, kin, x, u) -> list:
        """Of the surfaces and the tangential deflections."""
        rates = []
        for point in self._forces(kin, x):
            rates += [-(K * z + point.normal) / D for z, (K, D) in zip(point.surfaces, self._surfaces, strict=True)]
            for deflection, f in zip(point.deflections, point.tangential, strict=True):
                rates.append(-(self.tangential_stiffness * deflection + f) / self.tangential_damping)
        return rates

    def states_after(self, kin, x, u, dt) -> list:
        """Surfaces go with the bodies that they carry and recover behind others, as friction does where it slips."""
        found = []
        for point in self._forces(kin, x):
            carried = point.normal > 0.0
            later = point.contact.gap + dt * point.rates[-1]
            first = [relaxed(z, 0.0, numbers, dt) for z, numbers in zip(point.surfaces, self._surfaces, strict=True)]
            if self.yields_twice:
                own = self._shared(point.surfaces[0], point.contact.gap, point.rates[-1], dt)
                found += [where(carried, x, z) for x, z in zip((own, later - own), first, strict=True)]
            else:
                found += [where(carried, later, z) for z in first]
            numbers = self.tangential_stiffness, self.tangential_damping
            for t, f, rate in zip(point.deflections, point.tangential, point.rates[:-1], strict=True):
                found.append(where(point.sticks, t + dt * rate, relaxed(t, f, numbers, dt)))
        return found

    def _shared(self, z, p, rate, dt):
        """The first of two surfaces after dt, where the gap p goes on at a rate.

        ``z' = (K_2 (p - z) + D_2 p' - K_1 z) / (D_1 + D_2)``, linear with a gap that is linear in time.
        """
        (K1, D1), (K2, D2) = self._surfaces
        k, lag = K2 / (K1 + K2), (D1 + D2) / (K1 + K2)
        rest = k * p + (D2 / (K1 + K2) - k * lag) * rate  # the motion that is left: rest + k p' t
        return rest + k * rate * dt + (z - rest) * exp(-dt / lag)

    @property
    def _surfaces(self) -> list[tuple]:
        """Stiffness and damping of the surfaces with states."""
        if self.law != "surface":
            return []
        second = [(self.second_stiffness, self.second_damping)] if self.yields_twice else []
        return [(self.stiffness, self.damping), *second]

    def _forces(self, kin, x) -> Iterator[Point]:
        """Of each point the contact, its force, and the states."""
        values = iter(x)
        for contact in self.pair.points(kin):
            surfaces = [next(values) for _ in self._surfaces]
            n, v = contact.normal, self._velocity(kin, contact.position)
            rate = n.dot(v)
            f = self._normal(contact.gap, rate, surfaces)
            force, tangential, t, rates, sticks = n * f, [], [], [rate], True
            if present(self.pair.friction):
                axes = self._tangents(kin, n)
                t, rates = [next(values), next(values)], [*(axis.dot(v) for axis in axes), rate]
                tangential, sticks = self._friction(f, rates[:2], t)
                force = force + axes[0] * tangential[0] + axes[1] * tangential[1]
            yield Point(contact, force, f, tangential, surfaces, t, rates, sticks)

    def _normal(self, p, rate, surfaces):
        """The normal force for a gap, its rate and the deflections of the surfaces."""
        if self.law != "surface":
            return yielding_force(self.law, (self.stiffness, self.damping, self.exponent), p, rate)
        z = sum(surfaces[1:], start=surfaces[0])
        if self.yields_twice:
            (K1, D1), (K2, D2) = self._surfaces
            f = -(rate + K1 * surfaces[0] / D1 + K2 * (p - surfaces[0]) / D2) / (1.0 / D1 + 1.0 / D2)
        else:
            f = -(self.stiffness * p + self.damping * rate)
        touched = p <= z + NEAR * absolute(z)
        return where(touched & (f > 0.0), f, 0.0)

    def _friction(self, normal, v: Sequence, t: Sequence) -> tuple[list, object]:
        """The tangential force, in Coulomb's cone, and whether it is that of sticking."""
        stick = [-(self.tangential_stiffness * x + self.tangential_damping * w) for x, w in zip(t, v, strict=True)]
        square, most = stick[0] * stick[0] + stick[1] * stick[1], self.pair.friction * normal
        slips = square > most * most
        scale = where(slips, most / sqrt(where(slips, square, 1.0)), 1.0)
        return [scale * f for f in stick], square <= most * most

    def _velocity(self, kin, at: Vector3) -> Vector3:
        """The velocity of the second body relative to the first at a point."""
        found = Vector3(0.0, 0.0, 0.0)
        for shape, sign in ((self.pair.second, 1.0), (self.pair.first, -1.0)):
            if shape.body != "world":
                arm = at - kin.point(shape.body)
                found = found + (kin.velocity(shape.body) + kin.angular_velocity(shape.body).cross(arm)) * sign
        return found

    def _tangents(self, kin, n: Vector3) -> tuple[Vector3, Vector3]:
        """Tangents that turn with the first body."""
        if self.pair.first.body == "world":
            return contact_axes(n)[:2]
        R: Matrix3 = kin.rotation(self.pair.first.body)
        return tuple(R @ axis for axis in contact_axes(R.T @ n)[:2])

    # Data ------------------------------------------------------------------------------------------------------------

    @property
    def frames(self) -> tuple[str, ...]:
        """Those of both shapes."""
        return self.pair.frames

    def numbers(self) -> dict[str, object]:
        names = _NUMBERS + (_SECOND if self.yields_twice else ())
        found = {what: self.pair.friction if what == "friction" else getattr(self, what) for what in names}
        for side, shape in zip(("first", "second"), self.pair.shapes, strict=True):
            found |= {f"{side}.{what}": x for what, x in shape.numbers().items()}
        return found

    def with_numbers(self, values) -> SoftContact:
        source = iter(values)
        changes = {what: next(source) for what in _NUMBERS + (_SECOND if self.yields_twice else ())}
        first, second = (shape.with_numbers([next(source) for _ in shape.numbers()]) for shape in self.pair.shapes)
        pair = _with_friction(self.pair, changes.pop("friction"), first, second)
        return self._with(changes | {"pair": pair})

    def structure(self) -> tuple:
        own = self.name, self.law, self.yields_twice
        return type(self).__module__, type(self).__qualname__, *own, self.pair.structure()

    def renamed(self, joint, frame, name=None) -> SoftContact:
        pair = self.pair.renamed(frame, lambda own: own)
        return self._with({"pair": pair} if name is None else {"pair": pair, "name": name})

    @classmethod
    def example(cls, model, rng) -> SoftContact:
        """A sphere in a half space, with friction."""
        moving = [frame.name for frame in model.frames if frame.body]
        n = rng.normal(size=3)
        axes = contact_axes(Vector3(*(n / (n @ n) ** 0.5)))
        floor = Shape("world", "plane", (), tuple(zip(*axes, strict=True)), tuple(3.0 * x for x in axes[2]), "floor")
        ball = Shape(str(rng.choice(moving)), "sphere", (0.2,), name="ball")
        pair = ContactPair(cls.kind, floor, ball, friction=0.5)
        return cls(cls.kind, pair, *rng.uniform(0.5, 2.0, 2).tolist())


def relaxed(x, f, numbers, dt):
    """A spring and damper after dt under a constant force f: ``x' = -(K x + f) / D``."""
    K, D = numbers
    return (x + f / K) * exp(-dt * K / D) - f / K


def _with_friction(pair: ContactPair, friction, first=None, second=None) -> ContactPair:
    """The pair with another coefficient of friction, and shapes over other scalars."""
    shapes = None if first is None else {first.name: first, second.name: second}
    return pair.with_numbers([friction, *list(pair.numbers().values())[1:]], shapes)
