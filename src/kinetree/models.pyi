# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.model.library.published import andrews_squeezer as andrews_squeezer
from kinetree.model.library.musculoskeletal import arm26 as arm26
from kinetree.model.library.trees import auto_tree as auto_tree
from kinetree.model.library.contact_scenes import ball_on_turntable as ball_on_turntable
from kinetree.model.library.spatial_linkages import bennett as bennett
from kinetree.model.library.trees import binary_tree as binary_tree
from kinetree.model.library.open_mechanisms import box_cylinder as box_cylinder
from kinetree.model.library.open_mechanisms import cart_pole as cart_pole
from kinetree.model.library.legs import cassie_leg as cassie_leg
from kinetree.model.library.trees import chain_gu as chain_gu
from kinetree.model.library.nonholonomic import chaplygin_sleigh as chaplygin_sleigh
from kinetree.model.library.parallel_robots import delta_robot as delta_robot
from kinetree.model.library.open_mechanisms import double_pendulum as double_pendulum
from kinetree.model.library.planar_linkages import four_bar as four_bar
from kinetree.model.library.planar_linkages import four_bar_chain as four_bar_chain
from kinetree.model.library.open_mechanisms import free_body as free_body
from kinetree.model.library.contact_scenes import free_shape as free_shape
from kinetree.model.library.open_mechanisms import geared_arm as geared_arm
from kinetree.model.library.published import governor as governor
from kinetree.model.library.contact_scenes import gripper as gripper
from kinetree.model.library.planar_linkages import ladder as ladder
from kinetree.model.library.open_mechanisms import n_pendulum as n_pendulum
from kinetree.model.library.planar_linkages import parallelogram as parallelogram
from kinetree.model.library.open_mechanisms import pendulum as pendulum
from kinetree.model.library.open_mechanisms import puma_like as puma_like
from kinetree.model.library.random_loops import random_loops as random_loops
from kinetree.model.library.trees import random_tree as random_tree
from kinetree.model.library.nonholonomic import rolling_disk as rolling_disk
from kinetree.model.library.open_mechanisms import satellite as satellite
from kinetree.model.library.planar_linkages import slider_crank as slider_crank
from kinetree.model.library.spatial_linkages import spatial_slider_crank as spatial_slider_crank
from kinetree.model.library.contact_scenes import stack_of_boxes as stack_of_boxes
from kinetree.model.library.trees import star as star
from kinetree.model.library.parallel_robots import stewart_platform as stewart_platform
from kinetree.model.library.contact_scenes import wheeled_robot as wheeled_robot
from kinetree.model.library.open_mechanisms import zigzag_arm as zigzag_arm

__all__ = [
    "andrews_squeezer",
    "arm26",
    "auto_tree",
    "ball_on_turntable",
    "bennett",
    "binary_tree",
    "box_cylinder",
    "cart_pole",
    "cassie_leg",
    "chain_gu",
    "chaplygin_sleigh",
    "delta_robot",
    "double_pendulum",
    "four_bar",
    "four_bar_chain",
    "free_body",
    "free_shape",
    "geared_arm",
    "governor",
    "gripper",
    "ladder",
    "n_pendulum",
    "parallelogram",
    "pendulum",
    "puma_like",
    "random_loops",
    "random_tree",
    "rolling_disk",
    "satellite",
    "slider_crank",
    "spatial_slider_crank",
    "stack_of_boxes",
    "star",
    "stewart_platform",
    "wheeled_robot",
    "zigzag_arm",
]
