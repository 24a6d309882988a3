"""Equipment of locked joints: lengths and polynomials lose constants, and say the same as before."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CouplingError
from kinetree.joints import Fixed, Spherical
from kinetree.model import Actuator, Equality, Equipment, Keyframe, LoopJoint, RotationLimit, Tendon
from kinetree.surgery import lock
from kinetree.tendons import JointTerm, ViaPoint

AT = {"joint3": 0.4}


def chain(**parts) -> kt.Model:
    """Five hinges in a row, with this equipment."""
    model = kt.models.random_tree(5, seed=1, joints=[kt.joints.Revolute()], branching=0.0)
    return model.replace(equipment=Equipment(**parts))


def length(tendon: Tendon, q: dict[str, float]) -> float:
    return sum(term.coefficient * q[term.joint] for term in tendon.path)


CORD = Tendon(
    "cord", (JointTerm("joint2", 0.5), JointTerm("joint3", -2.0)), stiffness=10.0, rest_length=(0.1, 0.2), lower=-1.0
)
STIFF = Tendon("stiff", (JointTerm("joint3", 3.0),), stiffness=1.0)


def test_a_tendon_pulls_as_before():
    """The length relative to its rest lengths and limits is the same function of what still moves."""
    [tendon] = lock(chain(tendons=(CORD,)), AT).tendons
    shift = length(CORD, {"joint2": 0.7, "joint3": 0.4}) - length(tendon, {"joint2": 0.7})
    assert shift == pytest.approx(-0.8, abs=1e-15)
    assert [term.joint for term in tendon.path] == ["joint2"]
    np.testing.assert_allclose(np.array(CORD.rest_length) - tendon.rest_length, shift, rtol=0, atol=1e-15)
    assert CORD.lower - tendon.lower == pytest.approx(shift, abs=1e-15) and tendon.upper == np.inf


def test_a_tendon_of_locked_joints_alone_is_gone():
    """Its length is constant, so it does no work; the report says so, and so for the drive that pulled it."""
    locked = lock(chain(tendons=(CORD, STIFF), actuators=(Actuator("winch", "tendon", "stiff"),)), AT)
    assert [tendon.name for tendon in locked.tendons] == ["cord"] and locked.actuators == ()
    assert "'stiff' (stiffness) has the constant length 1.2" in str(locked.report)
    assert "'winch'" in str(locked.report)


def test_a_spatial_tendon_stays_by_its_frames():
    """A path over frames does not care which body carries them."""
    wire = Tendon("wire", (ViaPoint("body1"), ViaPoint("body3")), stiffness=1.0)
    assert lock(chain(tendons=(wire,)), AT).tendons == (wire,)


@pytest.mark.parametrize("law", ["gain", "bias"])
def test_an_affine_drive_reads_the_same_length(law):
    """c0 + c1 length + c2 velocity is the same number before and after."""
    parameters = {law: "affine", f"{law}_parameters": (1.0, -50.0, -2.0)}
    servo = Actuator("servo", "tendon", "cord", gear=(2.0, 0, 0, 0, 0, 0), **parameters)
    locked = lock(chain(tendons=(CORD,), actuators=(servo,)), AT)
    [tendon], [after] = locked.tendons, locked.actuators
    before = 1.0 - 50.0 * 2.0 * length(CORD, {"joint2": 0.7, "joint3": 0.4})
    c0, c1, c2, *_ = getattr(after, f"{law}_parameters")
    assert c0 + c1 * 2.0 * length(tendon, {"joint2": 0.7}) == pytest.approx(before, abs=1e-12)
    assert c2 == -2.0


def test_a_muscle_keeps_its_place_on_its_range():
    """The range of lengths moves with the length."""
    muscle = Actuator("biceps", "tendon", "cord", gain="muscle", bias="muscle", length_range=(0.5, 1.5))
    [after] = lock(chain(tendons=(CORD,), actuators=(muscle,)), AT).actuators
    np.testing.assert_allclose(after.length_range, (0.5 + 0.8, 1.5 + 0.8), rtol=0, atol=1e-15)


def test_drives_of_locked_joints_are_gone():
    """A motor of a joint that cannot move does nothing; the others stay."""
    motors = tuple(Actuator(f"m{k}", "joint", f"joint{k}") for k in (2, 3))
    locked = lock(chain(actuators=motors), AT)
    assert locked.actuators == motors[:1]


def test_what_followed_a_locked_joint_is_held_where_it_was():
    """With the master at x, y - y0 = P(x - x0) is a constant."""
    curve = Equality("curve", "joint", "joint4", "joint3", (0.1, 2.0, 3.0), 0.5, 0.2)
    [held] = lock(chain(equalities=(curve,)), AT).equalities
    assert held.master is None and held.follower == "joint4"
    y = held.follower_reference + held.coefficients[0]
    assert y == pytest.approx(0.5 + 0.1 + 2.0 * 0.2 + 3.0 * 0.04, abs=1e-15)


def test_what_a_locked_joint_followed_linearly_is_held():
    """With the follower at y, a linear polynomial has one root."""
    gear = Equality("gear", "joint", "joint3", "joint5", (0.1, 2.0), 0.0, 0.2)
    [held] = lock(chain(equalities=(gear,)), AT).equalities
    x = held.follower_reference + held.coefficients[0]
    assert (held.follower, held.master) == ("joint5", None)
    assert 0.1 + 2.0 * (x - 0.2) == pytest.approx(0.4, abs=1e-15)


def test_a_curve_whose_follower_is_locked_asks_for_its_master():
    """A polynomial of higher degree has several roots, so the user says which."""
    curve = Equality("curve", "joint", "joint3", "joint5", (0.0, 1.0, 1.0))
    with pytest.raises(CouplingError, match="lock 'joint5' too, where the polynomial has the value 0.4"):
        lock(chain(equalities=(curve,)), AT)
    off = Equality("curve", "joint", "joint3", "joint5", (0.0, 1.0, 1.0), active=False)
    assert lock(chain(equalities=(off,)), AT).equalities == ()
    root = (np.sqrt(1.0 + 4.0 * 0.4) - 1.0) / 2.0
    assert lock(chain(equalities=(curve,)), {**AT, "joint5": root}).equalities == ()


def test_an_equality_between_locked_joints_must_hold():
    """Broken ones are refused with the position that would do."""
    gear = Equality("gear", "joint", "joint3", "joint5", (0.0, 2.0))
    with pytest.raises(CouplingError, match="'gear'.* is broken by -0.6.* lock 'joint3' at 1"):
        lock(chain(equalities=(gear,)), {**AT, "joint5": 0.5})


def test_equalities_of_tendons_hold_as_before():
    """References move with the lengths, and a constant length enters as its number."""
    other = Tendon("other", (JointTerm("joint1", 1.0), JointTerm("joint3", 1.0)))
    pair = Equality("pair", "tendon", "cord", "other", (0.0, 1.0, 0.5), 0.3, 0.1)
    to_stiff = Equality("to stiff", "tendon", "cord", "stiff", (0.0, 1.0), 0.3, 0.1)
    locked = lock(chain(tendons=(CORD, STIFF, other), equalities=(pair, to_stiff)), AT)
    q = {"joint1": 0.2, "joint2": 0.7}

    def residual(model, equality, q):
        lengths = {tendon.name: length(tendon, q) for tendon in model.tendons}
        x = lengths[equality.master] - equality.master_reference if equality.master else 0.0
        value = sum(c * x**k for k, c in enumerate(equality.coefficients))
        return lengths[equality.follower] - equality.follower_reference - value

    whole = chain(tendons=(CORD, STIFF, other))
    for before, after in zip((pair, to_stiff), locked.equalities, strict=True):
        assert residual(locked, after, q) == pytest.approx(residual(whole, before, {**q, **AT}), abs=1e-14)


def test_a_rotation_limit_goes_with_its_joint():
    """A ball joint locked beyond its cone is reported."""
    b = kt.ModelBuilder("ball")
    b.add_body("ball", joint=Spherical(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.equipment += Equipment(equalities=(RotationLimit("ball", 0.5),))
    turned = lock(b.build(), {"ball": (np.cos(0.4), np.sin(0.4), 0.0, 0.0)})
    assert turned.equalities == () and "locked at 0.8 rad, beyond it" in str(turned.report)


def test_keyframes_lose_locked_joints():
    """The rest of the state stays; a keyframe that had them elsewhere is reported."""
    key = Keyframe("home", {"joint2": (0.1,), "joint3": (0.3,)}, {"joint3": (1.0,)})
    locked = lock(chain(keyframes=(key,)), AT)
    q, v = locked.keyframe("home")
    assert q[locked.q_index("joint2")] == 0.1 and not v.any()
    assert "keyframe 'home' had 'joint3' elsewhere" in str(locked.report)


def test_a_loop_that_locking_closes_is_reported():
    """A weld between two frames of what is one body now is left out, with the misfit of an open one."""
    weld = LoopJoint("weld", Fixed(), "body2", "body3")
    locked = lock(chain(loops=(weld,)), AT)
    assert locked.loops == ()
    assert "now connects two frames of one body, open by" in str(locked.report.at_level("warning")[-1])
    q = chain().neutral()
    for joint, x in AT.items():
        q[chain().q_index(joint)] = x
    R, p = kt.forward_kinematics(chain(), q)
    i, j = chain().body("body2"), chain().body("body3")
    E, r = kt.spatial.rotation_from_matrix(R[j].T @ R[i]), kt.spatial.Vector3(*R[i].T @ (p[j] - p[i]))
    X_P = kt.spatial.Transform(E, r)
    shut = lock(chain(loops=(LoopJoint("weld", Fixed(), "body2", "body3", X_P),)), AT)
    assert shut.loops == () and "one body, closed: left out" in str(shut.report.at_level("info")[-1])
