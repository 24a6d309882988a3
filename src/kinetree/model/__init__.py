"""Models: frozen descriptions of mechanisms, and the builders that make them."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.contact_data import ContactExclude, GeometryPair
from kinetree.model.equipment import (
    Actuator,
    Equality,
    Equipment,
    Keyframe,
    LoopJoint,
    RotationLimit,
    Softness,
    Tendon,
)
from kinetree.model.gears import GearedRotor
from kinetree.model.graph import MechanismGraph
from kinetree.model.model import Model
from kinetree.model.numbers import Numbers, ScalarModel
from kinetree.model.parts import Frame, Geometry, Report, ReportEntry

__all__ = [
    "Actuator", "ContactExclude", "Equality", "Equipment", "Frame", "GearedRotor", "Geometry", "GeometryPair",
    "Keyframe", "LoopJoint", "MechanismGraph", "Model", "ModelBuilder", "Numbers", "Report", "ReportEntry",
    "RotationLimit", "ScalarModel", "Softness", "Tendon",
]  # fmt: skip
