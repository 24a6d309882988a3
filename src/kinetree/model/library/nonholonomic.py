"""Mechanisms whose velocities are constrained, but not their positions: blades and rolling."""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import a_number, a_positive_number, checked, refuse
from kinetree.constraints import KnifeEdge, RollingDisk
from kinetree.joints import Free, Planar
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import closed
from kinetree.model.model import Model


@checked(mass=a_positive_number, inertia=a_positive_number, distance=a_number, speed=a_number, turning=a_number)
def chaplygin_sleigh(
    mass: float = 1.0, inertia: float = 0.5, distance: float = 0.4, *, speed: float = 0.2, turning: float = 1.5
) -> Model:
    """Chaplygin's sleigh: a body in the x-y plane on a blade, which does not move sideways; no gravity in the plane.

    Its frame is at the blade, which points along x; joint "sleigh" is planar, constraint "blade" a knife edge.

    Parameters
    ----------
    mass : float
        [kg].
    inertia : float
        About the center of mass [kg m^2].
    distance : float
        Of the center of mass ahead of the blade [m].
    speed, turning : float
        Forward speed of the blade and angular velocity in the keyframe "initial" [m/s, rad/s].

    Returns
    -------
    Model

    Notes
    -----
    Source: Chaplygin (1911); Bloch, Nonholonomic Mechanics and Control (2003), section 1.7: ``v' = a w^2`` and
    ``w' = -m a v w / (I + m a^2)``. Energy is constant, the phase volume is not: the sleigh ends in straight motion.

    Examples
    --------
    >>> import kinetree as kt
    >>> import numpy as np
    >>> model = chaplygin_sleigh()
    >>> a = kt.forward_dynamics(model, *model.keyframe("initial"), np.zeros(3))
    >>> [round(float(x), 9) for x in a[:2]]
    [-0.181818182, 0.9]
    """
    b = ModelBuilder("chaplygin_sleigh", gravity=(0.0, 0.0, -9.81))
    thin = np.array([0.5, 0.5, 1.0]) * inertia
    b.add_body("sleigh", WORLD, Planar(), "sleigh", mass=mass, com=(distance, 0, 0), inertia=thin)
    return closed(b, {}, [KnifeEdge("sleigh", name="blade")], {"sleigh": (turning, speed, 0.0)})


@checked(
    radius=a_positive_number, mass=a_positive_number, lean=a_number, circle=a_positive_number, gravity=a_positive_number
)
def rolling_disk(
    radius: float = 0.05,
    mass: float = 1.0,
    *,
    lean: float = math.radians(20.0),
    circle: float = 0.2,
    gravity: float = 9.81,
) -> Model:
    """A thin disk that rolls without slip on the x-y plane: joint "disk", a free one, and constraint "contact".

    The axle is z of its frame, whose origin is the center. In the keyframe "initial" the disk rolls steadily: its point
    of contact, at (circle, 0, 0), moves on a circle about the origin.

    Parameters
    ----------
    radius : float
        [m].
    mass : float
        [kg].
    lean : float
        Of the disk against the vertical, towards the middle of the circle, in the keyframe [rad].
    circle : float
        Radius of the circle in the keyframe [m].
    gravity : float
        Along -z [m/s^2].

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        The lean is not above 0 and below pi / 2, or the circle is too small for a steady motion.

    Notes
    -----
    Source: Neimark and Fufaev, Dynamics of Nonholonomic Systems (1972), chapter II, section 5: steady motion at
    ``tan(lean) = W^2 / g (3/2 R - 5/4 r sin(lean))``, with the precession W of the contact on a circle of radius R; the
    disk turns against the precessing frame by ``W R / r``; friction over normal force is ``W^2 (R - r sin(lean)) / g``.

    Examples
    --------
    >>> model = rolling_disk()
    >>> q, v = model.keyframe("initial")
    >>> v[:3].round(6).tolist()  # turns about its upward diameter, the tangent and the axle
    [3.363909, 0.0, 13.094825]
    """
    if not 0.0 < lean < math.pi / 2.0:
        refuse("rolling_disk: lean", lean, "an angle above 0 and below pi / 2")
    s, c = math.sin(lean), math.cos(lean)
    lever = 1.5 * circle - 1.25 * radius * s
    if lever <= 0.0:
        refuse("rolling_disk: circle", circle, f"more than {1.25 / 1.5 * radius * s:.4g} m, for a steady motion")
    precession = math.sqrt(gravity * math.tan(lean) / lever)
    spin = precession * circle / radius
    # Axes of the disk: from the contact to the center, the tangent of the circle, the axle.
    R = np.array([[-s, 0.0, -c], [0.0, 1.0, 0.0], [c, 0.0, -s]])
    q = (circle - radius * s, 0.0, radius * c, *quaternion_of(R))
    w = R.T @ [0.0, 0.0, precession] + [0.0, 0.0, spin]
    v = R.T @ [0.0, precession * (circle - radius * s), 0.0]
    b = ModelBuilder("rolling_disk", gravity=(0.0, 0.0, -gravity))
    inertia = mass * radius**2 * np.array([0.25, 0.25, 0.5])
    b.add_body("disk", WORLD, Free(), "disk", mass=mass, inertia=inertia)
    return closed(b, {"disk": q}, [RollingDisk("disk", radius, name="contact")], {"disk": (*w, *v)})


def quaternion_of(R: np.ndarray) -> tuple[float, float, float, float]:
    """The unit quaternion (w, x, y, z) of a rotation whose real part is not zero."""
    w = 0.5 * math.sqrt(1.0 + np.trace(R))
    return (w, *((R[i, j] - R[j, i]) / (4.0 * w) for i, j in ((2, 1), (0, 2), (1, 0))))
