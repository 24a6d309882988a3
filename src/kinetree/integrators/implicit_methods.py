"""The implicit fixed-step methods, by which `FIXED_STEP` is filled."""

from __future__ import annotations

from kinetree.integrators.bdf2 import BDF2
from kinetree.integrators.generalized_alpha import GeneralizedAlpha
from kinetree.integrators.implicit_midpoint import ImplicitMidpoint
from kinetree.integrators.linearly_implicit import LinearlyImplicitEuler
from kinetree.integrators.variational import Variational

METHODS = (LinearlyImplicitEuler, ImplicitMidpoint, Variational, BDF2, GeneralizedAlpha)
