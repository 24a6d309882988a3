"""The algorithms, one file each. Importing this package registers all of them in ``spec.ALGORITHMS``."""

from kinetree.algorithms import (
    aba,
    centroidal,
    complete,
    coriolis,
    crba,
    energy,
    jacobian,
    kinematics,
    manifold,
    rnea,
)
from kinetree.algorithms.spec import ALGORITHMS, Domain, Spec, algorithm

__all__ = [
    "ALGORITHMS",
    "Domain",
    "Spec",
    "aba",
    "algorithm",
    "centroidal",
    "complete",
    "coriolis",
    "crba",
    "energy",
    "jacobian",
    "kinematics",
    "manifold",
    "rnea",
]
