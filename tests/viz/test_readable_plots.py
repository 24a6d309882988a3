"""Plots of runs: limbs, limits in the legend, coincident curves, rows at rest, spikes."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.viz.limbs import limb_of
from kinetree.viz.style import curves, scale_spikes


def panel():
    """An empty one."""
    return Figure().subplots()


@pytest.mark.parametrize(
    ("joint", "limb"),
    [
        ("left_shoulder_pitch", "left arm"), ("arm_right_4_joint", "right arm"), ("L_KNEE", "left leg"),
        ("FL_hip_joint", "front left leg"), ("LF_HAA", "front left leg"), ("RH_KFE", "right hind leg"),
        ("leftKnee", "left leg"), ("torso_1_joint", "trunk and head"), ("neck_yaw", "trunk and head"),
        ("shoulder_yaw", ""), ("panda_joint1", ""), ("elbow", ""), ("left_motor", ""), ("slider", ""),
    ],
)  # fmt: skip
def test_limbs_of_names(joint, limb):
    """Sides and limbs in the spellings of public robots; an arm without a side is no limb."""
    assert limb_of(joint) == limb


def test_rows_are_limbs_and_joints_at_rest_are_left_out():
    """Of a quadruped whose trunk is fixed one leg moves; of all joints that are asked for, none is left out."""
    model = kt.load("quadruped").replace(gravity=(0.0, 0.0, 0.0))
    v0 = np.zeros(model.nv)
    v0[model.v_slice[model.joint("FL_hip_roll")]] = 1.0
    run = kt.simulate(model, v0=v0, duration=0.05)
    figure = run.plot(what=["q", "v"])
    assert _limbs(figure) == ["front left leg"]
    assert "9 coordinates at rest are left out" in figure.get_suptitle()
    everything = run.plot(joints=list(model.joint_names), what=["q"])
    assert _limbs(everything) == ["front left leg", "front right leg", "rear left leg", "rear right leg"]
    assert "left out" not in everything.get_suptitle()


def _limbs(figure) -> list[str]:
    """Titles of the legends."""
    return [axes.get_legend().get_title().get_text() for axes in _panels(figure) if axes.get_legend()]


def _panels(figure):
    return [axes for part in figure.subfigs for axes in part.axes]


def test_limits_are_in_the_legend():
    """Where one is drawn, and only there."""
    model = kt.load("cart_pole")
    for v0, shown in ((6.0, True), (0.5, False)):
        figure = kt.simulate(model, [0.0, 0.1], [v0, 0.0], duration=0.3, integrator="rk4").plot(what=["q"])
        texts = [text.get_text() for axes in _panels(figure) if axes.get_legend() for text in axes.get_legend().texts]
        assert ("limits" in texts) == shown


def test_coincident_curves_are_visible():
    """Each has its share of the pixels where three coincide; others are solid."""
    time = np.linspace(0.0, 1.0, 200)
    same = np.sin(6.0 * time)
    figure = Figure(figsize=(4, 3), dpi=100)
    axes = figure.subplots()
    curves(axes, time, np.stack([same, same, same + 1e-4, -same], axis=1), ["#ff0000", "#00ff00", "#0000ff", "#000000"],
           list("abcd"))  # fmt: skip
    assert [line.is_dashed() for line in axes.lines] == [False, True, True, False]
    axes.set_axis_off()
    FigureCanvasAgg(figure).draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    counts = [int(((pixels[..., k] - pixels.sum(-1) + pixels[..., k]) > 150).sum()) for k in range(3)]
    assert min(counts) > 0.4 * max(counts) > 20, counts


def test_spikes_get_a_logarithmic_axis():
    """A collision of 5000 N beside forces of 50 N; smooth curves and noise at rest do not."""
    time = np.linspace(0.0, 1.0, 400)
    spike = 50.0 + 5.0 * np.sin(9.0 * time) + 5000.0 * (np.abs(time - 0.5) < 0.003)
    for values, scale in ((spike, "symlog"), (np.sin(time), "linear"), (1e-9 * spike, "linear"), (time**3, "linear")):
        axes = panel()
        axes.plot(time, values)
        scale_spikes(axes, values)
        assert axes.get_yscale() == scale
    axes = panel()
    axes.plot(time, spike)
    scale_spikes(axes, spike)
    low, high = axes.get_ylim()
    assert low <= 0.0 < 5055.0 < high
    heights = axes.transData.transform(np.stack([time[[0, 200]], spike[[0, 200]]], axis=1))[:, 1]
    bottom, top = axes.transAxes.transform([(0, 0), (0, 1)])[:, 1]
    assert 0.2 < (heights[0] - bottom) / (top - bottom) < 0.8  # the ordinary forces are not on the axis
