"""Options act or are refused: what each one needs to act is listed, and without that it is an error that names both.

``registry.txt`` lists the options that act in every call; those below act only together with others, or not at all
together with others. A new option has to be put in one of the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.io.sdf.read import load_sdf
from tests.options.public import of_commands, of_files, of_python

Delayed = kt.control.Delayed
REGISTRY = Path(__file__).with_name("registry.txt")


class Case(NamedTuple):
    """An option, where it acts, and where it would not."""

    who: str
    option: str
    acts: Callable  # two results that differ by the option alone
    refused: Callable
    names: str  # an expression for the message, with both options


def push(t, q, v):
    """A controller whose forces depend on time."""
    return np.array([1.0 + t, 0.0])


def run(**options):
    """The states and forces of a short run."""
    done = kt.simulate(kt.models.cart_pole(), **{"duration": 0.02, "progress": False} | options)
    return np.concatenate((done.time, done.q.ravel(), done.tau.ravel()))


def object_run(**options):
    """The same by a `Simulation`."""
    done = kt.Simulation(kt.models.cart_pole(), **options)
    done.advance(0.02)
    return np.concatenate((done.trajectory().time, done.trajectory().q.ravel(), done.trajectory().tau.ravel()))


def rope():
    """A rope that hangs from the world."""
    return kt.deformables.strand((0, 0, 0), (0, 0, -1), 2, mass=0.1, axial_stiffness=10.0, fixed=[0])


def hung(**options):
    """Positions of the rope's nodes."""
    return kt.deformables.Coupled(None, rope(), **options).simulate(0.02, 0.01).x


def pair_of_shapes(**options):
    """A candidate pair of a floor and a ball."""
    shape = kt.collision.Shape
    return kt.collision.ContactPair(
        "a", shape("world", "plane", name="p"), shape("b", "sphere", (0.1,), name="s"), **options
    )


def report(*arrays, **options):
    """The errors that `kinetree.accuracy` finds."""
    found = kt.accuracy(kt.models.cart_pole(), *arrays, **options)
    return np.array([found.states, *(error.worst for error in found.errors)])


