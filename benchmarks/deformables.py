"""Elements and steps of deformables: assembly per element, steps of 1,000 to 50,000 tetrahedra, MuJoCo's flexes.

Before anything is timed, forces are the gradient of the energy, the solution of a step has no residual, and forces of
Saint Venant-Kirchhoff's law are those of MuJoCo's flex. ``python -m benchmarks.deformables`` writes
``benchmarks/results/deformables.json``; ``--quick`` checks that the harness works.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse

import numpy as np

from benchmarks import machine, store, timing
from benchmarks.rollout import WrongAnswer, repeated

CELLS = {1000: (10, 4, 5), 4800: (20, 8, 6), 25600: (40, 16, 8), 50000: (50, 20, 10)}
"""Cells of a beam of 1 x 0.4 x 0.2 m by its number of tetrahedra."""
STEPS = 10
DT = {"1 ms": 1e-3, "10 ms": 1e-2}


def beam(kt, count: int, law: str = "corotated"):
    """A cantilever of rubber, 1 MPa."""
    body = kt.deformables.beam((1.0, 0.4, 0.2), CELLS[count], kt.deformables.Material(1e6, 0.3, 1000.0, law))
    return body.with_fixed(body.inside((-1.0, -1.0, -1.0), (1e-9, 1.0, 1.0)))


def strained(scene):
    """A state with random displacements of a millimeter."""
    state = scene.state()
    state.x += 1e-3 * np.random.default_rng(0).standard_normal(state.x.shape)
    return state


def verify(scene, state) -> dict[str, float]:
    """The errors of forces and of a solution, relative."""
    nodes, h = scene.elements, 1e-7
    along = np.random.default_rng(1).standard_normal(state.x.shape)
    energy = [nodes.elastic_energy(state.x + s * h * along) for s in (1.0, -1.0)]
    power = float(np.sum(nodes.forces(state.x, 0.0 * state.u) * along))
    slope = -(energy[0] - energy[1]) / (2.0 * h)
    entries, _ = nodes.matrix(state.x, state.u, 1e-4, 1e-2)
    ff, _, _ = scene.matrix.blocks(entries, 1.0)
    right = along[nodes.free].reshape(-1, 1)
    errors = {
        "forces": abs(power - slope) / abs(slope),
        "solution": float(np.abs(ff @ scene.matrix.solve(ff, right) - right).max()),
    }
    if not (errors["forces"] < 1e-5 and errors["solution"] < 1e-8):
        raise WrongAnswer(f"{scene.bodies[0].name}: {errors}")
    return errors


def evaluations(scene, state) -> dict:
    """What is timed of the elements of a scene, by name."""
    from kinetree.deformables.element_kernels import run

    nodes, weights = scene.elements, np.array([1e-4, 1e-2])
    (block,) = nodes.blocks
    given = state.x[block.nodes], state.u[block.nodes], block.parameters
    return {
        "kernel of forces": repeated(lambda: run(block.law, "forces", *given, threads=1)),
        "kernel of matrices": repeated(lambda: run(block.law, "matrix", *given, weights, 1)),
        "assembled forces": repeated(lambda: nodes.forces(state.x, state.u)),
        "assembled matrix": repeated(lambda: nodes.matrix(state.x, state.u, 1e-4, 1e-2)),
    }


def elements(kt, count: int, repeats: int) -> list[dict]:
    """Forces and matrices of all laws, ns per element."""
    rows = []
    for law in ("linear", "corotated", "neo_hookean", "stable_neo_hookean"):
        scene = kt.deformables.Coupled(None, beam(kt, count, law))
        state = strained(scene)
        row = {"law": law, "elements": count, "errors": verify(scene, state)}
        times = timing.interleaved(evaluations(scene, state), count, repeats)
        row["ns per element"] = {name: 1e9 * timing.summary(each)["median"] for name, each in times.items()}
        print(row, flush=True)
        rows.append(row)
    return rows


def steps(kt, counts, repeats: int) -> list[dict]:
    """Linearly implicit steps, with the shares of assembly and solution."""
    rows = []
    for count in counts:
        scene = kt.deformables.Coupled(None, beam(kt, count))
        state, matrix = strained(scene), scene.matrix
        errors = verify(scene, state)
        entries, _ = scene.elements.matrix(state.x, state.u, 1e-4, 1e-2)
        ff, _, _ = matrix.blocks(entries, 1.0)
        right = np.ones((ff.shape[0], 1))

        def factorized(matrix=matrix, ff=ff, right=right):
            matrix._factors = None
            matrix.solve(ff, right)

        contenders = {
            "assembly": lambda scene=scene, state=state: scene.elements.matrix(state.x, state.u, 1e-4, 1e-2),
            "factors and solution": factorized,
        }
        for name, dt in DT.items():

            def stepped(scene=scene, dt=dt):
                scene.simulate(STEPS * dt, dt, record=kt.Record(every=STEPS), progress=False)

            contenders[f"step of {name}"] = stepped
        works = dict.fromkeys(contenders, 1) | {f"step of {name}": STEPS for name in DT}
        times = timing.interleaved({name: repeated(f) for name, f in contenders.items()}, works, repeats)
        row = {"elements": count, "nodes": len(scene.elements), "errors": errors}
        row["ms"] = {name: 1e3 * timing.summary(each)["median"] for name, each in times.items()}
        print(row, flush=True)
        rows.append(row)
    return rows


def flexes(kt, count: int, repeats: int) -> dict:
    """Elastic forces of a solid against MuJoCo's flex of the same law, ns per element."""
    import mujoco

    from tests.deformables.test_solids import SaintVenantKirchhoff

    mesh = kt.deformables.beam_mesh((1.0, 0.4, 0.2), CELLS[count])
    points, cells = (" ".join(map(repr, x.ravel().tolist())) for x in (mesh.nodes, mesh.tetrahedra))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 0"/><worldbody>
        <flexcomp name="f" type="direct" dim="3" mass="3" radius="0.001" point="{points}" element="{cells}">
        <elasticity young="1e6" poisson="0.3"/><contact selfcollide="none"/><edge equality="false"/>
        </flexcomp></worldbody></mujoco>"""
    )
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    moved = 1e-3 * rng.standard_normal(mesh.nodes.shape)
    data.qpos[:] = moved.ravel()
    mujoco.mj_forward(model, data)
    parameters = kt.deformables.Material(1e6, 0.3).parameters(mesh.inverse_edges, mesh.volumes)
    own = kt.deformables.Elements(SaintVenantKirchhoff(), mesh.tetrahedra, parameters)
    body = kt.deformables.Deformable("flex", mesh.nodes, np.ones(len(mesh.nodes)), (own,))
    nodes = kt.deformables.Coupled(None, body).elements
    x, u = mesh.nodes + moved, np.zeros_like(moved)
    expected = data.qfrc_passive.reshape(-1, 3)
    error = float(np.abs(nodes.forces(x, u) - expected).max() / np.abs(expected).max())
    if not error < 1e-11:
        raise WrongAnswer(f"forces of a flex: {error}")
    contenders = {
        "assembled forces": repeated(lambda: nodes.forces(x, u)),
        "mj_passive": repeated(lambda: mujoco.mj_passive(model, data)),
    }
    times = timing.interleaved(contenders, count, repeats)
    row = {"elements": count, "error": error}
    row["ns per element"] = {name: 1e9 * timing.summary(each)["median"] for name, each in times.items()}
    row["mj_passive / assembled forces"] = timing.ratios(times["mj_passive"], times["assembled forces"])["median"]
    print(row, flush=True)
    return row


def main(arguments: list[str] | None = None) -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deformables", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="check the harness: few elements, nothing is written")
    chosen = parser.parse_args(arguments)

    import kinetree as kt

    if chosen.quick:
        elements(kt, 1000, 3), steps(kt, (1000,), 3), flexes(kt, 1000, 3)
        return
    found = {
        "machine": machine.machine(),
        "versions": machine.versions((*machine.PACKAGES, "mujoco", "scipy")),
        "method": {"clock": "CPU time of the process", "repeats": chosen.repeats, "steps": STEPS},
        "elements": elements(kt, 25600, chosen.repeats),
        "flexes": flexes(kt, 4800, chosen.repeats),
        "steps": steps(kt, CELLS, chosen.repeats),
    }
    print(f"wrote {store.write('deformables', found).name}")


if __name__ == "__main__":
    main()
