"""Checks for legal input that is probably not meant: one function per question, over the facts of any robot.

The thresholds were chosen on about 180 public robots, so that a sound robot has no warning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinetree.errors import GeometryError, MissingDependencyError
from kinetree.io.lint.facts import AngleFacts, BodyFacts, Facts, JointFacts, Place
from kinetree.io.lint.result import Finding, finding

MASS_RATIO = 1e4
HUGE_MASS = 1e4  # [kg]
FAR = 10.0  # [m]
FAR_OUTSIDE = 0.5  # of the diagonal of the shapes' box
LARGE_GYRATION = 1.5  # of the diagonal; a uniform box has at most 0.29, its mass in two corners 0.5
SMALL_GYRATION = 0.02  # of the diagonal; a uniform box has at least 0.2
NO_SHAPE_GYRATION = 5.0  # [m], where no shape gives the size
ANGLE_SHOWS = 1e-5  # [rad]
ANGLE_EXACT = 1e-9  # [rad]
WIDEST = 4.0 * math.pi * 1.001  # [rad]
MESH_SCALE = 100.0

Found = tuple[str, Place, str] | tuple[str, Place, str, str]  # code, place, message and repair


def check(facts: Facts, *, meshes: bool = False) -> list[Finding]:
    """All findings about the facts of a robot.

    Parameters
    ----------
    facts : Facts
    meshes : bool
        Whether to open mesh files where the size of a link matters.
    """
    found: list[Finding] = []
    for question in (_masses, _joints, _mass_ratios, _angles, _shapes, _names, _materials):
        found += [_finding(facts, *each) for each in question(facts)]
    # The inertia of a link that is fixed to a moving one is a small share of the total: PR2 has 75 such placeholders.
    fixed = {joint.child for joint in facts.joints.values() if not joint.freedoms and joint.parent is not None}
    for body in facts.bodies.values():
        level = "info" if body.name in fixed else None
        found += [_finding(facts, *each, level=level) for each in _inertia_and_shapes(body, meshes)]
    return found


def _finding(
    facts: Facts, code: str, place: Place, message: str, repair: str = "", level: str | None = None
) -> Finding:
    return finding(code, place.file or facts.file, place.line, place.element, message, repair, level)


def _masses(facts: Facts) -> Iterator[Found]:
    moving = {joint.child for joint in facts.joints.values() if joint.freedoms}
    for body in facts.bodies.values():
        if not body.is_given and body.name in moving and body.shapes:
            message = f"link '{body.name}' moves and has a shape, but no mass"
            yield "missing-inertial", body.place, message, "give it <inertial>, or a fixed joint"
        if body.mass is not None and body.mass > HUGE_MASS:
            yield "huge-mass", body.place, f"link '{body.name}' has {body.mass:g} kg", "is that grams?"


def _mass_ratios(facts: Facts) -> Iterator[Found]:
    """Compare the mass of each rigid piece with that of the piece that carries it."""
    piece: dict[str, str] = {name: name for name in facts.bodies}
    mass = {name: body.mass or 0.0 for name, body in facts.bodies.items()}
    unknown = {name for name, body in facts.bodies.items() if body.mass is None}
    moving: list[JointFacts] = []
    for joint in facts.joints.values():  # parents first
        if joint.parent is None or joint.parent not in piece or joint.child not in piece:
            continue
        if joint.freedoms:
            moving.append(joint)
        else:
            carrier = piece[joint.parent]
            piece[joint.child] = carrier
            mass[carrier] += mass[joint.child]
            unknown |= {carrier} if joint.child in unknown else set()
    for joint in moving:
        a, b = piece[joint.parent], piece[joint.child]
        light, heavy = sorted((mass[a], mass[b]))
        if not unknown & {a, b} and 0.0 < light * MASS_RATIO < heavy:
            masses = f"{mass[a]:g} kg ('{a}') with {mass[b]:g} kg ('{b}'), a ratio of {heavy / light:.2g}"
            message = f"joint '{joint.name}' connects {masses}: simulations lose digits"
            yield "mass-ratio", joint.place, message, "is the small mass a placeholder?"


def _inertia_and_shapes(body: BodyFacts, meshes: bool) -> Iterator[Found]:
    if not body.mass or not np.isfinite(body.com).all():
        return
    unread: list[str] = []
    box = _box(body, meshes, unread)
    for reason in unread:
        yield "mesh-unread", body.place, f"link '{body.name}': {reason}"
    moments = np.linalg.eigvalsh(body.I)
    gyration = math.sqrt(max(float(moments[2]), 0.0) / body.mass)
    about = f"link '{body.name}': largest moment {moments[2]:.3g} kg m^2 with {body.mass:g} kg is a radius of gyration"
    about += f" of {gyration:.2g} m"
    diagonal = math.inf if box is None else float(np.linalg.norm(box[1] - box[0]))
    ones = bool(np.array_equal(np.diag(body.I), np.ones(3)))
    if ones and gyration > min(0.5 * diagonal, 0.5):
        repair = "give the moments of the body; a mesh or a CAD program computes them"
        yield "placeholder-inertia", body.place, f"{about}; is the 1 a placeholder?", repair
    elif gyration > (NO_SHAPE_GYRATION if box is None else LARGE_GYRATION * diagonal):
        size = "" if box is None else f", and its shapes are {diagonal:.2g} m across"
        repair = "was the tensor given about another point, or in kg mm^2?"
        yield "large-inertia", body.place, f"{about}{size}", repair
    if box is None:
        return
    if moments[2] > 0.0 and gyration < SMALL_GYRATION * diagonal:
        repair = "is the unit kg m^2, and is it no placeholder?"
        yield "small-inertia", body.place, f"{about}, and its shapes are {diagonal:.2g} m across", repair
    outside = float(np.linalg.norm(np.maximum(np.maximum(box[0] - body.com, body.com - box[1]), 0.0)))
    if outside > FAR_OUTSIDE * diagonal:
        where = f"{outside:.2g} m outside its shapes, which are {diagonal:.2g} m across"
        message = f"link '{body.name}': the center of mass ({_numbers(body.com)}) m is {where}"
        yield "com-outside", body.place, message, "is it in millimeters, or in the frame of another link?"


def _box(body: BodyFacts, meshes: bool, unread: list[str]) -> tuple[np.ndarray, np.ndarray] | None:
    """The box of all shapes of a body, None if it is not known or has no end: some of the shapes are often a part."""
    from kinetree.geometry.bounds import bounding_box

    if not body.shapes or (not meshes and any(shape.kind == "mesh" for shape in body.shapes)):
        return None
    try:
        corners = [bounding_box(shape) for shape in body.shapes]
    except MissingDependencyError as error:
        if getattr(error, "package", None) == "trimesh":  # needed by the option
            raise
        unread.append(str(error))
        return None
    except (GeometryError, OSError) as error:
        unread.append(str(error))
        return None
    lower = np.min([corner[0] for corner in corners], axis=0)
    upper = np.max([corner[1] for corner in corners], axis=0)
    return (lower, upper) if np.isfinite(lower).all() and np.isfinite(upper).all() else None


def _joints(facts: Facts) -> Iterator[Found]:
    for message, place in facts.idle:
        yield "zero-effort", place, message, "write the effort limit of the drive; programs differ on 0"
    for joint in facts.joints.values():
        far = math.sqrt(sum(x * x for x in joint.offset))
        if far > FAR and joint.parent is not None:
            message = f"joint '{joint.name}' is {far:.4g} m from its parent"
            yield "far-offset", joint.place, message, "is that millimeters?"
        if joint.freedoms != 1:
            continue
        unit = "rad" if joint.turns else "m"
        for value, code, consequence in (
            (joint.effort, "zero-effort", "no drive could move it"),
            (joint.velocity, "zero-velocity", "it may not move"),
        ):
            if value == 0.0:
                message = f"joint '{joint.name}' has the {code[5:]} limit 0: {consequence}"
                yield code, joint.limit_place, message, "write the limit of the drive; programs differ on 0"
        if joint.lower is None or joint.upper is None:
            continue
        if joint.lower == joint.upper:
            message = f"joint '{joint.name}' has lower and upper limit {joint.lower:g} {unit}: it cannot move"
            yield "equal-limits", joint.limit_place, message, "make it fixed, or give its range"
        if joint.turns and max(abs(joint.lower), abs(joint.upper)) > WIDEST:
            message = f"joint '{joint.name}' has the limits [{joint.lower:g}, {joint.upper:g}] rad, more than two turns"
            yield "wide-limit", joint.limit_place, message, "is that degrees? Or make it continuous"


def _angles(facts: Facts) -> Iterator[Found]:
    """One finding per rounded angle, with all that it turns."""
    rounded: dict[tuple[float, bool], list[AngleFacts]] = {}
    for turned in facts.angles:
        for angle in dict.fromkeys(map(abs, turned.values)):
            if rounded_multiple(angle) is not None:
                rounded.setdefault((angle, turned.degrees), []).append(turned)
    for (angle, degrees), turned in rounded.items():
        name, exact = rounded_multiple(angle)
        error = abs(angle - exact)
        where = turned[0].what + (f" and {len(turned) - 1} more" if len(turned) > 1 else "")
        if degrees:
            message = f"{where}: angle {angle!r} is {name}, but the file counts in degrees"
            yield "radians", turned[0].place, message, "is it meant in radians?"
            continue
        code = "rounded-angle" if error > ANGLE_SHOWS else "truncated-angle"
        effect = f"{error:.2g} rad, which moves a point 1 m away by {_length(error)}"
        yield code, turned[0].place, f"{where}: angle {angle!r} is {name} but for {effect}", f"write {exact!r}"


def rounded_multiple(angle: float) -> tuple[str, float] | None:
    """Return name and exact value of the multiple of pi that an angle is a rounded one of, None if there is none.

    Parameters
    ----------
    angle : float
        [rad]; with two decimals at least, and not exact to 1e-9. Two and three decimals are taken for a multiple of
        pi/2 only, more also for multiples of pi/6 and pi/4: any angle is near one of these.

    Examples
    --------
    >>> rounded_multiple(1.5708)
    ('pi/2', 1.5707963267948966)
    >>> rounded_multiple(0.52), rounded_multiple(1.5707963267948966)
    (None, None)
    """
    text = repr(abs(angle))
    decimals = len(text.partition(".")[2]) if "e" not in text else 0
    if decimals < 2:
        return None
    for divisor in (2,) if decimals < 4 else (2, 4, 6):
        count = round(angle / (math.pi / divisor))
        exact = count * math.pi / divisor
        # Rounded, or cut off, at the last decimal.
        if count and ANGLE_EXACT < abs(angle - exact) < min(10.0**-decimals * 1.0001, 2e-3):
            shared = math.gcd(abs(count), divisor)
            above, below = count // shared, divisor // shared
            sign = {1: "", -1: "-"}.get(above, f"{above} ")
            return f"{sign}pi" + (f"/{below}" if below > 1 else ""), exact
    return None


def _shapes(facts: Facts) -> Iterator[Found]:
    for body in facts.bodies.values():
        for shape in body.shapes:
            scale = [abs(s) for s in shape.scale]
            if shape.kind == "mesh" and (min(scale) == 0.0 or max(scale) >= MESH_SCALE):
                message = f"link '{body.name}': mesh '{shape.mesh}' is scaled by ({_numbers(shape.scale)})"
                yield "mesh-scale", body.place, message, "millimeters become meters by 0.001"
            if shape.color is not None and not all(0.0 <= part <= 1.0 for part in shape.color):
                message = f"link '{body.name}': color ({_numbers(shape.color)}) is outside 0 to 1"
                yield "color-range", body.place, message, "is that 0 to 255?"


def _names(facts: Facts) -> Iterator[Found]:
    first: dict[tuple[str, str], str] = {}
    for kind, name, place in facts.names:
        if name != name.strip():
            message = f"{kind} name '{name}' begins or ends with white space"
            yield "similar-names", place, message, "remove it"
        other = first.setdefault((kind, name.strip().lower()), name)
        if other != name:
            message = f"{kind} names '{other}' and '{name}' differ in case or white space only"
            yield "similar-names", place, message, "rename one of them"


def _materials(facts: Facts) -> Iterator[Found]:
    for name, (place, used) in facts.materials.items():
        if not used:
            yield "unused-material", place, f"material '{name}' is used by no shape", "remove it"


def _numbers(values) -> str:
    return ", ".join(f"{float(x):g}" for x in values)


def _length(meters: float) -> str:
    for unit, factor in (("mm", 1e3), ("um", 1e6)):
        if meters * factor >= 0.1:
            return f"{meters * factor:.2g} {unit}"
    return f"{meters * 1e9:.2g} nm"
