"""Lengths and moment arms of tendons around shapes against MuJoCo, on an arm of 20 hinges and 50 tendons.

``python -m benchmarks.tendons`` makes the arm (three chains; five points on each tendon, 10 of them around a cylinder
or sphere), verifies lengths and Jacobians against MuJoCo's, times them against MuJoCo's kinematics and tendon stage,
counts operations of single shapes, and writes ``benchmarks/results/tendons.json``. Results go into given arrays.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np

import kinetree as kt
from benchmarks import store, timing
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer
from kinetree.conventions import MuJoCo
from kinetree.io.mjcf.read import load_mjcf
from kinetree.tendons import ViaPoint, WrapShape

CHAINS, TENDONS, WRAPPING, BATCH = (8, 6, 6), 50, 10, 2048


def arm() -> str:
    """The file, in MJCF."""
    rng, text, chains, n = np.random.default_rng(0), "", [], 0
    for length in CHAINS:
        chains.append(range(n + 1, n + 1 + length))
        for n in chains[-1]:
            axis, place = rng.normal(size=3), rng.uniform(-0.1, 0.1, 3) + (0.0, 0.0, 0.2)
            kind = "cylinder" if n % 2 else "sphere"
            text += f'<body pos="{_text(place)}"><joint name="j{n}" axis="{_text(axis)}"/>'
            text += f'<geom name="g{n}" type="{kind}" size=".04 .1" contype="0" conaffinity="0"/>'
            text += "".join(f'<site name="s{n}_{k}" pos="{_text(rng.uniform(-0.1, 0.1, 3))}"/>' for k in range(6))
        text += "</body>" * length
    tendons = ""
    for t in range(TENDONS):
        bodies = chains[t % len(chains)]
        k = int(rng.integers(0, len(bodies) - 2))
        sites = [f'<site site="s{bodies[k + m // 2]}_{(m + t) % 6}"/>' for m in range(5)]
        if t < WRAPPING:
            sites.insert(3, f'<geom geom="g{bodies[k + 1]}"/>')
        tendons += f'<spatial name="t{t}">{"".join(sites)}</spatial>'
    return f"<mujoco><worldbody>{text}</worldbody><tendon>{tendons}</tendon></mujoco>"


def _text(values) -> str:
    return " ".join(f"{x:.4f}" for x in values)


def operations() -> dict[str, int]:
    """Of the joint forces of one spring around a shape between three bodies, kinematics included."""
    base, found = kt.models.chain_gu(3), {}
    ends = ViaPoint("world", (0.3, 0.1, 0.2)), ViaPoint("body3", (0.1, 0.2, 0.3))
    shapes = {"none": (), "sphere": (WrapShape("sphere", "body2", 0.1),)}
    shapes |= {"cylinder": (WrapShape("cylinder", "body2", 0.1),)}
    for kind in ("sphere", "cylinder"):
        shapes[f"{kind}, side"] = (WrapShape(kind, "body2", 0.1, "body1"),)
        shapes[f"{kind}, inside"] = (WrapShape(kind, "body2", 0.1, inside=True),)
    for name, shape in shapes.items():
        model = base.with_forces(kt.forces.TendonForce("cord", (ends[0], *shape, ends[1]), 100.0))
        found[name] = kt.compile(model, "passive_joint_forces").operations.total
    return found


def verify(model, mj, data, there, calls, Q) -> None:
    """Raise WrongAnswer unless lengths and Jacobians are MuJoCo's."""
    for q in Q[:50]:
        data.qpos[:] = there.q_to(q)
        mujoco.mj_fwdPosition(mj, data)
        J = np.zeros((mj.ntendon, mj.nv))
        mujoco.mju_sparse2dense(J, data.ten_J.ravel(), mj.ten_J_rownnz, mj.ten_J_rowadr, mj.ten_J_colind.ravel())
        for call, expected in zip(calls, (data.ten_length, J), strict=True):
            if not np.abs(call(q) - expected).max() < 1e-12:
                raise WrongAnswer(f"tendons: off by {np.abs(call(q) - expected).max():.1e}")


def main() -> None:
    """Measure, print a table and write the result."""
    text = arm()
    model, mj = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    data, there, rng = mujoco.MjData(mj), MuJoCo(model, mj, by_order=True), np.random.default_rng(1)
    Q = rng.uniform(-1.0, 1.0, (BATCH, model.nq))
    lengths, jacobian = (kt.compile(model, f"tendon_{what}") for what in ("lengths", "jacobian"))
    verify(model, mj, data, there, (lengths, jacobian), Q)
    q, L_all, J_all = Q[0], np.empty((BATCH, TENDONS)), np.empty((BATCH, TENDONS, model.nv))
    L, J = L_all[0].copy(), J_all[0].copy()

    def stage(n: int) -> None:
        for _ in range(n):
            mujoco.mj_kinematics(mj, data)
            mujoco.mj_comPos(mj, data)
            mujoco.mj_tendon(mj, data)

    contenders = {
        "lengths, batch": lambda n: [lengths(Q, out=L_all) for _ in range(n)],
        "Jacobian, batch": lambda n: [jacobian(Q, out=J_all) for _ in range(n)],
        "lengths, single": lambda n: [lengths(q, out=L) for _ in range(n)],
        "Jacobian, single": lambda n: [jacobian(q, out=J) for _ in range(n)],
        "MuJoCo's kinematics and tendons": stage,
        "mj_forward": lambda n: [mujoco.mj_forward(mj, data) for _ in range(n)],
    }
    units = {name: BATCH if "batch" in name else 1 for name in contenders}
    times = timing.interleaved(contenders, units, repeats=9)
    rows = {name: timing.summary(each)["median"] for name, each in times.items()}
    theirs = times["MuJoCo's kinematics and tendons"]
    ratios = {name: timing.ratios(theirs, each)["median"] for name, each in times.items()}
    for name, seconds in rows.items():
        print(f"| {name} | {1e9 * seconds:.0f} | {ratios[name]:.1f}x |")
    counts = operations()
    print(counts)
    sizes = {"lengths": lengths.operations.total, "jacobian": jacobian.operations.total}
    result = {"machine": machine(), "versions": {**versions(), **versions(("mujoco",))}, "seconds": rows}
    store.write("tendons", {**result, "ratios": ratios, "operations": sizes, "force of one spring": counts})


if __name__ == "__main__":
    main()
