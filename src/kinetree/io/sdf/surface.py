"""SDF ``<surface>`` of a collision: friction, restitution, stiffness, filter bits. Source: SDF 1.11, surface.sdf."""

from __future__ import annotations

import math

from kinetree.io.sdf.notes import Notes
from kinetree.io.sdf.values import boolean, content, number
from kinetree.io.xml.reader import Node

ALL_BITS = 0xFFFF  # of a collision that states none: it touches every other


def read_surface(collision: Node, notes: Notes) -> dict[str, object]:
    """The contact data of a collision, as arguments of Geometry."""
    surface = collision.child("surface")
    bits = _bits(surface)
    found: dict[str, object] = {"contype": bits[0], "conaffinity": bits[1]}
    if surface is None:
        return found
    friction = _friction(_inside(surface, "friction"), notes)
    data = {
        "friction": friction,
        "restitution": _amount(_inside(surface, "bounce"), "restitution_coefficient"),
        "stiffness": _amount(_inside(surface, "contact", "ode"), "kp"),
        "damping": _amount(_inside(surface, "contact", "ode"), "kd"),
    }
    if (data["restitution"] or 0.0) > 1.0:
        node = surface.child("bounce").child("restitution_coefficient")
        node.reject(f"{node.path} is {data['restitution']:g}, expected 0 to 1", code="bad-number")
        data["restitution"] = None
    return found | {name: value for name, value in data.items() if value is not None}


def _inside(node: Node | None, *tags: str) -> Node | None:
    """The element below some others, if all of them are there."""
    for tag in tags:
        node = None if node is None else node.child(tag)
    return node


def _amount(node: Node | None, tag: str) -> float | None:
    """A number of 0 or more."""
    value = None if node is None else number(node, tag)
    if value is not None and value < 0.0:
        child = node.child(tag)
        child.reject(f"{child.path} is {value:g}, expected 0 or more", code="bad-number", repair="is the sign wrong?")
    return None if value is None or not 0.0 <= value < math.inf else value


def _friction(node: Node | None, notes: Notes) -> tuple[float, ...] | None:
    """Sliding, torsional and rolling coefficients, as far as they are stated.

    Notes
    -----
    A patch of radius a turns with the torque 3 pi / 16 a mu_t N. Source: SDF 1.11, torsional friction; Gazebo,
    "Torsional friction" (a Hertzian contact).
    """
    ode, bullet, torsional = (_inside(node, tag) for tag in ("ode", "bullet", "torsional"))
    slide, other = _amount(ode, "mu"), _amount(ode, "mu2")
    if slide is None:
        slide = _amount(bullet, "friction")
    if slide is not None and other not in (None, slide):
        notes.info(ode, f"{ode.path}: mu2 ignored: friction is the same in all directions, that of mu", "ignored")
    spin = roll = None
    if torsional is not None and (coefficient := _amount(torsional, "coefficient")):
        radius = _amount(torsional, "patch_radius") if boolean(torsional, "use_patch_radius", True) else None
        if radius:
            spin = 3.0 * math.pi / 16.0 * radius * coefficient
        else:
            notes.info(torsional, f"{torsional.path} ignored: it states no radius of the patch", "ignored")
    if bullet is not None:
        roll = _amount(bullet, "rolling_friction")
    if slide is None and spin is None and roll is None:
        return None
    known = (1.0 if slide is None else slide, spin or 0.0, roll or 0.0)
    return known if roll is not None else known[:2] if spin is not None else known[:1]


def _bits(surface: Node | None) -> tuple[int, int]:
    """Bits of the category, and of the categories that it touches; one that is not stated is as the other."""
    contact = _inside(surface, "contact")
    words = [_word(contact, tag) for tag in ("category_bitmask", "collide_bitmask")]
    category, collide = words
    collide = ALL_BITS if collide is None else collide
    return collide if category is None else category, collide


def _word(contact: Node | None, tag: str) -> int | None:
    child = _inside(contact, tag)
    if child is None:
        return None
    try:
        value = int(content(child), 0)
    except ValueError:
        value = -1
    if not 0 <= value < 2**32:
        child.reject(f"{child.path} is {content(child)!r}, expected filter bits", code="bad-number")
        return None
    return value
