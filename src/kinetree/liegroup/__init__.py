"""Lie groups: rotations SO(3), rigid motions SE(3), and unified velocity coordinates.

* :mod:`~kinetree.liegroup.so3`, :mod:`~kinetree.liegroup.se3`: exponential, logarithm, left and right tangent maps,
  their inverses and derivatives, over any scalar.
* :mod:`~kinetree.liegroup.unified`: unified local velocity coordinates, a :class:`Projection`.
* :mod:`~kinetree.liegroup.single_body`: Lie-group Runge-Kutta steps of one body.
"""

from kinetree.liegroup import se3, so3
from kinetree.liegroup.single_body import terze_rk4_step, unified_rk4_step
from kinetree.liegroup.unified import Projection

__all__ = ["Projection", "se3", "so3", "terze_rk4_step", "unified_rk4_step"]
