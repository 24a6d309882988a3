"""Sweeps: many simulations of a model over values of its parameters, on one machine or a cluster, into one store."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
