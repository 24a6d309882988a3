"""Parallel robots: a platform on several legs."""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import a_number, a_positive_number, a_word, an_array, checked, choice, refuse
from kinetree.constraints import LoopJoint
from kinetree.joints import Free, Prismatic, Revolute, Spherical, Universal
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import add_rod, at, closed, direction, positive
from kinetree.model.model import Model

SPREAD = math.radians(10.0)  # half the angle between the two anchors of a pair, seen from the center


@checked(radii=an_array, height=a_positive_number, masses=an_array, platform=a_word, gravity=an_array)
def stewart_platform(
    radii=(0.6, 0.35), height: float = 0.7, masses=(1.0, 0.5, 5.0), *, platform: str = "free", gravity=(0.0, 0.0, -9.81)
) -> Model:
    """A Stewart-Gough platform on six legs with joints "universal<k>" and "prismatic<k>", and balls, k = 1 ... 6.

    It is closed at q = neutral: there the platform is level, ``height`` above the base, and each prismatic joint is at
    zero. The axes of a universal joint are across its leg there. The ball joints are the loop joints "ball<k>", which
    connect the legs to the platform.

    Parameters
    ----------
    radii : (2,) array
        Of the circles of anchors on base and platform [m]; three pairs on each, those of the platform between those of
        the base.
    height : float
        [m].
    masses : (3,) array
        Of the lower and the upper part of each leg, which are thin rods, each half as long as the leg at neutral, and
        of the platform, a thin disk [kg].
    platform : {"free", "leg"}
        The platform has a free joint, "platform", and six balls close loops, 18 rows; or it is on the first leg by a
        ball joint, "ball1", and five balls close loops, 15 rows.
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Notes
    -----
    Source: Stewart, A platform with six degrees of freedom (1965); anchors in pairs as in usual hexapods, dimensions of
    no product. Mobility 24 - 18 = 21 - 15 = 6, no redundant rows.

    Examples
    --------
    >>> model = stewart_platform()
    >>> model.nv, model.nc, stewart_platform(platform="leg").nv
    (24, 18, 21)
    """
    free = choice("stewart_platform: platform", platform, ("free", "leg")) == "free"
    base, top = positive("stewart_platform: radii", radii, "base", "platform")
    lower, upper, disk = positive("stewart_platform: masses", masses, "lower", "upper", "platform")
    b = ModelBuilder("stewart_platform", gravity=direction("stewart_platform: gravity", gravity))
    pairs = [math.radians(120.0 * (k // 2)) for k in range(6)]
    signs = [(-1.0) ** k for k in range(6)]
    feet = [_on_circle(base, pairs[k] - signs[k] * SPREAD, 0.0) for k in range(6)]
    heads = [_on_circle(top, pairs[k] - signs[k] * (math.pi / 3 - SPREAD), height) for k in range(6)]
    body = dict(mass=disk, inertia=disk * top**2 * np.array([0.25, 0.25, 0.5]))
    center = np.array([0.0, 0.0, height])
    if free:
        b.add_body("platform", WORLD, Free(), "platform", at(z=height), **body)
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True), start=1):
        along = head - foot
        length = float(np.linalg.norm(along))
        R = _frame_along(along / length)
        half = length / 2
        thin = np.array([1.0, 1.0, 0.0]) * half**2 / 12.0
        b.add_body(f"lower{k}", WORLD, Universal(), f"universal{k}", (R, foot), mass=lower, com=(0, 0, half / 2),
                   inertia=lower * thin)  # fmt: skip
        b.add_body(f"upper{k}", f"lower{k}", Prismatic((0, 0, 1)), f"prismatic{k}", at(z=half), mass=upper,
                   com=(0, 0, half / 2), inertia=upper * thin)  # fmt: skip
        b.add_frame(f"head{k}", f"upper{k}", at(z=half))
        if not free and k == 1:  # the platform's axes are those of the world at neutral
            b.add_body("platform", "upper1", Spherical(), "ball1", (R.T, (0.0, 0.0, half)), com=center - head, **body)
        origin = center if free else heads[0]
        b.add_frame(f"anchor{k}", "platform", at(*(head - origin).tolist()))
    legs = range(1 if free else 2, 7)
    return closed(b, {}, [LoopJoint(f"ball{k}", Spherical(), f"head{k}", f"anchor{k}") for k in legs])


def _on_circle(radius: float, angle: float, height: float) -> np.ndarray:
    return np.array([radius * math.cos(angle), radius * math.sin(angle), height])


def _frame_along(z: np.ndarray) -> np.ndarray:
    """The rotation whose third column is this direction, and whose first is across it and horizontal."""
    x = np.cross((0.0, 0.0, 1.0), z)
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.column_stack([x, np.cross(z, x), z])


@checked(lengths=an_array, radii=an_array, masses=an_array, gap=a_positive_number, angle=a_number, gravity=an_array)
def delta_robot(
    lengths=(0.235, 0.8),
    radii=(0.2, 0.05),
    masses=(0.5, 0.2, 0.3),
    *,
    gap: float = 0.1,
    angle: float = 0.0,
    gravity=(0.0, 0.0, -9.81),
) -> Model:
    """A delta robot: three driven arms, "arm<k>", each with a pair of rods to a platform that moves without turning.

    Rod <k>a and <k>b are on arm k by the universal joints "elbow<k>a", "elbow<k>b", and on the platform, whose joint
    "platform" is free, by the balls "wrist<k>a", "wrist<k>b", which close loops. It hangs below its base.

    Parameters
    ----------
    lengths : (2,) array
        Of arms and rods [m].
    radii : (2,) array
        Of the circles of the arms' hinges on the base, and of the wrists on the platform [m].
    masses : (3,) array
        Of an arm and a rod, which are thin, and of the platform, a thin disk [kg].
    gap : float
        Between the rods of a pair [m].
    angle : float
        Of all arms in the keyframe "initial", downward from the horizontal [rad].
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        The rods do not reach the platform.

    Notes
    -----
    Source: Clavel, DELTA, a fast robot with parallel geometry (1988); dimensions like those of a pick-and-place robot.
    Mobility 21 - 18 = 3, no redundant rows.

    Examples
    --------
    >>> model = delta_robot()
    >>> q, _ = model.keyframe("initial")
    >>> model.nv, model.nc, q[model.q_index("platform")][:3].round(6).tolist()
    (21, 18, [0.0, 0.0, -0.701267])
    """
    arm, rod = positive("delta_robot: lengths", lengths, "arm", "rod")
    base, top = positive("delta_robot: radii", radii, "base", "platform")
    m_arm, m_rod, disk = positive("delta_robot: masses", masses, "arm", "rod", "platform")
    across = base + arm * math.cos(angle) - top
    if abs(across) >= rod:
        too_far = f"{abs(across) - rod:.3g} m are missing"
        refuse("delta_robot: angle", angle, f"one at which the rods reach the platform; {too_far}")
    depth = math.sqrt(rod**2 - across**2)
    b = ModelBuilder("delta_robot", gravity=direction("delta_robot: gravity", gravity))
    b.add_body("platform", WORLD, Free(), "platform", mass=disk, inertia=disk * top**2 * np.array([0.25, 0.25, 0.5]))
    q = {"platform": (0.0, 0.0, -arm * math.sin(angle) - depth, 1.0, 0.0, 0.0, 0.0)}
    # In the frame of an elbow, whose axes are those of the hinge, the rod points along -z at universal angles (0, 0).
    lean = math.atan2(across, depth) - angle
    loops, thin = [], m_rod * rod**2 / 12.0
    for k in range(1, 4):
        turn = math.radians(120.0 * (k - 1))
        c, s = math.cos(turn), math.sin(turn)
        add_rod(b, f"arm{k}", WORLD, Revolute((0, 1, 0)), at(base * c, base * s, turn=turn), arm, m_arm)
        q[f"arm{k}"] = angle
        for side, y in (("a", gap / 2.0), ("b", -gap / 2.0)):
            name = f"rod{k}{side}"
            b.add_body(name, f"arm{k}", Universal(), f"elbow{k}{side}", at(arm, y), mass=m_rod, com=(0, 0, -rod / 2),
                       inertia=(thin, thin, 0.0))  # fmt: skip
            b.add_frame(f"{name}_tip", name, at(0.0, 0.0, -rod))
            b.add_frame(f"anchor{k}{side}", "platform", at(top * c - y * s, top * s + y * c))
            q[f"elbow{k}{side}"] = (0.0, lean)
            loops.append(LoopJoint(f"wrist{k}{side}", Spherical(), f"{name}_tip", f"anchor{k}{side}"))
    return closed(b, q, loops)
