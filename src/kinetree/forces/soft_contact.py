"""Soft contact of two shapes: compliant surfaces, with states or without, and Coulomb friction on springs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinetree.arguments import choice, instance, refuse
from kinetree.collision.axes import contact_axes
from kinetree.collision.laws import ContactPoint
from kinetree.collision.material import yielding_force
from kinetree.collision.pair import ContactPair
from kinetree.collision.shape import Shape
from kinetree.forces.contract import ForceElement, present
from kinetree.forces.fields import set_numbers
from kinetree.spatial import Matrix3, Vector3
from kinetree.spatial.scalar import absolute, sqrt, where

LAWS = ("surface", "kelvin_voigt", "hunt_crossley")
NEAR = 0.01
"""Share of its compression by which a surface may be behind a body that it carries: errors of integration."""
_NUMBERS = ("stiffness", "damping", "friction", "tangential_stiffness", "tangential_damping", "exponent")


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
        those of the normal direction, but of "hunt_crossley" they are needed.

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
    * "kelvin_voigt": the same for a surface that recovers at once, without states, where p < 0.
    * "hunt_crossley": ``f = K (-p)^exponent max(0, 1 - d p')`` where p < 0, without states.

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
        for tangential, normal in (("tangential_stiffness", "stiffness"), ("tangential_damping", "damping")):
            if getattr(self, tangential) is None:
                own = 0.0 if self.law == "hunt_crossley" else getattr(self, normal)
                object.__setattr__(self, tangential, own)
            set_numbers(self, tangential, least=0.0)
            if self.pair.friction > 0.0 and getattr(self, tangential) == 0.0:
                expected = "a positive number, since the pair has friction; friction=0 in the pair leaves it out"
                refuse(f"{what}: {tangential}", getattr(self, tangential), expected)

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
        """Of each point the compression of its surface, and its two tangential deflections."""
        parts = (("z",) if self.law == "surface" else ()) + (("x", "y") if present(self.pair.friction) else ())
        return tuple(f"{part}{n}" for n in range(self.pair.count) for part in parts)

    # The law ---------------------------------------------------------------------------------------------------------

    def force(self, kin, x=(), u=()) -> Iterator[tuple]:
        """Forces and moments on both bodies, at their origins."""
        for contact, force, *_ in self._forces(kin, x):
            for shape, f in ((self.pair.second, force), (self.pair.first, -force)):
                arm = contact.position if shape.body == "world" else contact.position - kin.point(shape.body)
                yield kin.velocity(shape.body), f
                yield kin.angular_velocity(shape.body), arm.cross(f)

    def state_rate(self, kin, x, u) -> list:
        """Of the surface and its tangential deflections."""
        rates = []
        for _, _, normal, tangential, (z, *t) in self._forces(kin, x):
            if self.law == "surface":
                rates.append(-(self.stiffness * z + normal) / self.damping)
            for deflection, f in zip(t, tangential, strict=False):
                rates.append(-(self.tangential_stiffness * deflection + f) / self.tangential_damping)
        return rates

    def _forces(self, kin, x) -> Iterator[tuple[ContactPoint, Vector3, object, list, list]]:
        """Of each point the contact, the force on the second body, its normal and tangential parts, and the states."""
        values = iter(x)
        for contact in self.pair.points(kin):
            z = next(values) if self.law == "surface" else 0.0
            n, v = contact.normal, self._velocity(kin, contact.position)
            f = self._normal(contact.gap, n.dot(v), z)
            force, tangential, t = n * f, [], []
            if present(self.pair.friction):
                axes = self._tangents(kin, n)
                t = [next(values), next(values)]
                tangential = self._friction(f, [axis.dot(v) for axis in axes], t)
                force = force + axes[0] * tangential[0] + axes[1] * tangential[1]
            yield contact, force, f, tangential, [z, *t]

    def _normal(self, p, rate, z):
        """The normal force for a gap, its rate and the deflection of the surface."""
        if self.law != "surface":
            return yielding_force(self.law, (self.stiffness, self.damping, self.exponent), p, rate)
        touched, f = p <= z + NEAR * absolute(z), -(self.stiffness * p + self.damping * rate)
        return where(touched & (f > 0.0), f, 0.0)

    def _friction(self, normal, v: Sequence, t: Sequence) -> list:
        """The tangential force, in Coulomb's cone."""
        stick = [-(self.tangential_stiffness * x + self.tangential_damping * w) for x, w in zip(t, v, strict=True)]
        square, most = stick[0] * stick[0] + stick[1] * stick[1], self.pair.friction * normal
        slips = square > most * most
        scale = where(slips, most / sqrt(where(slips, square, 1.0)), 1.0)
        return [scale * f for f in stick]

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
        found = {what: self.pair.friction if what == "friction" else getattr(self, what) for what in _NUMBERS}
        for side, shape in zip(("first", "second"), self.pair.shapes, strict=True):
            found |= {f"{side}.{what}": x for what, x in shape.numbers().items()}
        return found

    def with_numbers(self, values) -> SoftContact:
        source = iter(values)
        changes = {what: next(source) for what in _NUMBERS}
        first, second = (shape.with_numbers([next(source) for _ in shape.numbers()]) for shape in self.pair.shapes)
        pair = _with_friction(self.pair, changes.pop("friction"), first, second)
        return self._with(changes | {"pair": pair})

    def structure(self) -> tuple:
        return type(self).__module__, type(self).__qualname__, self.name, self.law, self.pair.structure()

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


def _with_friction(pair: ContactPair, friction, first=None, second=None) -> ContactPair:
    """The pair with another coefficient of friction, and shapes over other scalars."""
    shapes = None if first is None else {first.name: first, second.name: second}
    return pair.with_numbers([friction, *list(pair.numbers().values())[1:]], shapes)
