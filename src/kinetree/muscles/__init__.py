"""Muscles: curves of force over length and velocity, equilibrium of fiber and tendon, activation; over any scalar."""

from kinetree.muscles.activation import activation_rate
from kinetree.muscles.curve_set import MuscleCurves
from kinetree.muscles.library import CURVES, curves

__all__ = ["CURVES", "MuscleCurves", "activation_rate", "curves"]
