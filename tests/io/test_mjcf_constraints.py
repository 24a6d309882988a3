"""Equalities of MJCF files as constraints: errors and Jacobians against MuJoCo's, dynamics, files read again."""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.io.mjcf.read import load_mjcf
from tests.io.test_mjcf_equipment import equality, tree

EQUALITIES = {
    "connect": '<connect body1="b" body2="c" anchor=".1 .2 .3"/>',
    "sites": '<connect site1="sa" site2="sc"/>',
    "weld": '<weld body1="b" body2="c" relpose=".1 .2 .3 1 2 3 4" anchor=".5 0 0"/>',
    "weld to a site": '<weld site1="sa" site2="sc"/>',
    "polynomial": '<joint joint1="b1" joint2="a1" polycoef=".1 1 2 -.5 .3"/>',
    "constant": '<joint joint1="a2" polycoef=".3"/>',
    "twice": '<joint joint1="b1" joint2="a1"/><joint joint1="b1" joint2="a2" polycoef="0 .5"/>',
    "circle": '<joint joint1="b1" joint2="a1"/><joint joint1="a1" joint2="b1" polycoef="0 2"/>',
    "held twice": '<joint joint1="b1" joint2="a1"/><joint joint1="b1" polycoef=".2"/>',
    "fixed tendon": '<tendon tendon1="sum" polycoef=".1"/>',
    "spatial tendon": '<tendon tendon1="rope" tendon2="sum" polycoef=".1 2 .3"/>',
}
TENDONS = """<tendon><fixed name="sum"><joint joint="a1" coef="2"/><joint joint="b1" coef="-1"/></fixed>
<spatial name="rope"><site site="w"/><site site="sb"/><pulley divisor="2"/><site site="sb"/><site site="sc"/></spatial>
</tendon>"""


def text_of(name):
    return equality(EQUALITIES[name]).replace("<equality>", f"{TENDONS}<equality>")


def jacobian_of(data, mj):
    """The rows of MuJoCo's equalities, dense."""
    J = np.zeros((data.nefc, mj.nv))
    if mujoco.mj_isSparse(mj):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J[:] = data.efc_J.reshape(J.shape)
    return J[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]


def _error(model, q):
    return np.array(constraint_error(model, q.tolist()), float)


def _jacobian(model, q):
    return np.array(constraint_jacobian(model, q.tolist()), float)


def rows(model, mj, q):
    """Errors and Jacobian, ours and MuJoCo's; its model has joints in our order, without a free one."""
    data = mujoco.MjData(mj)
    data.qpos[:] = q
    mujoco.mj_forward(mj, data)
    with kt.interpreted():
        ours = _error(model, q), _jacobian(model, q)
    return *ours, data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY], jacobian_of(data, mj)


@pytest.mark.parametrize("name", [name for name in EQUALITIES if "weld" not in name])
def test_errors_and_rows_are_mujocos(name):
    """At any position; points are compared in the axes of the world, from the second to the first."""
    text = text_of(name)
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert model.unsupported == () and model.nc > 0
    rng = np.random.default_rng(7)
    for _ in range(2):
        q = model.random_q(rng)
        phi, G, theirs, J = rows(model, mj, q)
        if model.nc == 3:
            phi = -kt.pose(model, q, frame=model.loops[0].successor)[0] @ phi
        np.testing.assert_allclose(phi, theirs, atol=1e-12)
        if model.nc < 3:
            np.testing.assert_allclose(G, J, atol=1e-12)


CLOSED = ('<weld body1="b" body2="c" anchor=".5 0 .1"/>', '<connect body1="b" body2="c" anchor=".1 .2 .3"/>')


@pytest.mark.parametrize("text", CLOSED)
def test_rows_of_closed_loops_span_mujocos(text):
    """Where the file shows the robot, both are closed in both; their rows are in other axes."""
    model, mj = load_mjcf(equality(text)), mujoco.MjModel.from_xml_string(equality(text))
    phi, G, theirs, J = rows(model, mj, model.keyframe("initial")[0])
    np.testing.assert_allclose([*phi, *theirs], 0.0, atol=1e-12)
    rank = np.linalg.matrix_rank(J, 1e-10)
    assert rank == np.linalg.matrix_rank(G, 1e-10) == np.linalg.matrix_rank(np.vstack([G, J]), 1e-10)


SEESAW = """<mujoco><compiler angle="radian"/><option timestep="2e-4" integrator="RK4"/><worldbody>
<body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size=".05"/>
  <body name="rod" pos="0 0 1"><joint name="rod" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1.5 0 -1" size=".05"/>
</body></body><body name="piston" pos="1.5 0 0"><joint name="piston" type="slide" axis="1 0 0"/><geom size=".2"/></body>
<body name="cam" pos="0 1 0"><joint name="cam" axis="0 1 0"/><geom type="box" size=".1 .2 .3" pos=".2 0 0"/></body>
</worldbody><equality><connect body1="rod" body2="piston" anchor="1.5 0 -1" solref="4e-4 1"/>
<joint joint1="cam" joint2="crank" polycoef="0 .5 .3" solref="4e-4 1"/></equality></mujoco>"""


