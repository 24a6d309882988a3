"""Valid calls of what writes, identifies, draws and converts, for the search of `test_wrong_arguments`."""

from __future__ import annotations

import pathlib

import kinetree as kt
from kinetree import conventions, data, identify, viz
from tests.arguments.calls import arm, whole_call


def table(folder: pathlib.Path) -> dict:
    """Name -> (callable, arguments by name) of a call that works."""
    return written(folder) | loops() | identified() | denavit_hartenberg() | drawn(folder) | converted()


def written(folder: pathlib.Path) -> dict:
    return {
        "save": (kt.save, whole_call(kt.save, model=arm(), path=str(folder / "arm.urdf"))),
        "data.path": (data.path, {"name": "arm7"}),
        "data.robots": (data.robots, {}),
        "interpreted": (kt.interpreted, {}),
    }


def loops() -> dict:
    """The book's algorithms for closed loops."""
    book = kt.textbook
    model, q, v = kt.models.random_loops(1, bodies=4, loops=1, kinds=["revolute"], family="planar")
    K, k, _ = book.loop_constraints(model, q, v)
    state = dict(model=model, q=q, v=v)
    push = state | dict(tau=v, f_ext=[[0.0] * 6] * model.nb)
    forces = {"loop1": [1.0]}
    return {
        "textbook.cluster_numbering": (book.cluster_numbering, dict(model=model)),
        "textbook.loop_clusters": (book.loop_clusters, dict(model=model)),
        "textbook.loop_bias_forces": (
            book.loop_bias_forces,
            state | dict(f_ext=push["f_ext"], loop_forces=forces),
        ),
        "textbook.loop_constraints": (
            book.loop_constraints,
            state | dict(T_stab=None, alpha=1.0, beta=2.0, root="world"),
        ),
        "textbook.loop_position_error": (
            book.loop_position_error,
            dict(kind="fixed", X=kt.spatial.Transform.identity().matrix()),
        ),
        "textbook.loop_dynamics": (book.loop_dynamics, push | dict(method="kkt", T_stab=0.1, loop_forces=forces)),
        "textbook.maximal_equation": (book.maximal_equation, push),
        "textbook.solve_constraints": (
            book.solve_constraints,
            dict(K=K, k=k, rank=None, independent=None, participating=range(model.nv)),
        ),
        "textbook.solve_by_clusters": (book.solve_by_clusters, dict(model=model, K=K, k=k)),
        "textbook.closure_dynamics": (
            book.closure_dynamics,
            dict(
                model=kt.models.double_pendulum(),
                gamma=lambda y: [y[0], -2.0 * y[0]],
                y=[0.3],
                y_dot=[1.0],
                tau=[0.0, 0.0],
                f_ext=[[0.0] * 6] * 3,
                G=lambda y: [[1.0], [-2.0]],
                g=lambda y, y_dot: [0.0, 0.0],
            ),
        ),
    }


def identified() -> dict:
    m = kt.models.pendulum()
    motion = identify.FourierTrajectory(2.0, [0.1], [[0.3]], [[0.2]])
    q, v, a = motion(motion.times(8))
    base = identify.base_parameters(m)
    fit = whole_call(identify.fit, prior=m, q=q, v=v, a=a, tau=kt.rnea(m, q, v, a), noise=0.1, progress=False)
    found = identify.fit(**fit)
    row = {"q": q, "v": v, "a": a}
    return {
        "identify.fit": (identify.fit, fit),
        "identify.FourierTrajectory": (
            identify.FourierTrajectory,
            dict(period=2.0, offset=[0.1], sines=[[0.3]], cosines=[[0.2]], condition=1.0),
        ),
        "FourierTrajectory.__call__": (motion, {"t": 0.1}),
        "FourierTrajectory.times": (motion.times, {"samples": 3}),
        "BaseParameters.values": (base.values, {"pi": kt.identify.inertial_parameters(m)}),
        "BaseParameters.regressor": (base.regressor, {"Y": kt.regressors.joint_torque(m, q, v, a)}),
        "Identification.errors": (found.errors, row | {"tau": fit["tau"]}),
    }


