"""One valid call of what converts arrays between engines, which are here no more than what is looked at of them."""

from __future__ import annotations

import inspect
import pathlib
from types import SimpleNamespace

import numpy as np

from kinetree import conventions
from kinetree.conventions.coordinate_maps import same
from tests.arguments.calls import arm, whole_call

NAMES = ("shoulder", "elbow")


def pinocchio():
    """The double pendulum as Pinocchio has it; its joint 0 is the universe."""
    number = dict(nqs=[0, 1, 1], nvs=[0, 1, 1], idx_qs=[0, 0, 1], idx_vs=[0, 0, 1], nq=2, nv=2)
    return SimpleNamespace(names=["universe", *NAMES], **number)


def mujoco():
    return SimpleNamespace(
        njnt=2,
        nbody=3,
        nq=2,
        nv=2,
        jnt_type=[3, 3],
        jnt_qposadr=[0, 1],
        jnt_dofadr=[0, 1],
        jnt_bodyid=[1, 2],
        body_ipos=np.zeros((3, 3)),
        joint=lambda j: SimpleNamespace(name=NAMES[j]),
        body=lambda b: SimpleNamespace(name=("world", "upper", "lower")[b]),
    )


def drake():
    def joint(j):
        return SimpleNamespace(
            name=lambda: NAMES[j],
            type_name=lambda: "revolute",
            num_positions=lambda: 1,
            position_start=lambda: j,
            velocity_start=lambda: j,
            child_body=lambda: SimpleNamespace(index=lambda: j + 1),
        )

    return SimpleNamespace(GetJointIndices=lambda: [0, 1], get_joint=joint, num_velocities=lambda: 2)


OTHERS = {"Pinocchio": pinocchio, "MuJoCo": mujoco, "Drake": drake}
PLACES = {"shoulder": 0, "elbow": 1}


def arrays(model) -> dict:
    """One of each kind."""
    q = np.array([0.3, -0.2])
    made = dict(q=q, v=q, a=q, tau=q, M=np.eye(2), J=np.ones((6, 2)), f_ext=np.zeros((model.nb, 6)))
    pose = dict(x=np.ones(6), quaternion=np.array([1.0, 0.0, 0.0, 0.0]), R=np.eye(3), p=np.zeros(3))
    there = {f"{name}_there": made[name] for name in ("q", "v", "a", "tau", "M", "J")}
    there |= dict(pose_there=np.eye(7)[3], quaternion_there=pose["quaternion"], wrenches=made["f_ext"])
    return made | pose | there | dict(body="lower", number=2)


def table(folder: pathlib.Path) -> dict:
    """Name -> (callable, arguments by name) of a call that works; methods on the engine that differs most from here."""
    m = arm()
    given = arrays(m)
    there = conventions.Pinocchio(m, pinocchio())
    all_of_them = {name: given[name] for name in ("q", "v", "a", "tau", "M", "J", "f_ext")}
    pairs = there._slots(m, [(i, same(1), i - 1, i - 1) for i in m.outward()])
    found = {
        "conventions.Engine": (conventions.Engine, dict(model=m, pairs=pairs, bodies=[0, 1, 2], nv_there=2)),
        "conventions.Exudyn": (conventions.Exudyn, dict(model=m, places=PLACES, reference={"elbow": 0.1})),
        "conventions.Engine.to": (there.to, all_of_them),
        "conventions.Engine.back": (there.back, all_of_them),
    }
    for name, other in OTHERS.items():
        engine = getattr(conventions, name)
        found[f"conventions.{name}"] = (engine, whole_call(engine, model=m, other=other()))
    for name in ("pinocchio", "mujoco", "drake", "exudyn"):
        end = {"places": PLACES} if name == "exudyn" else {"other": globals()[name]()}
        for way in ("to", "from"):
            call = getattr(conventions, f"{way}_{name}")
            found[f"conventions.{way}_{name}"] = (call, dict(model=m, **end, **all_of_them))
    for name, method in inspect.getmembers(there, inspect.ismethod):
        key = f"conventions.Engine.{name}"
        if not name.startswith("_") and key not in found:
            found[key] = (method, {x: given[x] for x in inspect.signature(method).parameters})
    return found
