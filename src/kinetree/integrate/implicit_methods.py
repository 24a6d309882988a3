"""The implicit fixed-step methods, by which `FIXED_STEP` is filled."""

from __future__ import annotations

from kinetree.integrate.bdf2 import BDF2
from kinetree.integrate.generalized_alpha import GeneralizedAlpha
from kinetree.integrate.implicit_midpoint import ImplicitMidpoint
from kinetree.integrate.linearly_implicit import LinearlyImplicitEuler
from kinetree.integrate.variational import Variational

METHODS = (LinearlyImplicitEuler, ImplicitMidpoint, Variational, BDF2, GeneralizedAlpha)
