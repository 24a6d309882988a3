"""The choice of contact pairs from the shapes of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations

from kinetree.arguments import a_truth_value, instance, listed, names, refuse
from kinetree.collision.axes import contact_axes
from kinetree.collision.laws import law_of
from kinetree.collision.material import Ground, Material
from kinetree.collision.pair import ContactPair
from kinetree.collision.shape import Shape
from kinetree.errors import ModelError, unknown_name
from kinetree.model.contact_filter import group_of, neighbors
from kinetree.model.contact_shapes import Candidate, collision_shapes, mixed
from kinetree.model.parts import Geometry
from kinetree.spatial import Vector3
from kinetree.state_kinematics import Kinematics

WORLD, GROUND = "world", "ground"
TOUCHING = 1e-9
"""Shapes that are nearer than this overlap in the neutral position [m]."""


class ContactChoice:
    """Base of models: a copy with contact pairs."""

    __slots__ = ()

    def with_contacts(
        self, ground=None, self_collision=False, pairs=(), bodies=None, material=None, meshes="error"
    ):
        """A copy with further contact pairs.

        Parameters
        ----------
        ground : True, float or Ground, optional
            The ground, which may touch the collision shapes of all bodies: a number is the height of a floor [m], True
            the planes that the world of the model's file has, or a floor at z = 0 if it has none. Other shapes of the
            world then take part, too. By default there is none.
        self_collision : bool
            Pairs of shapes of different bodies, too, but for those named in the notes.
        pairs : sequence
            Further pairs: `kinetree.collision.ContactPair`, or two names of shapes, links or bodies, with a
            `kinetree.collision.Material` as a third item if the pair has its own. "ground" is the ground. They replace
            pairs of the same shapes that are chosen.
        bodies : str or sequence of str, optional
            Names of the bodies, links or shapes that take part. By default all.
        material : Material, optional
            The numbers of all pairs. By default those of the ground for pairs with it, and the mixture of both shapes
            for others.
        meshes : {"error", "hull", "box", "skip"}
            Meshes: refused, their convex hulls of at most 16 vertices, their bounding boxes, or left out.

        Returns
        -------
        Model
            Its report lists the pairs that are left out.

        Raises
        ------
        ArgumentError, ModelError, UnknownNameError, DuplicateNameError, GeometryError

        Notes
        -----
        Left out are pairs of bodies that one joint or loop joint connects, also through fixed joints; pairs that the
        file excludes, or whose filter bits (contype, conaffinity) match in no order; pairs that overlap in the neutral
        position; and, with a note in the report, pairs of kinds that have no law. Pairs that the file lists take part
        with their own numbers whatever their filters.

        Of shapes that state their own friction the greater counts, as in MuJoCo (Bullet: the product), unless one has
        the higher priority.

        Examples
        --------
        >>> import kinetree as kt
        >>> ball = kt.model.Geometry("sphere", (0.1,), p_BG=(0.0, 0.0, -1.0), name="ball")
        >>> b = kt.ModelBuilder.of(kt.models.pendulum())
        >>> b.add_geometry("bob", ball)
        >>> model = b.build().with_contacts(ground=kt.collision.Ground(height=-1.2, friction=0.5))
        >>> model.contact_labels, kt.collision.contact_gaps(model, [0.0]).round(12).tolist()
        (('ground/ball',), [0.1])
        """
        a_truth_value("with_contacts: self_collision", self_collision)
        if material is not None:
            instance("with_contacts: material", material, Material, "a kt.collision.Material")
        if not isinstance(pairs, (list, tuple)):
            refuse("with_contacts: pairs", pairs, "a sequence of kt.collision.ContactPair, or of pairs of names")
        ground = None if ground is False else ground
        choice = _Choice(self, bodies, material, meshes, needed=ground is not None or self_collision)
        found = [] if ground is None else [*choice.on_ground(ground)]
        if self_collision:
            found += choice.among_bodies()
        given = [pair for item in pairs for pair in choice.given(item, ground)]
        own = [{*map(str, pair.shapes)} for pair in given]
        found = [pair for pair in found if {*map(str, pair.shapes)} not in own] + given
        return self.replace(contacts=(*self.contacts, *found), report=choice.report())


class _Choice:
    """One call of ``with_contacts``."""

    def __init__(self, model, bodies, material: Material | None, meshes: str, needed: bool) -> None:
        self.model, self.material, self.meshes = model, material, meshes
        self.without_law: Counter = Counter()
        self.overlapping: list[str] = []
        self.left_out: list[str] = []
        numbers, only = self._numbers(bodies), () if bodies is None else names("with_contacts: bodies", bodies)
        self.shapes = collision_shapes(model, numbers, meshes, self.left_out, only) if needed else []
        self.listed = [{*pair} for pair in model.equipment.contact_pairs]

    def _numbers(self, bodies) -> Sequence[int]:
        """The bodies that names of bodies, links and shapes are on."""
        model = self.model
        if bodies is None:
            return model.outward()
        places = {name: i for i, name in enumerate(model.body_names)}
        for i, shapes in enumerate(model.geometry):
            for shape in shapes:
                places |= {name: i for name in (shape.link, shape.name) if name and name not in places}
        for name in (given := names("with_contacts: bodies", bodies)):
            if name not in places:
                raise unknown_name("body, link or shape", name, places, f"model {model.name!r}")
        return sorted({places[name] for name in given})

    # Pairs -----------------------------------------------------------------------------------------------------------

    def on_ground(self, ground) -> Iterator[ContactPair]:
        """Pairs of the world with the shapes of bodies."""
        model = self.model
        if not self.shapes:
            unread = [f"{line.where}: {line.message}" for line in model.report if "collision ignored" in line.message]
            raise ModelError(
                f"with_contacts: no body of model {model.name!r} has collision shapes that could touch the ground; add "
                "kt.model.Geometry by ModelBuilder.add_geometry, or give pairs="
                + (f". Of its file was ignored: {'; '.join(unread[:3])}" if unread else "")
            )
        still = collision_shapes(model, [0], "skip" if self.meshes == "error" else self.meshes, self.left_out)
        planes = [c for c in still if c.shape.kind == "plane"]
        if ground is not True or not planes:
            still, ground = [c for c in still if c not in planes], Ground.of(ground)
            plane = ground_shape(ground)
            for c in self.shapes:
                if self._has_law(plane, c.shape):
                    yield self._pair(plane, c.shape, self.material or ground.material)
        for first in still:
            for second in self.shapes:
                if self._filters(first, second) and self._has_law(first.shape, second.shape):
                    yield self._pair(first.shape, second.shape, self._material(first, second))

    def among_bodies(self) -> Iterator[ContactPair]:
        """Pairs of shapes of different bodies."""
        kin = Kinematics(self.model, self.model.neutral().tolist())
        close = neighbors(self.model)
        for first, second in combinations(self.shapes, 2):
            groups = frozenset((group_of(self.model, first.body), group_of(self.model, second.body)))
            listed = {first.shape.name, second.shape.name} in self.listed
            if len(groups) < 2 or not listed and (groups in close or not self._filters(first, second)):
                continue
            if not self._has_law(first.shape, second.shape):
                continue
            pair = self._pair(first.shape, second.shape, self._material(first, second))
            if not listed and min(x.gap for x in pair.points(kin)) < TOUCHING:
                self.overlapping.append(pair.name)
                continue
            yield pair

    def given(self, pair, ground) -> Iterator[ContactPair]:
        """The pairs that one item of ``pairs=`` means."""
        if isinstance(pair, ContactPair):
            yield pair
            return
        named = isinstance(pair, (tuple, list)) and len(pair) in (2, 3)
        if not named or not all(isinstance(name, str) for name in pair[:2]):
            refuse("with_contacts: pairs", pair, "a kt.collision.ContactPair, two names, or two names and a Material")
        if len(pair) == 3:
            instance("with_contacts: pairs", pair[2], Material, "a kt.collision.Material")
        sides = [self._named(name, ground) for name in pair[:2]]
        for first in sides[0]:
            for second in sides[1]:
                if first.body != second.body:
                    material = pair[2] if len(pair) == 3 else self._material(first, second)
                    yield self._pair(first.shape, second.shape, material)

    def _named(self, name: str, ground) -> list[Candidate]:
        """The shapes of a name."""
        model = self.model
        if name == GROUND:
            plane = Ground.of(True if ground is None else ground)
            return [Candidate(ground_shape(plane), Geometry("plane", friction=(plane.friction,)), 0, WORLD)]
        bodies = [0, *self._numbers([name])] if name != WORLD else [0]
        found = collision_shapes(model, dict.fromkeys(bodies), self.meshes, [], [name])
        if not found:
            raise ModelError(f"with_contacts: {name!r} of model {model.name!r} has no collision shapes", name=name)
        return found

    def _pair(self, first: Shape, second: Shape, material: Material) -> ContactPair:
        return ContactPair(f"{first.name}/{second.name}", first, second, **asdict(material))

    def _material(self, first: Candidate, second: Candidate) -> Material:
        """Of the pair that the file lists, or of both shapes."""
        if self.material is not None:
            return self.material
        found = mixed(first.geometry, second.geometry, Material())
        for pair in self.model.equipment.contact_pairs:
            if {*pair} == {first.shape.name, second.shape.name}:
                own = {"restitution": pair.restitution, "margin": pair.margin}
                own["friction"] = None if pair.friction is None else pair.friction[0]
                found = Material(**asdict(found) | {what: x for what, x in own.items() if x is not None})
        return found

    # Filters ---------------------------------------------------------------------------------------------------------

    def _filters(self, first: Candidate, second: Candidate) -> bool:
        """Whether the file lets two shapes touch."""
        links = [{c.link, self.model.body_names[c.body]} for c in (first, second)]
        for a, b in self.model.equipment.contact_excludes:
            if a in links[0] and b in links[1] or b in links[0] and a in links[1]:
                return False
        return {first.shape.name, second.shape.name} in self.listed or first.passes(second)

    def _has_law(self, first: Shape, second: Shape) -> bool:
        found = law_of(first.kind, second.kind) is not None
        if not found:
            self.without_law[first.kind, second.kind] += 1
        return found

    def report(self):
        """The report of the model with the pairs that are left out."""
        report = self.model.report
        if self.without_law:
            kinds = ", ".join(f"{n} of {a} and {b}" for (a, b), n in sorted(self.without_law.items()))
            message = f"pairs of kinds without a law are left out: {kinds}"
            report = report.with_entry("warning", "with_contacts", message)
        if self.left_out:
            message = f"shapes of kinds without a law are left out: {listed(self.left_out)}"
            report = report.with_entry("warning", "with_contacts", message)
        if self.overlapping:
            shown = ", ".join(self.overlapping[:8]) + (" and others" if len(self.overlapping) > 8 else "")
            message = f"{len(self.overlapping)} pairs overlap in the neutral position and are left out: {shown}"
            report = report.with_entry("info", "with_contacts", message)
        return report


def ground_shape(ground: Ground) -> Shape:
    """The plane of the ground."""
    n = Vector3(*ground.normal)
    R = tuple(zip(*contact_axes(n), strict=True))
    return Shape(WORLD, "plane", R=R, p=tuple(ground.height * x for x in n), name=GROUND)
