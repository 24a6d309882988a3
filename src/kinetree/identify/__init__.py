"""Identification: base parameters, exciting trajectories, fits to measurements."""

from kinetree.identify.base import BaseParameters, base_parameters
from kinetree.identify.consistency import (
    from_log_cholesky,
    from_pseudo_inertia,
    impossible_bodies,
    log_cholesky,
    pseudo_inertia,
)
from kinetree.identify.excitation import FourierTrajectory, exciting_trajectory
from kinetree.identify.fit import Identification, fit
from kinetree.model.inertial_parameters import inertial_parameters, with_inertial_parameters

__all__ = [
    "BaseParameters", "FourierTrajectory", "Identification", "base_parameters", "exciting_trajectory", "fit",
    "from_log_cholesky", "from_pseudo_inertia", "impossible_bodies", "inertial_parameters", "log_cholesky",
    "pseudo_inertia", "with_inertial_parameters",
]  # fmt: skip