def command(*words):
    """What a command prints, or its error."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exit_code == 2:
        raise kt.errors.KinetreeError(" ".join(result.stderr.split()))
    return result.stdout


SHAPES = """<robot name="r"><link name="a"/><link name="b"><collision><geometry><sphere radius="0.1"/></geometry>
</collision></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint>
</robot>"""
MJCF = "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>"
SDF = "<sdf version='1.9'><model name='m'><link name='a'/></model></sdf>"
START = {"q0": [0.0, 0.5]}
ADAPTIVE = START | {"integrator": "adaptive"}


def of_simulate(who: str, run: Callable) -> list[Case]:
    """The options that `simulate` and `Simulation` share."""
    return [
        Case(who, "seed", lambda: (run(seed=1), run(seed=2)), lambda: run(**START, seed=1), "seed .* q0"),
        Case(who, "integrator",
             lambda: (run(**ADAPTIVE), run(**START, integrator=kt.integrators.Adaptive("bs32", rtol=1e-3))),
             lambda: run(integrator="bs32 "), "no integrator 'bs32 '"),
        Case(who, "controller", lambda: (run(**START, controller=push), run(**START, controller=Delayed(push, 0.004))),
             lambda: run(**START, controller=Delayed(push, 0.0015)), "delay = 0.0015 s is no multiple of dt = 0.001 s"),
        Case(who, "inputs", lambda: (run(), run(inputs=kt.Inputs(tau=[1.0, 0.0]))),
             lambda: run(controller=push, inputs=kt.Inputs(tau=[1.0, 0.0])), "both controller and inputs.tau"),
    ]  # fmt: skip


CASES = [
    Case("kt.Record", "period", lambda: (run(), run(record=kt.Record(period=0.002))),
         lambda: kt.Record(every=2, period=0.002), "every and period"),
    Case("kt.Record", "every", lambda: (run(), run(record=kt.Record(every=2))),
         lambda: kt.Record(every=2, period=0.002), "every and period"),
    *of_simulate("kt.simulate", run),
    *of_simulate("kt.Simulation", object_run),
    Case("kt.deformables.Coupled", "gravity", lambda: (hung(), hung(gravity=(0.0, 0.0, -1.0))),
         lambda: kt.deformables.Coupled(kt.models.pendulum(), rope(), gravity=(0, 0, 0)), "gravity is that of"),
    Case("kt.accuracy", "states", lambda: (report(states=2), report(states=3)),
         lambda: report([0.0, 0.5], states=3), "q determines .* leave states out"),
    Case("kt.accuracy", "seed", lambda: (report(states=2, seed=1), report(states=2, seed=2)),
         lambda: report([0.0, 0.5], [0, 0], [1, 1], seed=1), "q, v and a are given.* leave seed out"),
    Case("kt.Trajectory.save", "energy_balance", lambda: ("test_trajectory_files.py", "compares them"),
         lambda: kt.simulate(kt.models.cart_pole(), duration=0.01).save("x.csv", energy_balance=True),
         "csv: .* no energy balance"),
    Case("kt.Trajectory.resample", "dt", lambda: ("test_trajectory_times.py", "compares them"),
         lambda: kt.simulate(kt.models.cart_pole(), duration=0.01).resample(0.1, [0.0]), "either dt= or times="),
    Case("kt.Trajectory.resample", "times", lambda: ("test_trajectory_times.py", "compares them"),
         lambda: kt.simulate(kt.models.cart_pole(), duration=0.01).resample(0.1, [0.0]), "either dt= or times="),
    Case("kt.rollout", "t0", lambda: ("test_rollout.py", "compares them"),
         lambda: kt.rollout(kt.models.cart_pole(), [0.0, 0.5], None, np.zeros((4, 2)), 0.01, t0=1.0),
         "does not depend on time, so it takes no t0"),
    Case("load_urdf", "density", lambda: tuple(kt.load(SHAPES, inertia_from="collision", density=x).total_mass
         for x in (1.0, 2.0)), lambda: kt.load(SHAPES, density=2.0), "density .* inertia_from"),
    Case("load_urdf", "base_joint", lambda: tuple(kt.load(SHAPES, inertia_from="collision", floating_base=True,
         base_joint=x).joint_names for x in ("x", "y")), lambda: kt.load(SHAPES, base_joint="x"),
         "base_joint='x' .* floating_base=True"),
    Case("load_mjcf", "base_joint", lambda: ("test_mjcf_structure.py", "compares them"),
         lambda: kt.load(MJCF, base_joint="x"), "base_joint='x' .* floating_base is None"),
    Case("load_sdf", "base_joint", lambda: ("test_invented_names.py", "compares them"),
         lambda: load_sdf(SDF, base_joint="x", floating_base=False), "base_joint='x' .* floating_base is False"),
    *(
        Case("kt.viz.save_view", option, lambda: ("test_pictures.py", "compares them"),
             lambda o=option, x=value, s=suffix: kt.viz.save_view(kt.models.cart_pole(), f"x{s}", **{o: x}),
             f"{option} is an option of {others}")
        for option, value, suffix, others in (
            ("fps", 5.0, ".png", ".html, .glb, .rrd, .gif, .mp4"), ("size", (9, 9), ".html", ".png, .gif, .mp4"),
            ("time", 0.0, ".gif", ".png"), ("speed", 2.0, ".html", ".gif, .mp4"),
            ("renderer", "auto", ".html", ".png, .gif, .mp4"), ("zoom", 2.0, ".glb", ".html, .png, .gif, .mp4"),
            ("camera", (1, 1, 0), ".glb", ".html, .png"), ("overlays", "frames", ".glb", ".html, .png"),
        )
    ),
    Case("kt.viz.save_view", "q", lambda: ("test_pictures.py", "compares them"),
         lambda: kt.viz.save_view(kt.simulate(kt.models.cart_pole(), duration=0.01), "x.png", q=[0, 0]), "q is"),
    Case("kt.deformables.CoupledRun.save", "view", lambda: ("test_overlays_of_pages.py", "opens the page"),
         lambda: kt.deformables.Coupled(None, rope()).simulate(0.02, 0.01).save("x.npz", fps=5), "'fps': it belongs"),
    Case("kt.Trajectory.save", "view", lambda: ("test_pictures.py", "compares them"),
         lambda: kt.simulate(kt.models.cart_pole(), duration=0.01).save("x.npz", fps=5), "'fps': .* pictures"),
    *(
        Case("kinetree simulate", f"--{name}", lambda: ("kt.simulate", "has the cases"),
             lambda n=name, x=value: command("simulate", "cart_pole", f"--{n}", x), f"{name} = .* integrator is 'auto'")
        for name, value in (("rtol", "1e-3"), ("atol", "1e-3"), ("method", "bs32"))
    ),
    Case("kinetree simulate", "--friction", lambda: ("Ground(friction=...)", "tests/contact"),
         lambda: command("simulate", "quadruped", "--friction", "0.5"), "--friction .* --ground"),
    Case("kinetree simulate", "--seed", lambda: ("kt.simulate", "has the case"),
         lambda: command("simulate", "cart_pole", "--q0", "0 0", "--seed", 1), "--seed .* --q0"),
    *(
        Case("kt.sweep", name, lambda: ("tests/sweeps", "compares them"),
             lambda o=options: kt.sweep(kt.models.cart_pole(), {"q0.hinge": [0.1]}, {"duration": 0.01}, **o), message)
        for name, options, message in (
            ("samples", {"samples": 3}, "samples .* over has lists only"),
            ("sampling", {"sampling": "sobol"}, "sampling='sobol' .* over has none"),
            ("workers", {"workers": 2, "client": "tcp://localhost:1"}, "workers = 2 .* client"),
        )
    ),
    *(
        Case(f"kt.collision.{name}", option, lambda: ("test_hunt_crossley.py", "compares them"),
             lambda o=option, x=value, m=make: m(**{o: x}), f"{option} is {value}, expected .* law='hunt_crossley'")
        for name, make in (("Ground", kt.collision.Ground), ("Material", kt.collision.Material),
                           ("ContactPair", pair_of_shapes))
        for option, value in (("dissipation", 0.3), ("exponent", 2.0))
    ),
    Case("kinetree view", "--robot", lambda: ("tests/cli", "shows a run"),
         lambda: command("view", "cart_pole", "--robot", "arm7"), "--robot .* leave it out"),
    Case("kinetree accuracy", "--states",
         lambda: tuple(command("accuracy", "cart_pole", "--states", x) for x in (1, 2)),
         lambda: command("accuracy", "cart_pole", "--q", "0 1", "--states", 2), "q determines .* leave states out"),
    Case("kinetree compare", "--floating-base", lambda: ("with --robot", "it is that of info"),
         lambda: command("compare", "a.npz", "b.npz", "--floating-base"), "--floating-base .* --robot"),
    *(
        Case(f"kinetree {name}", "--density", lambda: ("load_urdf", "has the case"),
             lambda n=name, w=words: command(n, "cart_pole", *w, "--density", 5), "--density .* --inertia-from")
        for name, words in (("info", ()), ("simulate", ()), ("bench", ()), ("accuracy", ()), ("mobility", ()),
                            ("verify", ()), ("convert", ("x.urdf",)), ("codegen", ("-f", "crba", "-o", "x")))
    ),
    *(
        Case("kinetree codegen", option, lambda: ("test_c_source.py", "compares them"),
             lambda o=option, x=value: command("codegen", "cart_pole", "-f", "crba", "-o", "x", o, x), message)
        for option, value, message in (
            ("--frame", "pole", "--frame pole: none of crba"), ("--kind", "spatial", "--kind spatial: none of crba"),
            ("--reference", "local", "--reference local: none of crba"), ("--optional", "f_ext", "'f_ext' in crba"),
        )
    ),
]  # fmt: skip


def always() -> set[tuple[str, str]]:
    """What `registry.txt` lists: an option, and who has it."""
    lines = (line.split(": ") for line in REGISTRY.read_text(encoding="utf-8").splitlines())
    return {(who, option) for option, all_of_them in lines for who in all_of_them.split(", ")}


def test_every_option_is_listed_once():
    """Options that are new stand in neither list; those that are gone have to leave them."""
    found, listed, cases = of_python() | of_files() | of_commands(), always(), {(x.who, x.option) for x in CASES}
    new, gone = sorted(found - listed - cases), sorted((listed | cases) - found)
    assert not new, "list them in registry.txt, or with what they need among the cases"
    assert not gone and not listed & cases


@pytest.mark.parametrize("case", CASES, ids=lambda x: f"{x.who}-{x.option}")
def test_options_act_or_are_refused(case, tmp_path, monkeypatch):
    """Where it acts, results differ; where it would not, the error names it and what it needs or is against."""
    monkeypatch.chdir(tmp_path)
    without, with_it = case.acts()
    assert np.shape(without) != np.shape(with_it) or np.any(without != with_it)
    with pytest.raises(kt.errors.KinetreeError) as caught:
        case.refused()
    assert re.search(case.names, str(caught.value)), str(caught.value)
