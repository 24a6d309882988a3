"""Lie groups: the rotations SO(3), the motions SE(3), and what is formulated on them.

* :mod:`~kinetree.liegroup.so3`, :mod:`~kinetree.liegroup.se3`: exponential, logarithm, left and right tangent maps,
  their inverses and derivatives, over any scalar.
"""

from kinetree.liegroup import se3, so3

__all__ = ["se3", "so3"]
