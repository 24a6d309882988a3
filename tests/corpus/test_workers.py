"""A file that fails, crashes its process or hangs is a row of the table, and the others go on."""

from __future__ import annotations

from benchmarks.corpus import workers
from tests.corpus.tasks import task


def test_every_task_has_an_outcome():
    """Two processes survive a crash, an exception and a hang, and answer what comes after."""
    tasks = ["crash", "a", "raise", "b", "hang", "c", "d"]
    outcomes = {what: (how, result) for what, how, result in workers.run(task, tasks, jobs=2, timeout=2.0)}
    assert set(outcomes) == set(tasks)
    assert all(outcomes[what] == ("done", what.upper()) for what in "abcd")
    assert outcomes["raise"] == ("raised", "ValueError: no good")
    assert outcomes["crash"][0] == "crashed" and "exit code 3" in outcomes["crash"][1]
    assert outcomes["hang"][0] == "timed out"
