"""Models: frozen descriptions of mechanisms, and the builders that make them."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.equipment import (
    Actuator,
    Equality,
    Equipment,
    JointTerm,
    Keyframe,
    LoopJoint,
    Pulley,
    RotationLimit,
    Softness,
    Tendon,
    ViaPoint,
    WrapShape,
)
from kinetree.model.gears import GearedRotor
from kinetree.model.graph import MechanismGraph
from kinetree.model.model import Model
from kinetree.model.numbers import Numbers, ScalarModel
from kinetree.model.parts import Frame, Geometry, Report, ReportEntry

__all__ = [
    "Actuator", "Equality", "Equipment", "Frame", "GearedRotor", "Geometry", "JointTerm", "Keyframe", "LoopJoint",
    "MechanismGraph", "Model", "ModelBuilder", "Numbers", "Pulley", "Report", "ReportEntry", "RotationLimit",
    "ScalarModel", "Softness", "Tendon", "ViaPoint", "WrapShape",
]  # fmt: skip
