"""One valid call of public callables, and what each says when an argument is of a wrong kind.

A call with a wrong argument either works, or raises one of kinetree's errors, or a plain one raised by kinetree whose
message names the argument or the function: never an error from inside NumPy, SciPy or the standard library.
"""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import signal
import traceback
import warnings

import numpy as np

import kinetree as kt
from kinetree import data, identify, surgery
from kinetree.algorithms import ALGORITHMS
from kinetree.algorithms.index import MODULES
from kinetree.compiler.calls import public_call
from kinetree.errors import KinetreeError
from kinetree.public import place

SOURCES = str(pathlib.Path(kt.__file__).parent)
ALARM = 20.0  # s that a call may take before it counts as one that never ends


class Strange:
    """A class that kinetree has never seen."""

    def __repr__(self) -> str:
        return "Strange()"


WRONG = {
    "text": "a",
    "none": None,
    "object": Strange(),
    "list": [],
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus one": -1,
    "zero": 0,
    "a half": 0.5,
    "complex": 1j,
    "truth": True,
    "huge": 2**70,
    "bytes": b"a",
    "dict": {"a": 1},
    "class": Strange,
    "shape": np.zeros((2, 3, 5)),
    "objects": np.array([None, "a"], object),
    "NaN array": np.full(2, np.nan),
    "other robot": kt.models.pendulum(),
}


def arm():
    return kt.models.double_pendulum()


def simulation_file(folder: pathlib.Path) -> str:
    """A short simulation as a file."""
    path = folder / "short.yaml"
    path.write_text("model: double_pendulum\nduration: 0.002\n")
    return str(path)


