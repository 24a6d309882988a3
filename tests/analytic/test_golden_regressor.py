"""Numbers of Featherstone (2008), section 9.7: how many base inertia parameters a mechanism has (C09.19)."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Cylindrical, Free, Helical, Planar, Prismatic, Revolute, Spherical, Translational

KINDS = {"R": Revolute, "P": Prismatic, "S": Spherical}


def chain(kinds, floating: bool, gravity=(0.0, 0.0, -9.81), seed: int = 0):
    """Bodies in a row on joints with axes and offsets at random."""
    rng = np.random.default_rng(seed)
    b = kt.ModelBuilder("chain", gravity=gravity)
    before = "world"
    if floating:
        b.add_body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
        before = "base"
    for k, kind in enumerate(kinds):
        joint = KINDS[kind]() if kind == "S" else KINDS[kind](rng.standard_normal(3)) if kind in KINDS else kind
        placement = rng.standard_normal(3), rng.standard_normal(3)
        b.add_body(f"body{k}", before, joint, placement=placement, mass=1.0, inertia=(1, 1, 1))
        before = f"body{k}"
    return b.build()


@pytest.mark.parametrize(("kinds", "rank"), [("RR", 24), ("RP", 21), ("SR", 26), ("PS", 23)])
def test_floating_base(kinds, rank):
    """C09.19: 10 for the base, 7 for a body on a revolute joint, 4 on a prismatic, 9 on a spherical one."""
    model = chain(kinds, floating=True)
    base = kt.identify.base_parameters(model)
    assert base.rank == rank == kt.surgery.base_parameter_count(model)
    assert base.unidentifiable == ()


def test_fixed_base_has_fewer():
    """C09.19: two revolute joints with axes in general directions, under gravity: 10 of 20."""
    base = kt.identify.base_parameters(chain("RR", floating=False))
    assert base.rank == 10
    # The first body turns about one axis: only its moment about it, and h across it, matter.
    assert sum(name.startswith("body0") for name in base.names) == 3


def test_weightless_fixed_base_has_fewer_still():
    """Without gravity the first body shows its moment of inertia alone."""
    base = kt.identify.base_parameters(chain("RR", floating=False, gravity=(0.0, 0.0, 0.0)))
    assert base.rank == 8
    assert sum(name.startswith("body0") for name in base.names) == 1


@pytest.mark.parametrize("joint", [Cylindrical((1, 2, 2)), Helical((2, 1, 2), 0.3), Planar(), Translational(), Free()])
def test_other_joints_follow_the_formula(joint):
    """C09.19: 10 less what table 9.7 lets a body give up, for further kinds of joints."""
    model = chain([joint, "R"], floating=True)
    assert kt.identify.base_parameters(model).rank == kt.surgery.base_parameter_count(model)


def test_a_revolute_joint_gives_up_mass_moment_along_and_one_inertia_across():
    """Table 9.7: with the axis along z, m, m c_z and one of I_xx, I_yy go to the body before."""
    b = kt.ModelBuilder("two")
    b.add_body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("arm", "base", Revolute((0, 0, 1)), placement=((0.3, 0.0, 0.5), (0.4, 0.0, 0.0)), mass=1.0,
               inertia=(1, 1, 1))  # fmt: skip
    base = kt.identify.base_parameters(b.build())
    missing = {label for label in base.labels if label.startswith("arm")} - set(base.names)
    assert missing == {"arm.mass", "arm.h.z", "arm.I.yy"}
    row = dict(zip(base.labels, base.matrix[base.names.index("base.mass")], strict=True))
    assert row["arm.mass"] == pytest.approx(1.0, abs=1e-9)  # the base takes the mass
    row = dict(zip(base.labels, base.matrix[base.names.index("arm.I.xx")], strict=True))
    assert row["arm.I.yy"] == pytest.approx(-1.0, abs=1e-9)  # I_xx - I_yy is what is left
