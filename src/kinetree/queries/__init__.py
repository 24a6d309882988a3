"""Queries over all shapes of a model by the library coal: distances, broad phase, manifolds, checks of a start."""
