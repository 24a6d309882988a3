"""The algorithms, one file each. Importing this package registers all of them in ``spec.ALGORITHMS``."""

from kinetree.algorithms import (
    aba,
    aba_derivatives,
    centroidal,
    complete,
    coriolis,
    crba,
    derivatives,
    energy,
    frames,
    inverse_mass,
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
    "aba_derivatives",
    "algorithm",
    "centroidal",
    "complete",
    "coriolis",
    "crba",
    "derivatives",
    "energy",
    "frames",
    "inverse_mass",
    "jacobian",
    "kinematics",
    "manifold",
    "rnea",
]
