"""Functions, results and models in other processes and in copies."""

import copy
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnknownNameError
from kinetree.model import Frame

MODEL = kt.models.double_pendulum()
STATE = ([0.1, 0.2], [0.3, -0.4], [0.5, 0.6])


def copies(thing):
    return pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)


def test_a_function_survives_pickling_and_copying():
    """Each copy computes the same bits; optional inputs, static choices and checks go along."""
    wrench = np.ones((MODEL.nb, 6))
    f = kt.compile(MODEL, "aba", optional=("f_ext",), checks=False)
    J = kt.compile(MODEL, "jacobian", frame="lower", reference="world")
    for g in copies(f):
        assert g.input_names == f.input_names and g.checks is False
        np.testing.assert_array_equal(g(*STATE, wrench), f(*STATE, wrench))
    for g in copies(J):
        np.testing.assert_array_equal(g(STATE[0]), J(STATE[0]))


def test_named_results_survive_pickling_and_copying():
    """What one process computes another one reads, by name."""
    poses = kt.forward_kinematics(MODEL, STATE[0])
    for twin in copies(poses):
        assert type(twin) is type(poses) and twin._fields == ("R_WB", "p_WB")
        np.testing.assert_array_equal(twin.p_WB, poses.p_WB)


def test_named_results_have_one_type_for_all_models():
    """Results of two models can be compared and stored alike."""
    other = kt.models.pendulum()
    assert type(kt.forward_kinematics(other, [0.1])) is type(kt.forward_kinematics(MODEL, [0.1, 0.2]))


def test_a_copied_model_is_the_model():
    """Nothing of a model can change, so copies keep the compiled functions."""
    assert copy.copy(MODEL) is MODEL and copy.deepcopy({"robot": MODEL})["robot"] is MODEL


def test_a_frame_of_its_own_is_the_frame_of_its_name():
    """By name, number and Frame: one frame, and one compiled function."""
    frame = MODEL.frame("lower")
    expected = kt.pose(MODEL, STATE[0], frame="lower").p_WF
    for given in (frame, MODEL.body("lower")):
        np.testing.assert_array_equal(kt.pose(MODEL, STATE[0], frame=given).p_WF, expected)
        assert kt.compile(MODEL, "pose", frame=given).static == {"frame": "lower"}


def test_a_frame_that_the_model_does_not_hold_is_refused():
    """Compiled code knows frames by their names; two poses of one name must not share it."""
    for x in (1.0, 2.0):
        with pytest.raises(UnknownNameError, match=r"frame 'tip' on body 2 is not one of model .*add_frame"):
            kt.pose(MODEL, STATE[0], frame=Frame("tip", 2, p_BF=(x, 0.0, 0.0)))
