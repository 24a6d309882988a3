"""The garbage collector is held off while compiling, and comes back as it was."""

import dataclasses
import gc
import threading

import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.tracing import trace
from kinetree.trace.collector import collector_off


@pytest.fixture(autouse=True)
def on():
    """The collector is on before and after."""
    gc.enable()
    yield
    gc.enable()


def test_nested_uses_and_errors():
    """Only the outermost use brings it back, an error does not prevent that."""
    with pytest.raises(ZeroDivisionError), collector_off():
        with collector_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
        _ = 1 / 0
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    """Who turned it off keeps it off."""
    gc.disable()
    with collector_off():
        pass
    assert not gc.isenabled()


def test_the_last_thread_brings_it_back():
    """Two threads that overlap."""
    inside, leave = threading.Event(), threading.Event()

    def work():
        with collector_off():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=work)
    with collector_off():
        thread.start()
        assert inside.wait(60)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_traces_hold_it_off(monkeypatch):
    """While an algorithm is read the collector is off; for large models it is on."""
    spec, seen = ALGORITHMS["rnea"], []
    function = spec.function

    def noted(*args, **named):
        seen.append(gc.isenabled())
        return function(*args, **named)

    spec = dataclasses.replace(spec, function=noted)
    trace(spec, kt.models.chain_gu(3))
    trace(spec, kt.models.chain_gu(50))
    assert seen == [False, True] and gc.isenabled()
