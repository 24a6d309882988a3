"""Contact: one problem of impulses with friction, and its solvers; linear complementarity problems."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