def test_motions_of_a_file_are_mujocos():
    """A slider-crank with a cam: MuJoCo's soft constraints at a short time constant against exact ones, both RK4."""
    model, mj = load_mjcf(SEESAW), mujoco.MjModel.from_xml_string(SEESAW)
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    run = kt.simulate(model, model.neutral(), [0.5, -0.5, 0.5, 0.25], duration=0.4, dt=1e-3)
    data = mujoco.MjData(mj)
    data.qvel[:] = run.v[0]
    while data.time < 0.4 - 1e-9:
        mujoco.mj_step(mj, data)
    assert np.abs(data.qpos - model.neutral()).max() > 0.25
    np.testing.assert_allclose(run.q[-1], data.qpos, atol=2e-3)
    with kt.interpreted():
        assert np.abs(_error(model, run.q[-1])).max() < 1e-9


def test_what_stays_soft_data():
    """Softness and switched-off equalities are kept, and have no effect."""
    text = equality('<joint joint1="b1" joint2="a1" polycoef="0 1 2" solref=".01 .5" active="false"/>'
                    '<tendon tendon1="sum" active="false"/>').replace("<equality>", f"{TENDONS}<equality>")  # fmt: skip
    model = load_mjcf(text)
    assert model.constraints == () and [c.active for c in model.equalities] == [False, False]
    assert model.equalities[0].softness.solref == (0.01, 0.5)


def test_equalities_around_shapes_are_constraints():
    """The length over a shape is held as any other; its position error is MuJoCo's."""
    text = equality('<tendon name="held" tendon1="around"/>').replace("<equality>", """<tendon><spatial name="around">
        <site site="w"/><geom geom="ga"/><site site="sc"/></spatial></tendon><equality>""")
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    assert model.unsupported == () and model.nc == 1
    data.qpos[:] = model.random_q(np.random.default_rng(3))
    mujoco.mj_forward(mj, data)
    with kt.interpreted():
        assert _error(model, np.array(data.qpos))[0] == pytest.approx(data.efc_pos[0], abs=1e-12)


@pytest.mark.parametrize("name", EQUALITIES)
def test_files_keep_equalities(name):
    """Written and read again: the same constraints, softness included."""
    model = load_mjcf(text_of(name))
    again = kt.load(kt.io.to_mjcf(model))
    assert [str(c) for c in again.constraints] == [str(c) for c in model.constraints]
    assert again.independent_rows() == model.independent_rows()
    np.testing.assert_allclose(again.number_values(), model.number_values(), rtol=1e-12, atol=1e-13)
    assert [c.softness for c in again.equalities] == [c.softness for c in model.equalities]


def test_constraints_of_users_become_equalities():
    """Polynomials, tendons, differentials, rods and locks of joints; what no equality is, is refused by name."""
    model = load_mjcf(tree())
    kinds = kt.constraints
    w, sb, sc = map(kt.tendons.ViaPoint, ("w", "sb", "sc"))
    rope = (w, sb, kt.tendons.Pulley(2.0), sb, sc)
    given = (
        kinds.PolynomialCoupling("b1", "a1", (0.1, 1.0, 0.5), name="cam"),
        kinds.TendonLength(rope, (0.2,), reference=3.0, name="rope"),
        kinds.LinearCoupling(("a1", "a2", "b1"), (1.0, 1.0, -2.0), 0.3, "differential"),
        kinds.Distance("sa", "sc", 1.7, name="rod"),
        kinds.Distance("sa", "c", 1.7, (0.1, 0.2, 0.3), (0.0, 0.1, 0.0)),
    )
    q = model.random_q(np.random.default_rng(1))
    for c in given:
        held = model.with_constraints(c)
        again = kt.load(kt.io.to_mjcf(held))
        assert again.nc == held.nc == 1 and again.unsupported == ()
        with kt.interpreted():
            (G, theirs) = (_jacobian(m, q)[0] for m in (held, again))
            assert np.linalg.matrix_rank(np.stack([G, theirs]), 1e-9) == 1
            phi, found = (_error(m, q)[0] for m in (held, again))
        if isinstance(c, kinds.Distance):  # (d^2 - L^2) / (2 L) and d - L
            phi = np.sqrt(2.0 * c.length * phi + c.length**2) - c.length
        assert phi == pytest.approx(found, rel=1e-9)
    moved = model.with_constraints(kinds.PrescribedMotion("a1", 0.3))
    with pytest.raises(kt.errors.UnsupportedError, match="prescribed motion"):
        kt.io.to_mjcf(moved)
    assert kt.load(kt.io.to_mjcf(moved, unsupported="drop")).nc == 0


def test_equalities_between_parts_of_one_body_are_left_out():
    """A weld of two static bodies, or of sites of one body, has no effect, and is noted."""
    text = equality('<connect name="own" site1="sb" site2="side"/>')
    model = load_mjcf(text)
    assert model.nc == 0 and not model.loops and "'own' is between parts of one body" in str(model.report)
