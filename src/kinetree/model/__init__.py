"""Models: what a mechanism consists of, as frozen data, and how to build one."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.model import Model
from kinetree.model.numbers import Numbers
from kinetree.model.parts import Coupling, Frame, Geometry, Report, ReportEntry
from kinetree.model.scalar_model import ScalarModel

__all__ = ["Coupling", "Frame", "Geometry", "Model", "ModelBuilder", "Numbers", "Report", "ReportEntry", "ScalarModel"]