def table(folder: pathlib.Path) -> dict:
    """Name -> (callable, arguments by name) of a call that works; None where a callable needs no call here."""
    m, q, v = arm(), np.array([0.3, -0.2]), np.array([0.1, 0.2])
    six = kt.load("arm7")
    quadruped, pi = kt.load("quadruped", floating_base=True), kt.identify.inertial_parameters(kt.load("arm7"))[..., :10]
    run = kt.simulate(m, q, v, duration=0.01, dt=1e-3)
    saved = str(run.save(folder / "run.npz"))
    found = {
        "simulate": (
            kt.simulate,
            whole_call(kt.simulate, model=m, q0=q, v0=v, duration=0.003, dt=1e-3, integrator="rk4", progress=False),
        ),
        "Simulation": (kt.Simulation, whole_call(kt.Simulation, model=m, q0=q, v0=v, dt=1e-3, integrator="rk4")),
        "rollout": (
            kt.rollout,
            dict(
                model=m,
                q0=q,
                v0=v,
                tau=np.zeros((3, 2)),
                dt=1e-3,
                steps=None,
                integrator="rk4",
                f_ext=None,
                record=None,
                t0=None,
                checks=True,
                threads=1,
                out=None,
                dtype=None,
            ),
        ),
        "rollout_gradient": (
            kt.rollout_gradient,
            whole_call(
                kt.rollout_gradient, model=m, q0=q, v0=v, tau=np.zeros((3, 2)), dt=1e-3, integrator="rk4", threads=1
            ),
        ),
        "simulation.DifferentiableRollout": (
            kt.simulation.DifferentiableRollout,
            whole_call(kt.simulation.DifferentiableRollout, model=m, integrator="rk4", threads=1),
        ),
        "check_gradient": (
            kt.check_gradient,
            whole_call(kt.check_gradient, function=lambda x: (x * x).sum(axis=-1), x=q, gradient=2.0 * np.asarray(q)),
        ),
        "simulation.run_file": (kt.simulation.run_file, dict(path=simulation_file(folder), write=False)),
        "simulation.LimitMonitor": (kt.simulation.LimitMonitor, dict(model=m)),
        "simulation.Rollout": (
            kt.simulation.Rollout,
            dict(model=m, integrator="rk4", checks=True, threads=1),
        ),
        "compile": (kt.compile, dict(model=m, name="crba", optional=(), checks=True, threads=1)),
        "differentiate": (
            kt.differentiate,
            dict(
                model=m,
                name="rnea",
                wrt=("q",),
                of=None,
                mode="jacobian",
                optional=(),
                numbers=("*",),
                tangent=True,
                method="auto",
                checks=True,
                threads=None,
            ),
        ),
        "dynamics.factorize": (kt.dynamics.factorize, dict(model=m, q=q, diagonal=None, body_terms=None)),
        "verify": (
            kt.verify,
            dict(model=kt.models.pendulum(), states=1, seed=0, fast=True, modified=False, progress=None),
        ),
        "accuracy": (kt.accuracy, dict(model=kt.models.pendulum(), q=None, v=None, a=None, states=1, seed=0, t=0.0)),
        "assemble": (kt.assemble, dict(model=kt.models.four_bar(), q_guess=np.ones(3), fixed="crank", v=np.zeros(3))),
        "dynamics.articulated_inverse_inertia": (
            kt.dynamics.articulated_inverse_inertia,
            dict(model=m, q=q, handles=["lower"]),
        ),
        "dynamics.articulated_inertia": (
            kt.dynamics.articulated_inertia,
            dict(
                model=quadruped,
                q=quadruped.neutral(),
                v=None,
                tau=None,
                f_ext=None,
                handles=[quadruped.body_names[1]],
                bodies=None,
                method="projection",
            ),
        ),
        "dynamics.assembly_tree": (kt.dynamics.assembly_tree, dict(model=m)),
        "load": (kt.load, dict(source="arm7", isolate=False, name="x", floating_base=False, merge_fixed=True)),
        "lint": (kt.lint, dict(source=str(data.path("arm7")), package_dirs=(), meshes=False, isolate=False)),
        "io.to_urdf": (kt.io.to_urdf, dict(model=m)),
        "io.to_mjcf": (kt.io.to_mjcf, dict(model=m)),
        "io.to_mujoco": (kt.io.to_mujoco, dict(model=m)),
        "io.to_pinocchio": (kt.io.to_pinocchio, dict(model=m)),
        "io.to_dh": (kt.io.to_dh, dict(model=six, convention="modified", tip="tool", positive_a=False)),
        "dh": (
            kt.dh,
            dict(
                table=[{"a": 0.1, "alpha": 0.0, "d": 0.2, "theta": 0.0, "mass": 1.0, "inertia": (1.0, 1.0, 1.0)}],
                convention="standard",
                name="x",
                base=None,
                tool=None,
                gravity=None,
            ),
        ),
        "export.to_c": (
            kt.export.to_c,
            dict(function=kt.compile(m, "crba"), name="f", dtype="float64", parameters="baked", sincos="own"),
        ),
        "export.to_cuda": (kt.export.to_cuda, dict(function=kt.compile(m, "crba"), checks=None)),
        "export.cuda_source": (kt.export.cuda_source, dict(function=kt.compile(m, "crba"), dtype="float32")),
        "compiler.packed": (kt.compiler.packed, dict(function=kt.compile(m, "crba"))),
        "identify.inertial_parameters": (kt.identify.inertial_parameters, dict(model=m)),
        "identify.with_inertial_parameters": (
            kt.identify.with_inertial_parameters,
            dict(model=m, pi=kt.identify.inertial_parameters(m), accept_impossible=False),
        ),
        "Event": (kt.Event, dict(function=lambda t, q, v: 1.0, direction=0, terminal=False, action=None, name="e")),
        "ModelBuilder": (kt.ModelBuilder, dict(name="x", gravity=(0.0, 0.0, -9.81), accept_impossible_inertia=False)),
        "Inputs": (kt.Inputs, dict(tau=None, f_ext=None, disturbance=None, control=None)),
        "Record": (kt.Record, dict(every=1, period=None)),
        "Checkpoint": (kt.Checkpoint, dict(path=str(folder / "run.ckpt"), every=1.0)),
        "integrators.Adaptive": (
            kt.integrators.Adaptive,
            dict(method="dp54", rtol=1e-6, atol=1e-6, max_step=0.1),
        ),
        "integrators.Baumgarte": (kt.integrators.Baumgarte, dict(T_stab=0.1)),
        "integrators.GeneralizedAlpha": (kt.integrators.GeneralizedAlpha, dict(rho=0.5)),
        "integrators.BDF": (kt.integrators.BDF, dict(order=1, solver="direct")),
        "integrators.LinearlyImplicit": (
            kt.integrators.LinearlyImplicit,
            dict(forces="passive", slopes="gauss_newton", solver="direct"),
        ),
        "surgery.submodel": (surgery.submodel, dict(model=m, root="lower", joint=None, q=None, tips=())),
        "surgery.prune": (surgery.prune, dict(model=m, bodies=["lower"])),
        "surgery.lock": (surgery.lock, dict(model=m, joints=["elbow"])),
        "surgery.rename": (
            surgery.rename,
            dict(model=m, bodies=None, joints=None, frames=None, equipment=None, prefix="a_", suffix=""),
        ),
        "surgery.merge_fixed": (surgery.merge_fixed, dict(model=m)),
        "surgery.reroot": (
            surgery.reroot,
            dict(model=quadruped, body=quadruped.body_names[3], joint=None, name=None, base=None, placement=None),
        ),
        "surgery.with_base": (
            surgery.with_base,
            dict(model=kt.load("quadruped"), joint="floating", name="root", base=None, placement=None),
        ),
        "surgery.add_payload": (
            surgery.add_payload,
            dict(model=m, at="lower", mass=1.0, com=(0.0, 0.0, 0.0), inertia=None),
        ),
        "surgery.StateMap": (surgery.StateMap, dict(source=m, target=m, rest=None)),
        "surgery.attach": (
            surgery.attach,
            dict(
                model=m,
                other=kt.models.pendulum(),
                at="lower",
                placement=None,
                on=None,
                joint=None,
                joint_name=None,
                prefix="",
                free_base="replace",
            ),
        ),
        "surgery.augmented_bodies": (surgery.augmented_bodies, dict(model=m, floating=None)),
        "surgery.base_parameter_count": (surgery.base_parameter_count, dict(model=m)),
        "surgery.expand_gears": (surgery.expand_gears, dict(model=m)),
        "surgery.simplify_inertias": (surgery.simplify_inertias, dict(model=m, form="inertia")),
        "surgery.retree": (
            surgery.retree,
            dict(model=m, chords=(), keep=(), order="breadth_first", tree=None, unsupported="raise"),
        ),
        "identify.base_parameters": (
            identify.base_parameters,
            dict(model=m, q=None, v=None, a=None, seed=0, tolerance=1e-9),
        ),
        "identify.log_cholesky": (identify.log_cholesky, dict(pi=pi)),
        "identify.from_log_cholesky": (identify.from_log_cholesky, dict(theta=identify.log_cholesky(pi))),
        "identify.pseudo_inertia": (identify.pseudo_inertia, dict(pi=pi)),
        "identify.from_pseudo_inertia": (identify.from_pseudo_inertia, dict(J=identify.pseudo_inertia(pi))),
        "identify.impossible_bodies": (identify.impossible_bodies, dict(model=m)),
        "identify.exciting_trajectory": (
            identify.exciting_trajectory,
            dict(
                model=kt.models.pendulum(),
                period=2.0,
                harmonics=1,
                samples=5,
                tries=1,
                seed=0,
                margin=0.9,
                speed=2.0,
                reach=3.0,
                base=None,
                progress=False,
            ),
        ),
        "Trajectory.load": (kt.Trajectory.load, dict(path=saved, model=None)),
        "Trajectory.resample": (run.resample, dict(times=[0.0, 0.001])),
        "Trajectory.between": (run.between, dict(start=0.0, end=0.005)),
        "Trajectory.state": (run.state, dict(t=0.002)),
        "Trajectory.frame": (run.frame, dict(name="lower")),
        "Model.replace": (m.replace, dict(gravity=(0.0, 0.0, -1.0))),
        "Model.frame": (m.frame, dict(name="lower")),
        "Model.body": (m.body, dict(name="lower")),
        "Model.joint": (m.joint, dict(name="elbow")),
        "Model.joint_name": (m.joint_name, dict(i=1)),
        "Model.random_q": (m.random_q, dict(rng=np.random.default_rng(0))),
        "Simulation.advance": (kt.Simulation(m, q, v).advance, dict(duration=0.002)),
    }
    for name in kt.models.__all__:
        call = getattr(kt.models, name)
        found[f"models.{name}"] = (
            call,
            {
                p.name: (3 if p.name in ("n", "depth") else p.default)
                for p in inspect.signature(call).parameters.values()
                if p.kind is not p.VAR_KEYWORD
            },
        )
    for name in ALGORITHMS:
        if name in MODULES:
            space, short = place(name)
            found[f"{space}.{short}".removeprefix("kinetree.")] = (public_call(name), algorithm_call(name))
    return found


