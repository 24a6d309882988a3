"""Scenes with published results: the numbered scenes of REDMAX and of differentiable REDMAX, and runs of them.

Units are centimeters, grams and seconds, as in the source: gravity 980 cm/s^2, density 1 g/cm^3.
"""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