def denavit_hartenberg() -> dict:
    row = kt.io.DHRow(0.1, 0.0, 0.2, 0.0)
    chain = kt.io.DHTable((row, row), "modified")
    return {
        "io.DHRow": (kt.io.DHRow, whole_call(kt.io.DHRow, a=0.1, alpha=0.0, d=0.2, theta=0.0, data={})),
        "io.DHTable": (
            kt.io.DHTable,
            dict(
                rows=(row, row),
                convention="modified",
                base=chain.base,
                tool=chain.tool,
                name="x",
                gravity=(0.0, 0.0, -9.81),
            ),
        ),
        "io.DHTable.of": (kt.io.DHTable.of, dict(table=[(0.1, 0.0, 0.2, 0.0)], convention="standard")),
        "io.DHTable.pose": (chain.pose, {"q": [0.1, 0.2]}),
    }


def viewed(**given) -> str:
    """Open a viewer and close it; quietly, and without waiting for Ctrl-C."""
    with kt.view(**given, quiet=True) as viewer:
        return viewer.url


def drawn(folder: pathlib.Path) -> dict:
    m = arm()
    run = kt.simulate(m, [0.3, -0.2], [0.1, 0.2], duration=0.003, dt=1e-3)
    closed = kt.simulate(kt.models.four_bar(), duration=0.003, dt=1e-3)
    both, touched = {"run": run}, kt.simulate(kt.models.free_shape("sphere", 0.1), duration=0.003, ground=True)
    return {
        "viz.joint_kinds": (viz.joint_kinds, {}),
        "viz.animate": (viz.animate, whole_call(viz.animate, runs=run)),
        "viz.save_view": (
            viz.save_view,
            whole_call(viz.save_view, runs=[run], path=str(folder / "run.png"), size=(32, 18), renderer="matplotlib"),
        ),
        "view": (viewed, dict(model_or_run=m, q=[0.1, 0.2], role="stick", host="127.0.0.1", port=18900, play=False)),
        "viz.plot_joint": (viz.plot_joint, whole_call(viz.plot_joint, joint="revolute")),
        "viz.plot_mechanism": (viz.plot_mechanism, whole_call(viz.plot_mechanism, model=m, q=[0.1, 0.2])),
        "viz.plot_connectivity": (viz.plot_connectivity, whole_call(viz.plot_connectivity, model=m)),
        "viz.plot_sparsity": (viz.plot_sparsity, whole_call(viz.plot_sparsity, model=m)),
        "viz.plot_constraint_drift": (viz.plot_constraint_drift, whole_call(viz.plot_constraint_drift, run=closed)),
        "viz.plot_workspace": (viz.plot_workspace, whole_call(viz.plot_workspace, model=m, frame="lower", samples=9)),
        "viz.joint_gallery": (viz.joint_gallery, whole_call(viz.joint_gallery, joints={"a": m.joints[1]})),
        "viz.plot_trajectory": (viz.plot_trajectory, whole_call(viz.plot_trajectory, trajectory=run)),
        "viz.plot_phase": (viz.plot_phase, whole_call(viz.plot_phase, **both)),
        "viz.plot_contacts": (viz.plot_contacts, whole_call(viz.plot_contacts, run=touched)),
        "viz.plot_path": (viz.plot_path, whole_call(viz.plot_path, frames="lower", **both)),
        "viz.plot_power": (viz.plot_power, whole_call(viz.plot_power, **both)),
        "viz.plot_energy_balance": (viz.plot_energy_balance, whole_call(viz.plot_energy_balance, **both)),
        "scenes.run": (kt.scenes.run, dict(key="-1", formulation="velocity_euler")),
        "scenes.plot_scene": (kt.scenes.plot_scene, whole_call(kt.scenes.plot_scene, key="-1")),
        "viz.plot_comparison": (
            viz.plot_comparison,
            whole_call(viz.plot_comparison, comparison=run.compare(run)),
        ),
    }


def converted() -> dict:
    return {
        f"conventions.{call.__name__}": (call, {"quaternion": [1.0, 0.0, 0.0, 0.0]})
        for call in (conventions.quaternion_to_xyzw, conventions.quaternion_from_xyzw)
    }
