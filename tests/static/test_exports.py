"""What a module says it exports exists, once."""

from __future__ import annotations

import importlib
import operator
import pickle
import re
import types

import pytest

import kinetree
from kinetree.algorithms.index import MODULES as ALGORITHM_MODULES
from kinetree.foreign_names import FOREIGN, OF_MODELS
from kinetree.public import CALLS, NAMESPACES, PLACES, names
from tests.static.source_tree import module_name, package_files

MODULES = [module_name(path) for path in package_files() if path.name != "__main__.py"]


def test_exports_exist_and_are_unique():
    """Every name in ``__all__`` can be had from its module, and stands there once."""
    wrong = []
    for name in MODULES:
        module = importlib.import_module(name)
        exported = list(getattr(module, "__all__", ()))
        wrong += [f"{name}.{entry} twice" for entry in set(exported) if exported.count(entry) > 1]
        wrong += [f"{name}.{entry} missing" for entry in exported if not hasattr(module, entry)]
    assert len(MODULES) > 800 and not wrong


def test_the_public_face_is_small():
    """``dir`` shows about 50 callables, those of the README among them, and the namespaces, and nothing else."""
    things = {name: getattr(kinetree, name) for name in dir(kinetree)}
    spaces = {name for name, thing in things.items() if isinstance(thing, types.ModuleType)}
    calls = set(things) - spaces
    assert {"load", "rnea", "crba", "aba", "compile", "simulate"} <= calls
    assert all(callable(things[name]) for name in calls) and 40 <= len(calls) <= 52
    assert spaces == set(NAMESPACES) and set(kinetree.__all__) == calls | spaces


@pytest.mark.parametrize("space", sorted({*PLACES, *CALLS}))
def test_a_namespace_gives_the_same_thing_every_time(space):
    """What is made when it is used is made once: ``is`` holds, and pickle finds it by its module and name."""
    module = importlib.import_module(space)
    for name in names(space):
        thing = getattr(module, name)
        assert thing is getattr(module, name)
        if name in CALLS.get(space, {}):
            assert pickle.loads(pickle.dumps(thing)) is thing


def test_every_algorithm_is_called_from_one_place():
    """No algorithm of the library is without a public call, and none has two."""
    called = [full for calls in CALLS.values() for full in calls.values()]
    assert len(called) == len(set(called)) and set(called) == set(ALGORITHM_MODULES)


def test_an_unknown_public_name_is_an_attribute_error():
    """A misspelled name fails where it is written, and the message has the name that was meant."""
    with pytest.raises(AttributeError, match="'no_such_name'$"):
        _ = kinetree.no_such_name
    with pytest.raises(AttributeError, match=r"Did you mean kt\.simulate\?"):
        _ = kinetree.simulat
    with pytest.raises(AttributeError, match=r"It is kt\.floating_base\.jacobian\."):
        _ = kinetree.floating_base_jacobian
    with pytest.raises(AttributeError, match=r"Did you mean kt\.sparse\.ltl\?"):
        _ = kinetree.sparse.ltld
    with pytest.raises(AttributeError, match=r"Did you mean model\.neutral\?"):
        _ = kinetree.models.pendulum().neutrl


@pytest.mark.parametrize(("name", "ours"), [
    ("fk", "kt.forward_kinematics"), ("ik", "kt.inverse_kinematics"), ("computeJointJacobians", "kt.jacobian"),
    ("mj_step", "kt.simulate"), ("CalcMassMatrix", "kt.crba"), ("getLinkState", "kt.pose"), ("njoints", "model.nb"),
])  # fmt: skip
def test_a_name_of_another_library_gives_ours(name, ours):
    """Pinocchio, MuJoCo, Drake, PyBullet, RBDL; the package and models."""
    owner = kinetree.models.pendulum() if ours.startswith("model.") else kinetree
    with pytest.raises(AttributeError, match=re.escape(ours)):
        getattr(owner, name)


def test_names_that_messages_give_exist():
    """Every kt.name and model.name in the tables of other libraries' names is there; no entry hides one of ours."""
    model = kinetree.load("arm7")
    for name, text in FOREIGN.items():
        assert not hasattr(kinetree, name)
        for path in re.findall(r"kt\.(\w+(?:\.\w+)*)", text):
            assert callable(operator.attrgetter(path)(kinetree)), path
    for name, text in OF_MODELS.items():
        assert not hasattr(model, name), name
        for path in re.findall(r"model\.(\w+)", text):
            assert hasattr(model, path), path


def test_a_model_without_content_fails_plainly():
    """Attributes of a model that was never filled are missing, without recursion: copy and pickle make such objects."""
    empty = object.__new__(kinetree.Model)
    with pytest.raises(AttributeError, match="'name'"):
        _ = empty.nb
