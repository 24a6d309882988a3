"""Textbook variants of the algorithms, as references for reading, teaching and verification.

Importing this package registers all of them in ``algorithms.spec.ALGORITHMS``.
"""

from kinetree.textbook import aba_variants, aba_world, hybrid_recursive, mass_matrix, newton_euler, rnea_world

__all__ = ["aba_variants", "aba_world", "hybrid_recursive", "mass_matrix", "newton_euler", "rnea_world"]
