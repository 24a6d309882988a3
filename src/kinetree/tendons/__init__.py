"""Tendons: paths over points, shapes and pulleys, or sums of joint positions, and their lengths."""

from kinetree.tendons.length import path_length
from kinetree.tendons.parts import JointTerm, Pulley, ViaPoint, WrapShape
from kinetree.tendons.points import path_points

__all__ = ["JointTerm", "Pulley", "ViaPoint", "WrapShape", "path_length", "path_points"]