def whole_call(call, **given) -> dict:
    """These arguments, and the defaults of all others."""
    found = inspect.signature(call).parameters.values()
    return given | {p.name: p.default for p in found if p.name not in given and p.kind is not p.VAR_KEYWORD}


def algorithm_call(name) -> dict:
    spec, m, q = ALGORITHMS[name], kt.models.chain_gu(2), np.array([0.3, -0.2])
    given = {"model": m}
    for x in spec.inputs:
        shape = spec.shape(x, m)
        given[x] = q if x.startswith("q") else kt.crba(m, q) if x == "M" else np.full(shape, 0.1)
    choices = {
        "frame": m.body_names[2],
        "reference": "local",
        "axes": "local",
        "kind": "spatial",
        "forward": [m.joint_names[1]],
        "bodies": None,
    }
    given |= {x: choices[x] for x in spec.static if x in choices}
    return given


class TooLong(BaseException):
    pass


def _alarm(*_):
    raise TooLong


def outcome(call, given: dict) -> str:
    """Empty if the call works as it is; else what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(**given)
    except Exception as error:
        return repr(error)
    return ""


def verdict(call, given: dict, argument: str, value) -> str:
    """Empty if the call works, or raises what says which argument is wrong; else what is wrong with the error."""
    arguments = dict(given)
    arguments[argument] = value
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, ALARM)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call(**arguments)
    except KinetreeError as error:
        return "" if str(error) else "no message"
    except TooLong:
        return "never ends"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        here = last.filename.startswith(SOURCES)
        if isinstance(error, OSError) and str(value) in str(error):
            return ""
        named = re.search(rf"\b{argument}s?\b", str(error)) or getattr(call, "__name__", "?") in str(error)
        if here and named and isinstance(error, (TypeError, ValueError, KeyError, NotImplementedError)):
            return ""
        where = f"{os.path.relpath(last.filename, SOURCES)}:{last.lineno}"
        return f"{type(error).__name__}: {str(error)[:90]!r} from {where}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return ""
