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

__all__ = [
    "BaseParameters", "FourierTrajectory", "Identification", "base_parameters", "exciting_trajectory", "fit",
    "from_log_cholesky", "from_pseudo_inertia", "impossible_bodies", "log_cholesky", "pseudo_inertia",
]  # fmt: skip
