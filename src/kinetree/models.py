"""Models in code: random trees and loops for tests, families for benchmarks, and the classical mechanisms."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
