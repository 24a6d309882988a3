"""Locked joints and cut branches of models with constraints."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error
from kinetree.constraints import (
    Distance,
    HardLimits,
    LinearCoupling,
    Lock,
    PolynomialCoupling,
    StickingFriction,
    TendonLength,
)
from kinetree.tendons import JointTerm, ViaPoint


def chain():
    """Four hinges about different axes."""
    b = kt.ModelBuilder("chain")
    for n, axis in enumerate(((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0))):
        b.add_body(f"link{n}", f"link{n - 1}" if n else "world", kt.joints.Revolute(axis), f"j{n}",
                   placement=((0.1, 0, 0.4 * bool(n)), (0, 0, 0)), mass=1.0 + n, com=(0.05, 0.1, 0.2),
                   inertia=np.diag([0.1, 0.12, 0.08]), dry_friction=0.1)  # fmt: skip
    return b.build()


Q = np.array([0.3, -0.4, 0.5, 0.2])
TERMS = (JointTerm("j1", 1.0), JointTerm("j2", -0.5))
CASES = {
    "rod": Distance("world", "link3", 1.0),
    "sum": LinearCoupling(("j0", "j1", "j3"), (1.0, 2.0, -0.5)),
    "cam": PolynomialCoupling("j3", "j1", (0.1, 0.4, 0.3), 0.05, 0.2),
    "cable": TendonLength((ViaPoint("world"), ViaPoint("link3")), (0.3, 0.4), TERMS, 0.2, 0.1),
    "drum": TendonLength((JointTerm("j0", 1.0), *TERMS), (0.1,)),
}


@pytest.mark.parametrize("name", CASES)
def test_locked_joints_keep_what_is_left_of_constraints(name):
    """The dynamics are those of the whole model with a row that locks the joint, by multipliers."""
    model = chain().with_constraints(CASES[name])
    q = kt.assemble(model, Q)
    q = np.asarray(getattr(q, "q", q))
    small = kt.surgery.lock(model, {"j1": q[1]})
    assert small.nv == 3 and small.nc == 1
    keep = [0, 2, 3]
    assert np.abs(constraint_error(small, q[keep].tolist())).max() < 1e-8
    whole = model.with_constraints(Lock("j1"))
    tau = np.array([1.0, 0.0, 2.0, 3.0])
    a = kt.forward_dynamics(whole, q, np.zeros(4), tau)
    assert kt.forward_dynamics(small, q[keep], np.zeros(3), tau[keep]) == pytest.approx(a[keep], rel=1e-7, abs=1e-9)


def test_what_cannot_be_locked_alone_is_an_error():
    """Named, with the joint that would stand still with it; nothing is left where all joints are locked."""
    model = chain().with_constraints(CASES["cam"])
    with pytest.raises(kt.errors.ConstraintError, match="joint 'j3' is in the polynomial .*, so joint 'j1' cannot be"):
        kt.surgery.lock(model, "j3")
    assert kt.surgery.lock(model, {"j1": 0.2, "j3": 0.15}).nc == 0
    pair = chain().with_constraints(CASES["sum"])
    held = kt.surgery.lock(pair, {"j0": 0.4, "j1": 0.3})
    assert held.constraints[0].residual(kt.constraints.Kinematics(held, [0.0, 2.0])) == pytest.approx([0.0])
    rod = chain().with_constraints(Distance("link0", "link1", 1.0, (0, 0, 1), (0.3, 0, 0)))
    left = kt.surgery.lock(rod, "j1")
    assert left.nc == 0 and "frames of one body: left out" in str(left.report)


def test_bounded_rows_of_locked_joints_go():
    """Rows of all joints stay those of all, rows of named ones lose the locked ones."""
    model = chain().replace(lower=-1.0, upper=1.0).with_constraints(StickingFriction(), HardLimits(of=("j0", "j1")))
    small = kt.surgery.lock(model, {"j1": 0.2})
    assert [c.of for c in small.constraints] == [(), ("j0",)] and small.nc == 4
    assert [c.kind for c in kt.surgery.lock(model, {"j0": 0.1, "j1": 0.2}).constraints] == ["sticking_friction"]


def test_cut_branches_take_their_constraints_away():
    """With a note where something else needed them."""
    model = chain().with_constraints(CASES["rod"], Distance("link2", "link3", 1.0, (1, 0, 0), (0.2, 0, 0.1), "within"))
    small = kt.surgery.prune(model, "link2")
    assert small.nc == 0
    notes = str(small.report)
    assert "distance of 'world', 'link3': frame 'link3' is not there any more" in notes and notes.count("dropped") == 1
