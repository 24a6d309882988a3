"""Factors of the mass matrix that keep the zeros of the tree (Featherstone, section 6.5), products and solutions."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
