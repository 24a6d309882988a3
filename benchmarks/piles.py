"""Piles of free bodies against MuJoCo: 1,000 balls at rest between walls, and a stack of ten boxes.

``python -m benchmarks.piles`` lets 1,000 balls fall and come to rest, verifies that the floor and the walls carry their
weight, that nothing penetrates and that the stack stands still for ten seconds, then times steps of both engines from
the same states, and writes ``benchmarks/results/piles.json`` with penetration, drift and residuals of both.
MuJoCo's contacts are soft by design: its default options, and stiff ones.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np

from benchmarks import store, timing
from benchmarks.machine import machine, versions
from benchmarks.verify import WrongAnswer
from kinetree.collision import Ground
from kinetree.contact import Pile
from kinetree.model import Geometry

DT, SIDE, RADIUS, BOX, MU, G = 2e-3, 2.12, 0.1, 0.2, 0.8, 9.81
SWEEPS = (20, 50)
STIFF = 'solref="0.004 1" solimp="0.99 0.9999 0.001"'
WALLS = {(1, 0, 0): 0.0, (-1, 0, 0): -SIDE, (0, 1, 0): 0.0, (0, -1, 0): -SIDE}


def heap(sweeps: int = 50, **state) -> Pile:
    """The balls between walls."""
    ground = [Ground(friction=MU), *(Ground(friction=MU, normal=n, height=h) for n, h in WALLS.items())]
    return Pile(Geometry("sphere", (RADIUS,)), **state, ground=ground, friction=MU, sweeps=sweeps, tolerance=1e-5)


def settled() -> dict:
    """The state of 1,000 balls after three seconds."""
    rng = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[range(10)] * 3), axis=-1).reshape(-1, 3) * 0.21 + 0.12
    pile = heap(positions=grid + rng.uniform(-4e-3, 4e-3, size=grid.shape))
    for _ in range(round(3.0 / DT)):
        pile.step(DT)
    names = ("positions", "orientations", "velocities", "angular_velocities")
    return {name: getattr(pile, name) for name in names}


def stack(**options) -> Pile:
    """Ten boxes on each other."""
    positions = [[0.0, 0.0, BOX * (k + 0.5)] for k in range(10)]
    return Pile(Geometry("box", (BOX,) * 3), positions, friction=MU, ground=Ground(friction=MU), **options)


def _text(values) -> str:
    return " ".join(repr(float(x)) for x in values)


def theirs(pile: Pile, geom: str, cone: str, softness: str = "", walls=()) -> tuple:
    """The same bodies in MuJoCo, in the same state."""
    planes = [f'<geom type="plane" size="0 0 1" friction="{MU}" {softness}/>']
    for n, h in walls:
        position = _text(np.array(n) * h)
        planes.append(
            f'<geom type="plane" size="0 0 1" pos="{position}" zaxis="{_text(n)}" friction="{MU}" {softness}/>'
        )
    shape = f'<freejoint/><geom {geom} density="1000" friction="{MU}" {softness}/>'
    bodies = "".join(f'<body pos="{_text(p)}">{shape}</body>' for p in pile.positions)
    head = f'<mujoco><option timestep="{DT}" cone="{cone}"/><size memory="1G"/>'
    model = mujoco.MjModel.from_xml_string(f"{head}<worldbody>{''.join(planes)}{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qpos.reshape(-1, 7)[:, :3] = pile.positions
    data.qpos.reshape(-1, 7)[:, 3:] = pile.orientations
    data.qvel.reshape(-1, 6)[:, :3] = pile.velocities
    return model, data


def verified_heap(state: dict) -> dict:
    """The balls' residuals after 100 further steps, once their weight is carried and they do not penetrate."""
    found = {}
    for sweeps in SWEEPS:
        pile = heap(sweeps, **state)
        residuals, weights, deepest = [], [], 0.0
        for k in range(100):
            pile.step(DT)
            contacts = pile.contacts
            of_planes = (contacts.bodies < 0).any(axis=1)
            weights.append(contacts.impulses[of_planes].sum(axis=0)[2] / DT)
            if k >= 50:
                residuals.append(pile.residual)
                deepest = min(deepest, contacts.gaps.min())
        weight = pile.mass.sum() * G
        if not (abs(np.mean(weights) - weight) < 0.01 * weight and deepest > -1e-4):
            raise WrongAnswer(f"balls: weight {np.mean(weights):.1f} N of {weight:.1f} N, penetration {deepest:.1e} m")
        found[sweeps] = {"residual": float(np.median(residuals)), "penetration": -deepest, "contacts": len(of_planes)}
    return found


