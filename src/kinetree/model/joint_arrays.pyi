# Generated: python -m tests.static.generate.
from typing import Any

from numpy.typing import NDArray

from kinetree.model.tree import Tree

class JointArrays(Tree):
    damping: NDArray[Any]
    dry_friction: NDArray[Any]
    limit_damping: NDArray[Any]
    limit_stiffness: NDArray[Any]
    spring_reference: NDArray[Any]
    stiffness: NDArray[Any]
