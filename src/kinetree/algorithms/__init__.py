"""The algorithms, one file each; `ALGORITHMS` finds them by name."""

from kinetree.algorithms.domain import Domain
from kinetree.algorithms.spec import ALGORITHMS, Spec, algorithm

__all__ = ["ALGORITHMS", "Domain", "Spec", "algorithm"]
