"""Mass and inertia for bodies that have shapes but no masses: for one body, and for those of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kinetree.arguments import a_model, checked, names
from kinetree.errors import GeometryError, ModelError, unknown_name
from kinetree.geometry.mass_properties import MassProperties, body_mass_properties, of_role
from kinetree.model import Model
from kinetree.model.parts import Geometry
from kinetree.spatial import Inertia, Symmetric3, Vector3

WATER = 1000.0  # [kg/m^3], the default


def inertia_of_shapes(
    shapes: Iterable[Geometry],
    density: float = WATER,
    *,
    mass: float | None = None,
    role: str = "collision",
    convex_hull: bool | str = False,
    what: str = "",
) -> MassProperties | None:
    """Mass properties of one body from its shapes, or None if it has none of the role.

    Parameters
    ----------
    shapes : iterable of Geometry
        Of one body, in its coordinates.
    density : float
        [kg/m^3]; without effect if ``mass`` is given.
    mass : float, optional
        Of the body [kg].
    role : {"collision", "visual", "both"}
    convex_hull : bool or "if_needed"
        As in `mass_properties`.
    what : str
        Opens the message of an error: "link 'arm'".

    Returns
    -------
    MassProperties or None

    Raises
    ------
    GeometryError
        If a shape has no volume; the message names ``what``, the file and the repair.
    """
    chosen = of_role(shapes, role)
    if not chosen:
        return None
    try:
        amount = {"density": density} if mass is None else {"mass": mass}
        return body_mass_properties(chosen, **amount, role="both", convex_hull=convex_hull)
    except ModelError as error:
        if not what:
            raise
        values = {name: value for name, value in vars(error).items() if name != "message"}
        raise type(error)(f"{what}: {error.message}", **values) from error


@checked(model=a_model)
def inertia_from_geometry(
    model: Model,
    *,
    density: float | Mapping[str, float] | None = None,
    mass: str | Mapping[str, float] | None = None,
    bodies: Iterable[str] | None = None,
    role: str = "collision",
    convex_hull: bool | str = False,
) -> Model:
    """A copy of a model in which chosen bodies have the mass and inertia that their shapes give.

    Parameters
    ----------
    model : Model
    density : float or mapping of str to float, optional
        For all chosen bodies, or by body [kg/m^3]; default 1000.
    mass : "keep" or mapping of str to float, optional
        Instead of the density: keep the masses that the model has and take only centers of mass and inertias from the
        shapes, or masses by body [kg].
    bodies : iterable of str, optional
        Names of bodies, whose mass and inertia are replaced. Default: those that ``density`` or ``mass`` names; with
        ``mass="keep"`` all that have mass and shapes; else all that have shapes and no mass.
    role : {"collision", "visual", "both"}
        Which shapes are solid matter.
    convex_hull : bool or "if_needed"
        As in `mass_properties`.

    Returns
    -------
    Model
        ``model.report`` has a warning for each body that was changed, and an entry for each that stays without mass.

    Raises
    ------
    GeometryError
        If a body that was named has no shape of the role, or a shape has no volume; ``body`` is an attribute.
    UnknownNameError
        If there is no such body.
    ModelError
        If a density or mass is missing or not positive.

    Notes
    -----
    Links that fixed joints weld to a body are part of it: their shapes count, and their mass is replaced too. A moving
    body without any inertia cannot be built at all, so files of such robots get theirs while they are read
    (`inertia_of_shapes`). Overlapping shapes count twice, see `body_mass_properties`.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.model.parts import Geometry
    >>> builder = kt.ModelBuilder("crank")
    >>> builder.add_body("arm", joint=kt.joints.Revolute((0.0, 0.0, 1.0)), mass=1.0, inertia=(0.1, 0.1, 0.1),
    ...                  geometry=[Geometry("box", (1.0, 0.1, 0.1), p_BG=(0.5, 0.0, 0.0))])
    >>> crank = inertia_from_geometry(builder.build(), mass="keep")
    >>> round(crank.I[1].m, 9), round(crank.I[1].I.zz, 6)
    (1.0, 0.334167)
    >>> print(crank.report)
    warning: body 'arm': mass 1 kg kept; center of mass and inertia from 1 collision shape (0.01 m^3, 100 kg/m^3)
    """
    if density is not None and mass is not None:
        raise ModelError("give density= or mass=, not both")
    if isinstance(mass, str) and mass != "keep":
        raise unknown_name("choice", mass, ["keep"], "inertia_from_geometry(..., mass=...)")
    chosen, named = _chosen(model, density, mass, bodies, role)
    I, report = list(model.I), model.report
    for i in chosen:
        name = model.body_names[i]
        shapes = of_role(model.geometry[i], role)
        if not shapes:
            if named:
                message = f"body {name!r} has no shape of role '{role}' to take its inertia from{_others(model, i)}"
                raise GeometryError(message, check="shapes", body=name)
            message = f"no shape of role '{role}', so it stays without mass{_others(model, i)}"
            report = report.with_entry("info", f"body {name!r}", message)
            continue
        amounts = {"density": WATER if density is None else _of_body("density", density, name)}
        if mass is not None:
            amounts["mass"] = model.I[i].m if mass == "keep" else _of_body("mass", mass, name)
        try:
            found = inertia_of_shapes(shapes, **amounts, role=role, convex_hull=convex_hull, what=f"body {name!r}")
        except ModelError as error:
            error.body = name
            raise
        I[i] = _spatial(found)
        for message in (_summary(found, len(shapes), role, mass), *found.notes):
            report = report.with_entry("warning", f"body {name!r}", message)
    return model.replace(I=I, report=report)


def _chosen(model: Model, density, mass, bodies, role: str) -> tuple[list[int], bool]:
    """Numbers of the bodies to change, and whether the user named them."""
    if bodies is None:
        bodies = next((list(amount) for amount in (density, mass) if isinstance(amount, Mapping)), None)
    if bodies is not None:
        numbers = list(dict.fromkeys(model.body(name) for name in names("inertia_from_geometry: bodies", bodies)))
        if 0 in numbers:
            raise ModelError("the world has no inertia that the dynamics use; leave it out of bodies=")
        return numbers, True
    if mass == "keep":
        return [i for i in model.outward() if model.I[i].m > 0.0 and of_role(model.geometry[i], role)], False
    return [i for i in model.outward() if model.I[i].m == 0.0], False


def _of_body(what: str, amount: float | Mapping[str, float], name: str) -> float:
    if not isinstance(amount, Mapping):
        return amount
    if name not in amount:
        raise ModelError(f"body {name!r}: {what}= names {', '.join(amount) or 'no body'}, but not this one", body=name)
    return amount[name]


def _spatial(found: MassProperties) -> Inertia:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = found.inertia.tolist()
    return Inertia.from_com(found.mass, Vector3(*found.com.tolist()), Symmetric3(xx, xy, yy, xz, yz, zz))


def _summary(found: MassProperties, count: int, role: str, mass) -> str:
    shapes = f"{count} {'' if role == 'both' else f'{role} '}shape{'s' if count > 1 else ''}"
    matter = f"({found.volume:.4g} m^3, {found.density:.4g} kg/m^3)"
    if mass is None:
        return f"mass {found.mass:.4g} kg, center of mass and inertia from {shapes} {matter}"
    origin = "kept" if mass == "keep" else "given"
    return f"mass {found.mass:.4g} kg {origin}; center of mass and inertia from {shapes} {matter}"


def _others(model: Model, i: int) -> str:
    roles = sorted({shape.role for shape in model.geometry[i]})
    return f"; it has shapes of role {', '.join(map(repr, roles))}" if roles else ""