def verified_stack() -> dict:
    """Drift and penetration of the stack after ten seconds."""
    pile = stack()
    pile.advance(0.5, DT)
    start = pile.positions
    for _ in range(round(10.0 / DT)):
        pile.step(DT)
    drift, deepest = np.abs(pile.positions - start).max(), -pile.contacts.gaps.min()
    if not (drift < 1e-6 and deepest < 1e-6):
        raise WrongAnswer(f"stack: drift {drift:.1e} m, penetration {deepest:.1e} m")
    return {"drift": float(drift), "penetration": float(max(deepest, 0.0))}


def of_theirs(model, data, steps: int) -> dict:
    """MuJoCo's drift and penetration after some steps."""
    start = data.qpos.reshape(-1, 7)[:, :3].copy()
    for _ in range(steps):
        mujoco.mj_step(model, data)
    drift = np.abs(data.qpos.reshape(-1, 7)[:, :3] - start).max()
    return {"drift": float(drift), "penetration": float(-data.contact.dist.min()), "contacts": int(data.ncon)}


def main() -> None:
    """Verify, measure, print a table and write the result."""
    state = settled()
    laws = {"balls": verified_heap(state), "stack": verified_stack()}
    pile, boxes = {n: heap(n, **state) for n in SWEEPS}, stack()
    contenders = {f"kinetree, balls, {n} sweeps": pile[n] for n in SWEEPS} | {"kinetree, stack": boxes}
    for cone in ("pyramidal", "elliptic"):
        balls = theirs(pile[SWEEPS[0]], f'type="sphere" size="{RADIUS}"', cone, walls=WALLS.items())
        contenders[f"MuJoCo {cone}, balls"] = balls
        laws[f"MuJoCo {cone}, balls"] = of_theirs(*balls, 10)
        for name, softness in (("", ""), (" stiff", STIFF)):
            there = theirs(boxes, f'type="box" size="{_text([0.5 * BOX] * 3)}"', cone, softness)
            contenders[f"MuJoCo {cone}{name}, stack"] = there
            laws[f"MuJoCo {cone}{name}, stack"] = of_theirs(*there, round(10.0 / DT))

    def steps(what):
        if isinstance(what, Pile):
            return lambda n: [what.step(DT) for _ in range(n)]
        return lambda n: [mujoco.mj_step(*what) for _ in range(n)]

    calls = {name: steps(what) for name, what in contenders.items()}
    times = timing.interleaved(calls, dict.fromkeys(calls, 1), repeats=5)
    rows = {name: timing.summary(each)["median"] for name, each in times.items()}
    ratios = {}
    for what, mine in (("balls", f"kinetree, balls, {SWEEPS[0]} sweeps"), ("stack", "kinetree, stack")):
        for name, each in times.items():
            if name.startswith("MuJoCo") and name.endswith(what):
                ratios[name] = timing.ratios(each, times[mine])["median"]
    for name, seconds in rows.items():
        print(f"| {name} | {1e3 * seconds:.2f} ms | {ratios.get(name, 1.0):.1f}x |")
    print(laws)
    result = {"machine": machine(), "versions": {**versions(), **versions(("mujoco",))}, "seconds": rows}
    store.write("piles", {**result, "ratios": ratios, "laws": laws})


if __name__ == "__main__":
    main()
