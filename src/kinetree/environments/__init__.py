"""Environments for reinforcement learning: tasks on compiled steps, as environments of gymnasium, one or many.

Importing this module registers the ids ``kinetree/CartPole-v0`` and so on, where gymnasium is installed.
"""

from contextlib import suppress

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)

with suppress(ImportError):  # without gymnasium there is nothing to register with; its classes name what is missing
    from kinetree.environments.registration import register as _register

    _register()
