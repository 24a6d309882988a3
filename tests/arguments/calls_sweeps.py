"""One valid call of the public callables of sweeps."""

from __future__ import annotations

import pathlib

import kinetree as kt


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    (folder / "sweep.yaml").write_text("model: pendulum.urdf\nduration: 0.002\nsweep: {over: {q0.pivot: [0, 1]}}\n")
    kt.save(kt.models.pendulum(), folder / "pendulum.urdf")
    over = {"q0.pivot": [0.0, 0.1], "v0.pivot": kt.sweeps.uniform(0.0, 0.1)}
    options = dict(
        measure=["q_end"], store=None, design="grid", sampling="random", samples=1, seed=0, client=False, chunk=2,
        device="cpu", retries=1, overwrite=False, progress=False,
    )  # fmt: skip
    sweep = dict(model=kt.models.pendulum(), over=over, simulate={"duration": 0.002}, **options)
    return {
        "sweep": (kt.sweep, sweep),
        "sweeps.Distance": (kt.sweeps.Distance, dict(frame="bob", target=(0.0, 0.0, 0.0), over="end")),
        "sweeps.Path": (kt.sweeps.Path, dict(every=1)),
        "sweeps.Runs": (kt.sweeps.Runs, dict(duration=0.01, dt=1e-3, dtype="float64")),
        "sweeps.uniform": (kt.sweeps.uniform, dict(low=0.0, high=1.0)),
        "sweeps.log_uniform": (kt.sweeps.log_uniform, dict(low=0.5, high=1.0)),
        "sweeps.normal": (kt.sweeps.normal, dict(mean=0.0, deviation=1.0)),
        "sweeps.run_file": (
            kt.sweeps.run_file,
            dict(path=str(folder / "sweep.yaml"), client=False, device="cpu", overwrite=True, progress=False),
        ),
    }
