"""The choice of contact pairs from the shapes of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from kinetree.arguments import listed, names, refuse
from kinetree.collision.axes import contact_axes
from kinetree.collision.laws import law_of
from kinetree.collision.material import Ground
from kinetree.collision.pair import ContactPair
from kinetree.collision.shape import Shape
from kinetree.errors import ModelError
from kinetree.spatial import Vector3

WORLD, GROUND = "world", "ground"


class ContactChoice:
    """Base of models: a copy with contact pairs."""

    __slots__ = ()

    def with_contacts(self, ground=None, pairs=(), bodies=None):
        """A copy with further contact pairs.

        Parameters
        ----------
        ground : True, float or Ground, optional
            The ground, which may touch all collision shapes of the bodies: True is a floor at z = 0, a number its
            height [m]. By default there is none.
        pairs : sequence of ContactPair
            Further pairs, as given.
        bodies : str or sequence of str, optional
            Names of the bodies whose shapes take part. By default all.

        Returns
        -------
        Model

        Raises
        ------
        ArgumentError, ModelError, UnknownNameError, DuplicateNameError

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
        if not isinstance(pairs, (list, tuple)):
            refuse("with_contacts: pairs", pairs, "a sequence of kt.collision.ContactPair")
        chosen = self.outward() if bodies is None else [self.body(x) for x in names("with_contacts: bodies", bodies)]
        found = [] if ground is None else list(_on_ground(self, Ground.of(ground), chosen))
        return self.replace(contacts=(*self.contacts, *found, *pairs))


def ground_shape(ground: Ground) -> Shape:
    """The plane of the ground."""
    n = Vector3(*ground.normal)
    R = tuple(zip(*contact_axes(n), strict=True))
    return Shape(WORLD, "plane", R=R, p=tuple(ground.height * x for x in n), name=GROUND)


def _on_ground(model, ground: Ground, bodies: Sequence[int]) -> Iterator[ContactPair]:
    """Pairs of the ground with all collision shapes of bodies."""
    plane, numbers = ground_shape(ground), asdict(ground.material)
    shapes = [shape for i in bodies for shape in _shapes_of(model, i)]
    if not shapes:
        raise ModelError(
            f"with_contacts: no body of model {model.name!r} has collision shapes that could touch the ground; add "
            "kt.model.Geometry by ModelBuilder.add_geometry, or give pairs="
        )
    for shape in shapes:
        yield ContactPair(f"{GROUND}/{shape.name}", plane, shape, **numbers)


def _shapes_of(model, i: int) -> list[Shape]:
    """The collision shapes of a body."""
    body = model.body_names[i]
    solid = [shape for shape in model.geometry[i] if shape.role != "visual"]
    unknown = [shape.kind for shape in solid if not law_of("plane", shape.kind)]
    if unknown:
        raise ModelError(f"with_contacts: body {body!r} has shapes without a law for contact: {listed(unknown)}")
    return [
        Shape(
            body, shape.kind, shape.size, tuple(map(tuple, shape.R_BG.tolist())), tuple(shape.p_BG.tolist()),
            shape.name or (f"{body}.{k}" if len(solid) > 1 else body),
        )
        for k, shape in enumerate(solid)
    ]  # fmt: skip
