"""REDMAX: reduced coordinates by the Jacobian of maximal ones, as in Sueda's notes."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
