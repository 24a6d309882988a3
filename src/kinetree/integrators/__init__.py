"""Integrators on the manifold of the joint positions, one file per method.

A fixed-step method is an object with ``step(t, h, q, v, tau, f_ext) -> (q, v)``; ``FIXED_STEP`` lists them by name, and
its ``algorithm`` is the whole step under constant forces as one compiled function. `Adaptive` takes steps as long as
its tolerances allow. Options of a method belong to its object: ``Adaptive("Radau", rtol=1e-8)``,
``GeneralizedAlpha(rho=0.6)``, ``LinearlyImplicit("passive", "gauss_newton")``.
"""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
