"""Type checkers see every public name, although it is loaded when it is used: no false alarms, misspellings found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.static.source_tree import PACKAGE, ROOT
from tests.static.test_documents import blocks

DOCUMENTS = {"readme.py": ROOT / "README.md", "tutorial.py": ROOT / "docs" / "tutorial.md"}
RIGHT = """
import kinetree as kt
import numpy as np

arm: kt.Model = kt.load("arm7")
q, v = arm.neutral(), np.zeros(arm.nv)
derivatives = kt.rnea_derivatives(arm, q, v, v)
derivatives.dtau_dq.shape
kt.rnea(arm, q, v, v, {"link1": np.zeros(6)}).shape
kt.rnea(arm, list(q), v, v, out=np.zeros(arm.nv))
kt.jacobian(arm, q, frame="tool", reference="world").T
kt.sparse.ltdl(arm, q).L, kt.floating_base.jacobian, kt.regressors.joint_torque, kt.textbook.newton_euler
kt.models.pendulum().damping.max()
kt.viz.plot_trajectory, kt.control.Sampled, kt.signals.Sine, kt.io.to_dh, kt.errors.ModelError
f = kt.compile(arm, "aba")
f.operations
print(kt.__version__)
"""
WRONG = """
import kinetree as kt
arm = kt.load("arm7")
kt.simulat(arm)
kt.sparse.ltld(arm, arm.neutral())
arm.neutrl()
arm.dampin
kt.crba(arm, arm.neutral(), frmae="tool")
kt.jacobian(arm, arm.neutral(), frame="tool", reference="wrld")
kt.rnea_derivatives(arm, [0.0], [0.0], [0.0]).dtau_dqq
number: int = kt.load("arm7")
"""
"""A mistake in every line from the fourth on."""


def checked(folder, command: list[str]) -> dict[str, set[int]]:
    """For each file the lines in which the checker finds an error."""
    for name, path in DOCUMENTS.items():
        (folder / name).write_text("\n".join(blocks(path.read_text(), "python")))
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text(WRONG)
    names = [*DOCUMENTS, "right.py", "wrong.py"]
    done = subprocess.run(
        [*command, *names], cwd=folder, capture_output=True, text=True, check=False, timeout=280,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent)},
    )  # fmt: skip
    if not re.search(r"\d+ errors|Found \d+ error", done.stdout):
        pytest.skip(f"{command[0]} does not run here: {(done.stdout + done.stderr)[-300:]}")
    found = {name: set() for name in names}
    print(done.stdout)
    for name, line in re.findall(r"(\w+\.py):(\d+)(?::\d+)?:? (?:- )?error", done.stdout):
        found[name].add(int(line))
    return found


@pytest.mark.parametrize("checker", ["basedpyright", "mypy"])
def test_checkers_know_what_is_public(checker, tmp_path):
    """README, tutorial and valid code are without errors; each misspelled name, choice or type is found."""
    command = shutil.which(checker) or shutil.which(checker, path=os.path.dirname(sys.executable))
    if command is None:
        pytest.skip(f"{checker} is not installed")
    options = {
        "basedpyright": ["--level", "error"],
        "mypy": ["--cache-dir", str(tmp_path), "--follow-imports=silent", "--ignore-missing-imports"],
    }
    found = checked(tmp_path, [command, *options[checker]])
    lines = set(range(4, len(WRONG.strip("\n").splitlines()) + 2))
    assert found == {"readme.py": set(), "tutorial.py": set(), "right.py": set(), "wrong.py": lines}


def test_the_package_says_that_it_is_typed():
    """Checkers read annotations of packages with this file."""
    assert (PACKAGE / "py.typed").exists()
