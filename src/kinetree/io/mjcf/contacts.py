"""The section ``<contact>`` of an MJCF model, read and written: pairs of geoms, and exclusions of bodies."""

from __future__ import annotations

import numpy as np

from kinetree.io.mjcf.layout import Layout, of_kind
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.shapes import SOFTNESS
from kinetree.io.number_text import number_text, numbers_text
from kinetree.io.writing import add
from kinetree.model import ContactExclude, GeometryPair, Softness


def contact_pairs(place: Layout, notes: Notes) -> tuple[tuple[ContactExclude, ...], tuple[GeometryPair, ...]]:
    """The exclusions and the pairs of a compiled model.

    Notes
    -----
    A compiled exclusion holds the numbers of its bodies as ``(first << 16) + second``.
    """
    mj, geoms = place.mj, of_kind(place.mj, "geom", place.mj.ngeom)
    names = of_kind(mj, "exclude", mj.nexclude)
    excludes = tuple(
        ContactExclude(place.bodies[int(ends) >> 16], place.bodies[int(ends) & 0xFFFF], name)
        for ends, name in zip(mj.exclude_signature, names, strict=True)
    )
    pairs = []
    for k, name in enumerate(of_kind(mj, "pair", mj.npair)):
        first, second = (geoms[int(g)] for g in (mj.pair_geom1[k], mj.pair_geom2[k]))
        softness = Softness(tuple(mj.pair_solref[k].tolist()), tuple(mj.pair_solimp[k].tolist()))
        pairs.append(
            GeometryPair(
                first, second, _shortened(mj.pair_friction[k].tolist()), margin=max(float(mj.pair_margin[k]), 0.0),
                condim=int(mj.pair_dim[k]), softness=None if softness == SOFTNESS else softness, name=name,
            )
        )  # fmt: skip
        if mj.pair_solreffriction[k].any():
            notes.info(("pair", name), f"<pair>: solreffriction ignored: {pairs[-1]} has one softness", "ignored")
    return excludes, tuple(pairs)


def _shortened(friction: list[float]) -> tuple[float, ...]:
    """Three coefficients, where those of both tangents are the same, else five."""
    slide, other, spin, roll, across = friction
    return (slide, spin, roll) if slide == other and roll == across else tuple(friction)


def write_contacts(root, model, bodies: set[str], geoms: dict[str, str], features) -> None:
    """Add the section; ``bodies`` are in the file, ``geoms`` have the names of shapes there."""
    section = add(root, "contact")
    for exclude in model.equipment.contact_excludes:
        if not bodies.issuperset(exclude):
            features.omit("contact exclusions of links that the file has no body for", str(exclude))
            continue
        if lumped := [x for x in exclude if model.frame(x).name != model.body_names[model.frame(x).body]]:
            message = f"{', '.join(map(repr, lumped))} is part of another body, which holds its shapes in the file"
            features.note(str(exclude), message, "warning")
        add(section, "exclude", body1=exclude.first, body2=exclude.second, **_named(exclude))
    for pair in model.equipment.contact_pairs:
        if not geoms.keys() >= {*pair}:
            features.omit("contact pairs of shapes that are left out", str(pair))
            continue
        data = {"geom1": geoms[pair.first], "geom2": geoms[pair.second], **_named(pair)}
        if pair.friction is not None:
            slide, *more = pair.friction
            slide = (slide, more.pop(0)) if len(pair.friction) > 3 else (slide, slide)
            spin, *roll = *more, *(0.005, 0.0001)[len(more) :]
            data["friction"] = numbers_text((*slide, spin, *(roll if len(roll) == 2 else roll * 2)))
        add(section, "pair", **data, **contact_attributes(pair, features, str(pair)))
    if len(section) == 0:
        root.remove(section)


def contact_attributes(data, features, what: str) -> dict[str, str]:
    """Attributes that geoms and pairs have in common, friction left out."""
    found = {}
    if data.margin:
        found["margin"] = number_text(data.margin)
    if data.condim not in (None, 3):
        found["condim"] = str(data.condim)
    if data.softness is not None:
        found |= {name: numbers_text(getattr(data.softness, name)) for name in ("solref", "solimp")}
    for name in ("restitution", "stiffness", "damping"):
        if getattr(data, name, None) is not None:
            features.omit(f"{name} of contacts", what)
    return found


def geom_attributes(shape, features, what: str) -> dict[str, str]:
    """The contact data of a shape as attributes of a geom."""
    found = contact_attributes(shape, features, what)
    if shape.friction is not None and shape.friction != (1.0, 0.005, 0.0001):
        found["friction"] = numbers_text(shape.friction)
    for name, default in (("contype", 1), ("conaffinity", 1), ("priority", 0)):
        if getattr(shape, name) != default:
            found[name] = str(int(np.int32(np.uint32(getattr(shape, name)))) if default else getattr(shape, name))
    return found


def _named(piece) -> dict[str, str]:
    return {"name": piece.name} if piece.name else {}
