"""Control: controllers as functions of time and state, LQR, inverse kinematics."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
