"""Musculoskeletal models with published numbers."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_word, checked
from kinetree.forces import Muscle
from kinetree.joints import Revolute
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import at
from kinetree.model.model import Model
from kinetree.tendons import ViaPoint, WrapShape

BODIES = {  # parent, origin in it, axis; mass, center of mass, inertia about it
    "humerus": (WORLD, (-0.017545, 0.793, 0.17), (-0.05889802, 0.0023, 0.99826136),
                1.864572, (0.0, -0.180496, 0.0), (0.01481, 0.004551, 0.013193)),
    "ulna": ("humerus", (0.0061, -0.2904, -0.0123), (0.04940001, 0.03660001, 0.99810825),
             1.534315, (0.0, -0.181479, 0.0), (0.019281, 0.001571, 0.020062)),
}  # fmt: skip
SHAPES = {  # kind, radius, origin in the humerus, body-fixed x-y-z angles
    "TRI": ("cylinder", 0.016, (0.0028, -0.2919, -0.0069), (-0.14015, -0.00628319, 0.154985)),
    "BIClonghh": ("sphere", 0.020212667, (0.0033, 0.0073, 0.0003), (0.0, 0.0, 0.0)),
}
TRICEPS = (
    ("humerus", -0.03184, -0.22637, -0.01217), ("humerus", -0.01743, -0.26757, -0.01208), "TRI",
    ("ulna", -0.0219, 0.01046, -0.00078),
)  # fmt: skip
BICEPS = (("humerus", 0.0228, -0.1754, -0.0063), ("ulna", 0.00751, -0.04839, 0.02179))
MUSCLES = {  # isometric force, optimal fiber length, tendon slack length, pennation, path
    "TRIlong": (798.52, 0.134, 0.143, 0.20943951, (
        ("base", -0.05365, -0.01373, 0.14723), ("humerus", -0.02714, -0.11441, -0.00664), *TRICEPS)),
    "TRIlat": (624.3, 0.1138, 0.098, 0.15707963, (
        ("humerus", -0.00599, -0.12646, 0.00428), ("humerus", -0.02344, -0.14528, 0.00928), *TRICEPS)),
    "TRImed": (624.3, 0.1138, 0.0908, 0.15707963, (
        ("humerus", -0.00838, -0.13695, -0.00906), ("humerus", -0.02601, -0.15139, -0.0108), *TRICEPS)),
    "BIClong": (624.3, 0.1157, 0.2723, 0.0, (
        ("base", -0.039235, 0.00347, 0.14795), ("base", -0.028945, 0.01391, 0.15639), "BIClonghh",
        ("humerus", 0.02131, 0.01793, 0.01028), ("humerus", 0.02378, -0.00511, 0.01201),
        ("humerus", 0.01345, -0.02827, 0.00136), ("humerus", 0.01068, -0.07736, -0.00165),
        ("humerus", 0.01703, -0.12125, 0.00024), *BICEPS)),
    "BICshort": (435.56, 0.1321, 0.1923, 0.0, (
        ("base", 0.004675, -0.01231, 0.13475), ("base", -0.007075, -0.04004, 0.14507),
        ("humerus", 0.01117, -0.07576, -0.01101), ("humerus", 0.01703, -0.12125, -0.01079), *BICEPS)),
    "BRA": (987.26, 0.0858, 0.0535, 0.0, (
        ("humerus", 0.0068, -0.1739, -0.0036), "TRI", ("ulna", -0.0032, -0.0239, 0.0009))),
}  # fmt: skip


@checked(tendon=a_word)
def arm26(tendon: str = "rigid", curves="millard") -> Model:
    """An arm with two joints, "shoulder" and "elbow", and six muscles.

    Parameters
    ----------
    tendon : {"rigid", "compliant"}
    curves : str or MuscleCurves
        As for `kinetree.forces.Muscle`.

    Returns
    -------
    Model
        With the muscles "TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort" and "BRA".

    Notes
    -----
    The path of BRA and those of the triceps bend over the cylinder "TRI" at the elbow, by exact geodesics; OpenSim's
    lengths are up to 2.4e-5 m longer.

    *Differs*: BIClong bends over a sphere in the place of an ellipsoid with semi-axes of 25, 20 and 20 mm; the radius
    gives the published length at the zero position, and between -60 and 30 degrees of the shoulder lengths are within
    0.3 mm; beyond, OpenSim's jump. The ellipsoid and the thin cylinder of TRIlong, which it meets above 40 degrees, are
    left out: up to 12 mm at 110 degrees.

    *Source*: arm26.osim of OpenSim (J. Reinbolt, A. Seth, A. Habib, S. Hamner, after Holzbaur, Murray and Delp 2005),
    CC-BY 3.0.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = arm26()
    >>> model.joint_names, model.nx
    (('shoulder', 'elbow'), 6)
    """
    b = ModelBuilder("arm26", gravity=(0.0, -9.8066, 0.0))
    b.add_frame("base", WORLD, at(0.0, 0.8))
    for (name, (parent, origin, axis, mass, com, inertia)), joint in zip(
        BODIES.items(), ("shoulder", "elbow"), strict=True
    ):
        axis = np.array(axis) / np.linalg.norm(axis)
        b.add_body(name, parent, Revolute(tuple(axis.tolist())), joint, (np.eye(3), origin), mass=mass, com=com,
                   inertia=inertia)  # fmt: skip
    for name, (_, _, origin, angles) in SHAPES.items():
        b.add_frame(name, "humerus", (_turned(angles), origin))
    for name, (strength, fiber, slack, pennation, path) in MUSCLES.items():
        parts = [WrapShape(SHAPES[part][0], part, SHAPES[part][1]) if isinstance(part, str)
                 else ViaPoint(part[0], part[1:]) for part in path]  # fmt: skip
        b.add_force(Muscle(name, tuple(parts), strength, fiber, slack, pennation, curves=curves, tendon=tendon))
    return b.build()


def _turned(angles) -> np.ndarray:
    """The rotation by body-fixed angles about x, y and z."""
    R = np.eye(3)
    for k, angle in enumerate(angles):
        c, s = np.cos(angle), np.sin(angle)
        a, b = (k + 1) % 3, (k + 2) % 3
        turn = np.eye(3)
        turn[a, a], turn[a, b], turn[b, a], turn[b, b] = c, -s, s, c
        R = R @ turn
    return R
