"""Gains and biases: the force for a unit of input, and the force without one, over length and velocity."""

from __future__ import annotations

from kinetree.actuators import muscle_curves


def fixed(law, length, velocity):
    """A constant."""
    return law.gain_parameters[0]


def affine_gain(law, length, velocity):
    """``g0 + g1 length + g2 velocity``."""
    return _affine(law.gain_parameters, length, velocity)


def muscle_gain(law, length, velocity):
    """Minus the active force of a muscle at full activation."""
    return muscle_curves.active_force(law, law.gain_parameters, "gain" in law.scaled, length, velocity)


def no_bias(law, length, velocity):
    """Zero."""
    return 0.0


def affine_bias(law, length, velocity):
    """``b0 + b1 length + b2 velocity``."""
    return _affine(law.bias_parameters, length, velocity)


def muscle_bias(law, length, velocity):
    """Minus the passive force of a muscle."""
    return muscle_curves.passive_force(law, law.bias_parameters, "bias" in law.scaled, length)


def _affine(parameters, length, velocity):
    constant, of_length, of_velocity = parameters
    return constant + of_length * length + of_velocity * velocity


GAINS = {"fixed": (fixed, 1), "affine": (affine_gain, 3), "muscle": (muscle_gain, 9)}
BIASES = {"none": (no_bias, 0), "affine": (affine_bias, 3), "muscle": (muscle_bias, 9)}
"""By MuJoCo's names: the function, and the number of its parameters."""
