"""Tendons: paths over points, shapes and pulleys, or sums of joint positions, and their lengths."""

from kinetree.tendons.length import path_length
from kinetree.tendons.parts import JointTerm, Pulley, ViaPoint, WrapShape

__all__ = ["JointTerm", "Pulley", "ViaPoint", "WrapShape", "path_length"]
