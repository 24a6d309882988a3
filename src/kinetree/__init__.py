"""kinetree: rigid-body dynamics, written as the book writes it and compiled for your own robot.

>>> import kinetree as kt, numpy as np
>>> arm = kt.load("arm7")
>>> q, v = arm.neutral(), np.zeros(arm.nv)
>>> M = kt.crba(arm, q)
>>> a = kt.aba(arm, q, v, np.zeros(arm.nv))
"""

from kinetree import once as _once  # noqa: F401  # forks wait for imports from the first one on
from kinetree.public import namespace as _namespace

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _namespace(__name__)
