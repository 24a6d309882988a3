"""Sweeps in one process: the motions of `simulate`, the same bits for any chunks, failures of single samples."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, InertiaError, ShapeError, UnknownNameError, UnsupportedError

ARM = kt.load("double_pendulum")
RUN = {"duration": 0.1, "dt": 1e-3, "integrator": "semi_implicit"}


def controller(model=ARM, target=(0.4, -0.2), kp=30.0):
    return kt.control.PDGravityCompensation(model, target, kp=kp, kd=4.0, effort_limit=6.0)


def changed(**values):
    """The model with other numbers, through `Function.with_parameters`."""
    return kt.compile(ARM, "aba").with_parameters(values).model


OVER = {
    "upper.mass": kt.sweeps.uniform(0.9, 1.1), "elbow.damping": [0.0, 0.2], "q0.shoulder": kt.sweeps.normal(0.0, 0.3),
    "controller.kp": kt.sweeps.uniform(20.0, 40.0), "controller.target.elbow": [-0.2, 0.3],
}  # fmt: skip
MEASURES = ["q_end", "v_end", "energy_start", "energy_end", "peak_torque", "peak_velocity", "path"]


def bodies():
    return [ARM.body_names[i] for i in ARM.outward()]


def over():
    """The parameters above by the names of the bodies of the model."""
    return {name.replace("upper", bodies()[0]): x for name, x in OVER.items()}


@pytest.fixture(scope="module")
def run():
    return kt.sweep(ARM, over(), RUN | {"controller": controller()}, MEASURES, samples=5, seed=2, client=False)


def test_a_sample_is_the_motion_of_simulate(run):
    """Position, energy and joint forces of one sample against a run with its numbers, start and gains."""
    data, k = run.data.load(), 13
    first = bodies()[0]
    values = {name: float(data[name][k]) for name in over()}
    model = changed(**{f"{first}.mass": values[f"{first}.mass"]}).replace(damping=[0.0, values["elbow.damping"]])
    law = controller(target=(0.4, values["controller.target.elbow"]), kp=values["controller.kp"])
    found = kt.simulate(
        model, [values["q0.shoulder"], 0.0], duration=0.1, dt=1e-3, integrator="semi_implicit", controller=law
    )
    np.testing.assert_allclose(data["q"][k], found.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(data["v"][k], found.v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(data["energy_end"][k], found.energy[-1], rtol=1e-12)
    np.testing.assert_allclose(data["energy_start"][k], found.energy[0], rtol=1e-12)
    np.testing.assert_allclose(data["peak_torque"][k], np.abs(found.tau[:-1]).max(axis=0), rtol=1e-11)
    np.testing.assert_allclose(data["peak_velocity"][k], np.abs(found.v).max(axis=0), rtol=1e-11)
    assert (data["q_end"].values == data["q"].values[:, -1]).all()


def test_bits_do_not_depend_on_chunks_or_threads(run):
    """Chunks of 1, 7 and all samples, one thread and two."""
    expected = run.data.load()
    for chunk, workers in ((7, 2), (1, 1)):
        found = kt.sweep(
            ARM, over(), RUN | {"controller": controller()}, MEASURES, samples=5, seed=2, client=False, chunk=chunk,
            workers=workers,
        )  # fmt: skip
        assert found.data.load().drop_attrs().identical(expected.drop_attrs())


def test_parameters_are_coordinates(run):
    """Values are stored beside the results, labels of entries are names of joints."""
    data = run.data
    assert set(over()) <= set(data.coords) and data.sizes["sample"] == 20
    assert data["q_end_entry"].values.tolist() == list(ARM.position_labels)
    assert (data["status"].values == 1).all() and not run.failures
    np.testing.assert_array_equal(data["elbow.damping"].values.reshape(2, 2, 5)[:, 0, 0], [0.0, 0.2])


def test_density_scales_mass_and_inertia_together():
    """All numbers of the body at once: as a model with these."""
    first = bodies()[0]
    run = kt.sweep(ARM, {f"{first}.density": [0.5, 2.0], "q0": [[0.3, -0.4]]}, RUN, ["q_end"], client=False)
    for k, factor in enumerate((0.5, 2.0)):
        names = [name for name in ARM.numbers().names if name.startswith(f"{first}.") and ".r." not in name]
        model = changed(**{name: factor * ARM.numbers().as_dict()[name] for name in names})
        q, _ = kt.rollout(model, [0.3, -0.4], None, None, 1e-3, steps=100, integrator="semi_implicit")
        np.testing.assert_allclose(run.data["q_end"][k], q[-1], rtol=0, atol=1e-14)


def test_offsets_that_break_zeros_give_bits_that_do_not_depend_on_neighbors():
    """An offset that leaves the frames of the code: alone in a chunk as among samples that do not."""
    name = next(name for name in ARM.numbers().names if ".r." in name and ARM.numbers().as_dict()[name] != 0.0)
    values = [ARM.numbers().as_dict()[name], 0.37]
    runs = [kt.sweep(ARM, {name: values, "q0": [[0.3, -0.4]]}, RUN, ["q_end"], client=False, chunk=n) for n in (1, 2)]
    np.testing.assert_array_equal(*(run.data["q_end"].values for run in runs))


def test_contact_friction_and_slip():
    """A box pushed above the friction cone slides; with more friction it stays: distances by the closed form."""
    builder = kt.ModelBuilder("box")
    builder.add_body("box", joint=kt.joints.Free(), mass=2.0, inertia=np.diag([0.02, 0.03, 0.04]))
    builder.add_geometry("box", kt.model.Geometry("box", (0.4, 0.3, 0.2)))
    push = np.zeros((2, 6))
    push[1, 3] = 2.0 * 9.81 * 0.5
    # at the height of the ground, as the friction is, so that all corners carry the same
    run = kt.sweep(
        builder.build(), {"contact.friction": [0.2, 0.8]},
        {"duration": 0.2, "dt": 2e-3, "q0": [0, 0, 0.1, 1, 0, 0, 0], "f_ext": push, "ground": True},
        ["slip", "q_end"], client=False,
    )  # fmt: skip
    slip = run.data["slip"].values
    a = 9.81 * (0.5 - 0.2)
    expected = 0.5 * a * 0.2 * (0.2 + 2e-3)  # semi-implicit Euler
    np.testing.assert_allclose(slip[0], expected, rtol=1e-6)
    np.testing.assert_allclose(run.data["q_end"].values[0, 0], expected, rtol=1e-6)
    assert slip[1].max() < 1e-9


def test_a_factory_makes_models_of_several_structures():
    """Samples are grouped by the structure of their models; each is its own motion."""

    def made(length, damped):
        builder = kt.ModelBuilder("pole")
        builder.add_body(
            "bob", joint=kt.joints.Revolute((0, 1, 0)), mass=1.0, com=[0, 0, -length], damping=0.3 if damped else 0.0
        )
        return builder.build()

    run = kt.sweep(
        made, {"length": [0.5, 1.0, 2.0], "damped": [0, 1]}, RUN | {"q0": [0.8], "duration": 0.5}, ["q_end"],
        client=False,
    )  # fmt: skip
    data = run.data.load()
    for k in range(6):
        model = made(float(data["length"][k]), bool(data["damped"][k]))
        q, _ = kt.rollout(model, [0.8], None, None, 1e-3, steps=500, integrator="semi_implicit")
        np.testing.assert_allclose(data["q_end"][k], q[-1], rtol=0, atol=1e-13)


def test_distance_of_a_frame():
    """At the end and the smallest one, against the poses of the recorded states."""
    frame, target = ARM.frames[-1].name, (0.1, 0.2, -0.5)
    run = kt.sweep(
        ARM, {"q0.shoulder": [0.0, 1.0]}, RUN,
        {"end": kt.sweeps.Distance(frame, target), "least": kt.sweeps.Distance(frame, target, "path"), "all": "path"},
        client=False,
    )  # fmt: skip
    _, p = kt.pose(ARM, run.data["q"].values, frame=frame)
    d = np.linalg.norm(p - target, axis=-1)
    np.testing.assert_allclose(run.data["end"], d[:, -1], rtol=1e-14)
    np.testing.assert_allclose(run.data["least"], d.min(axis=1), rtol=1e-14)


def test_a_motion_that_blows_up_is_a_failed_sample_with_its_instant():
    """The others are as if alone; seed, values and the instant are in the message."""
    over = {"v0.shoulder": [0.0, 1e160, 1.0]}
    run = kt.sweep(ARM, over, RUN, ["q_end", "peak_velocity"], client=False, seed=5)
    (failure,) = run.failures
    assert (failure.index, failure.seed, failure.values) == (1, 5, {"v0.shoulder": 1e160})
    assert "no longer finite after step" in failure.message and "shoulder" in str(failure)
    data = run.data.load()
    assert data["status"].values.tolist() == [1, 2, 1] and np.isnan(data["q_end"].values[1]).all()
    alone = kt.sweep(ARM, {"v0.shoulder": [0.0, 1.0]}, RUN, ["q_end"], client=False).data["q_end"].values
    np.testing.assert_array_equal(data["q_end"].values[[0, 2]], alone)


def test_a_measure_that_raises_is_a_failed_sample():
    """It is found by halves: the others keep their results, the message names type and text of the error."""

    def picky(batch):
        if 7 in batch.index or 11 in batch.index:
            raise RuntimeError("no such thing")
        return batch.q[:, -1, 0]

    picky.needs = "end"
    run = kt.sweep(ARM, {"q0.shoulder": np.linspace(0.0, 1.0, 16)}, RUN, [picky, "v_end"], client=False, chunk=8)
    assert [failure.index for failure in run.failures] == [7, 11]
    assert run.failures[0].message == "RuntimeError: no such thing"
    assert np.isnan(run.data["picky"].values[[7, 11]]).all() and np.isnan(run.data["v_end"].values[7]).all()
    assert np.isfinite(np.delete(run.data["picky"].values, [7, 11])).all()


def test_an_inertia_that_no_body_can_have_is_a_failed_sample():
    """Numbers with leading axes are not verified by compiled functions, so the sweep does it."""
    first = bodies()[0]
    run = kt.sweep(ARM, {f"{first}.mass": [1.0, -1.0]}, RUN, ["q_end"], client=False)
    (failure,) = run.failures
    assert failure.index == 1 and "which no body can have" in failure.message and "density" in failure.message


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"over": {"elbw.damping": [1.0]}}, UnknownNameError, "Did you mean 'elbow.damping'"),
        ({"over": {"q0.elbw": [1.0]}}, UnknownNameError, "Did you mean 'q0.elbow'"),
        ({"over": {"controller.kp": [1.0]}}, UnknownNameError, "simulate= has no controller"),
        ({"over": {"q0": [1.0, 2.0]}}, ShapeError, r"values of 'q0' have shape \(\), expected \(2,\)"),
        ({"measure": ["q_ned"]}, UnknownNameError, "Did you mean 'q_end'"),
        ({"measure": ["distance"]}, ArgumentError, r"needs frame and target: kt\.sweeps\.Distance"),
        ({"measure": [lambda batch: batch.q]}, ArgumentError, "has no name for its variable"),
        ({"measure": []}, ArgumentError, "measure is empty"),
        ({"measure": ["slip"]}, UnsupportedError, "has no contacts"),
        ({"measure": {"x": lambda batch: 1.0}}, ShapeError, r"expected numbers of shape \(2, \.\.\.\)"),
        ({"simulate": {"dt": 1e-3}}, ArgumentError, "no duration"),
        ({"simulate": {"duration": 1.0, "steps": 3}}, UnknownNameError, "'steps'"),
        ({"simulate": {"duration": 0.0015}}, kt.errors.SimulationError, "not a multiple of dt"),
        ({"simulate": RUN | {"controller": lambda t, q, v: q}}, ArgumentError, "others are not part of compiled steps"),
        ({"simulate": RUN | {"q0": [1.0]}}, ShapeError, r"q0 of simulate= has shape \(1,\)"),
        ({"client": 3}, ArgumentError, "the address of a scheduler"),
        ({"device": "tpu"}, ArgumentError, "one of 'cpu', 'cuda'"),
    ],
)
def test_arguments_that_cannot_be(arguments, error, message):
    """Names, shapes and combinations are refused before anything is simulated."""
    given = {"over": {"elbow.damping": [0.0, 0.1]}, "simulate": RUN, "measure": ["q_end"], "client": False}
    with pytest.raises(error, match=message):
        kt.sweep(ARM, **(given | arguments))


def test_if_no_sample_can_be_computed_its_error_is_raised():
    """There are no shapes of results then."""
    with pytest.raises(InertiaError, match="which no body can have"):
        kt.sweep(ARM, {f"{bodies()[0]}.mass": [-1.0, -2.0]}, RUN, ["q_end"], client=False)
