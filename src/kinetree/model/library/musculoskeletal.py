"""Musculoskeletal models with published numbers."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_word, checked
from kinetree.forces import Muscle
from kinetree.joints import Revolute
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import at
from kinetree.model.model import Model
from kinetree.tendons import ViaPoint

BODIES = {  # parent, origin in it, axis; mass, center of mass, inertia about it
    "humerus": (WORLD, (-0.017545, 0.793, 0.17), (-0.05889802, 0.0023, 0.99826136),
                1.864572, (0.0, -0.180496, 0.0), (0.01481, 0.004551, 0.013193)),
    "ulna": ("humerus", (0.0061, -0.2904, -0.0123), (0.04940001, 0.03660001, 0.99810825),
             1.534315, (0.0, -0.181479, 0.0), (0.019281, 0.001571, 0.020062)),
}  # fmt: skip
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
        ("base", -0.039235, 0.00347, 0.14795), ("base", -0.028945, 0.01391, 0.15639),
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
    *Differs*: the ellipsoids and the small cylinder at the shoulder, over which TRIlong and BIClong bend when the arm
    is raised, are left out.

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
    for name, (strength, fiber, slack, pennation, path) in MUSCLES.items():
        points = tuple(ViaPoint(part[0], part[1:]) for part in path if part != "TRI")
        b.add_force(Muscle(name, points, strength, fiber, slack, pennation, curves=curves, tendon=tendon))
    return b.build()
