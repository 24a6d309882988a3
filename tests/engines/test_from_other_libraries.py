"""The page for users of other libraries: expressions of Pinocchio, MuJoCo and Drake are run and give our results."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.static.source_tree import ROOT

KINDS = {  # how a result there becomes ours; others are compared as they are
    "inverse dynamics": "tau", "forward dynamics": "a", "mass matrix": "M", "inverse of the mass matrix": "inverse",
    "Coriolis, centrifugal and gravity forces": "tau", "gravity forces": "tau", "Jacobian of a frame": "J",
    "momentum about the center of mass": "six",
}  # fmt: skip


class Row(NamedTuple):
    """A quantity, and the expressions for it; empty where a library has none."""

    quantity: str
    kinetree: str
    pinocchio: str
    mujoco: str
    drake: str


def rows() -> list[Row]:
    """The rows of the first table of the page."""
    text = (ROOT / "docs" / "from_other_libraries.md").read_text()
    (table,) = (part for part in text.split("\n\n") if part.startswith("| quantity |"))
    found = []
    for line in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        codes = [re.match(r"`([^`]*)`", cell) for cell in cells]
        found.append(Row(name, *(code[1] if code else "" for code in codes)))
    return found


@functools.cache
def case():
    """A quadruped without passive forces in three libraries, and a state."""
    path = str(kt.data.path("quadruped"))
    model = kt.load(path, floating_base=True).without_limits().replace(damping=0.0, dry_friction=0.0)
    there = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model))
    there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    other = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    rng = np.random.default_rng(0)
    q, v = model.random_state(rng)
    return model, other, there, (q, v, rng.normal(size=model.nv), rng.normal(size=model.nv))


def ours(code):
    model, _, _, (q, v, a, tau) = case()
    return np.asarray(eval(code, {"kt": kt, "model": model, "q": q, "v": v, "a": a, "tau": tau}), dtype=float)


def converted(engine, kind, found):
    """A result there in our convention."""
    _, _, _, (q, v, _, _) = case()
    if kind == "inverse":
        upper = np.triu(found)
        return np.linalg.inv(engine.M_from(q, np.linalg.inv(upper + np.triu(found, 1).T)))
    if kind == "six":
        return np.concatenate((found[3:], found[:3]))
    if kind == "a":
        return engine.a_from(q, v, found)
    return getattr(engine, f"{kind}_from")(q, found) if kind else found


def test_the_table_is_read():
    """All of its rows, each with kinetree's expression, and most with one of both libraries."""
    found = rows()
    assert len(found) >= 15 and all(row.kinetree and row.pinocchio for row in found)
    assert sum(bool(row.mujoco) for row in found) >= 11 and sum(bool(row.drake) for row in found) >= 14
    assert set(KINDS) <= {row.quantity for row in found}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.quantity)
def test_pinocchio(row):
    """Pinocchio's result is that of kinetree's column."""
    model, m, _, (q, v, a, tau) = case()
    engine, name = kt.conventions.Pinocchio(model, m), row.quantity
    state = {"q": engine.q_to(q), "v": engine.v_to(q, v), "a": engine.a_to(q, v, a), "tau": engine.tau_to(q, tau)}
    given = {"pin": pin, "m": m, "d": m.createData(), "frame": m.getFrameId("trunk"), **state}
    found = np.asarray(eval(row.pinocchio, given), dtype=float)
    expected = ours(row.kinetree)
    assert np.allclose(converted(engine, KINDS.get(name), found), expected, rtol=1e-8, atol=1e-8), name


@pytest.mark.parametrize("row", [row for row in rows() if row.mujoco], ids=lambda row: row.quantity)
def test_mujoco(row):
    """MuJoCo's result is that of kinetree's column."""
    model, _, m, (q, v, a, tau) = case()
    engine, code = kt.conventions.MuJoCo(model, m), row.mujoco
    d, expected = mujoco.MjData(m), ours(row.kinetree)
    d.qpos[:], d.qvel[:] = engine.q_to(q), engine.v_to(q, v)
    mujoco.mj_fwdPosition(m, d)
    mujoco.mj_fwdVelocity(m, d)
    out = np.zeros(expected.shape)
    given = {"mujoco": mujoco, "m": m, "d": d, "out": out, "body": m.body("trunk").id, "a": engine.a_to(q, v, a),
             "tau": engine.tau_to(q, tau)}  # fmt: skip
    found = (exec(code, given), out)[1] if "out" in code else eval(code, given)
    found = converted(engine, KINDS.get(row.quantity), np.asarray(found, dtype=float))
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-8), row.quantity


@functools.cache
def plant_of_drake():
    """The quadruped in Drake."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(kt.io.to_urdf(case()[0]), "urdf")
    plant.Finalize()
    return plant


@pytest.mark.parametrize("row", [row for row in rows() if row.drake], ids=lambda row: row.quantity)
def test_drake(row):
    """Drake's result is that of kinetree's column; its six-vectors are in our order."""
    tree = pytest.importorskip("pydrake.multibody.tree", reason="pydrake is not installed: pip install drake")
    model, _, _, (q, v, a, tau) = case()
    plant = plant_of_drake()
    engine, context, expected = kt.conventions.Drake(model, plant), plant.CreateDefaultContext(), ours(row.kinetree)
    plant.SetPositions(context, engine.q_to(q))
    plant.SetVelocities(context, engine.v_to(q, v))
    out = np.zeros(expected.shape)
    given = {"plant": plant, "context": context, "np": np, "out": out, "body": plant.GetBodyByName("trunk"),
             "forces": tree.MultibodyForces(plant), "JacobianWrtVariable": tree.JacobianWrtVariable,
             "a": engine.a_to(q, v, a), "tau": engine.tau_to(q, tau)}  # fmt: skip
    found = (exec(row.drake, given), out)[1] if re.search(r"\bout\b", row.drake) else eval(row.drake, given)
    found = np.asarray(found, dtype=float)
    if row.quantity.startswith("Coriolis"):  # of the accelerations there that are zero here
        found = found + plant.CalcMassMatrix(context) @ engine.a_to(q, v, np.zeros(model.nv))
    kind = KINDS.get(row.quantity)
    found = converted(engine, None if kind == "six" else kind, found)
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-8), row.quantity
