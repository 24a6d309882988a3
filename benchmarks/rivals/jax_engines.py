"""The engines on JAX: frax, MJX and adam, as batches in double precision on one core of the CPU."""

from __future__ import annotations

import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.rivals.contest import Absent, Offer, Robot, flat, repeated
from benchmarks.rivals.coordinates import Coordinates
from benchmarks.rivals.engines import mujoco_coordinates, mujoco_model

SLOW = 64  # states of a batch where one state takes near a millisecond
UNROLLED = 30  # velocities beyond which adam, whose functions are unrolled, gave no first result within ten minutes


def jax_offer(
    rival: str, quantity: str, function: Callable, arrays: list[np.ndarray], back: Callable, note: str = ""
) -> Offer:
    """A jitted function of batches on arrays that are on the device already."""
    import jax

    compiled = jax.jit(function)
    given = [jax.numpy.asarray(x) for x in arrays]
    start = time.perf_counter()
    jax.block_until_ready(compiled(*given))
    build = time.perf_counter() - start

    def result() -> np.ndarray:
        found = compiled(*given)
        return back(tuple(map(np.asarray, found)) if isinstance(found, tuple) else np.asarray(found))

    run = repeated(lambda: jax.block_until_ready(compiled(*given)))
    return Offer(rival, quantity, "batch", run, result, len(arrays[0]), build, note=note)


def in_double_precision():
    """JAX, told to compute in double precision."""
    try:
        import jax
    except ImportError as error:
        raise Absent(str(error)) from None
    jax.config.update("jax_enable_x64", True)
    return jax


def frax(robot: Robot, batch: int) -> Iterator[Offer]:
    """frax: vectorized over bodies; derivatives of fixed-base robots by forward differentiation."""
    jax = in_double_precision()
    try:
        import frax as package
    except ImportError as error:
        raise Absent(str(error)) from None
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "robot.urdf"
        file.write_text(robot.urdf)
        try:
            rival = package.Robot(str(file), floating_base="quaternion" if robot.floating else None)
        except Exception as error:
            raise Absent(f"cannot read the file: {type(error).__name__}: {str(error)[:120]}") from None
    names = [name for name in rival.joint_names if name in robot.model.joint_names]
    before = 6 if robot.floating else 0
    places = {name: (before + k + bool(before), before + k) for k, name in enumerate(names)}
    if len(names) + before != robot.model.nv:
        raise Absent(f"reads {len(names) + before} degrees of freedom, expected {robot.model.nv}")
    there, few = Coordinates(robot.model, "mixed", places), min(batch, SLOW)
    q, v, a, tau = (robot.states[name][:batch] for name in ("q", "v", "a", "tau"))
    q_there, v_there, a_there, tau_there = there.q(q), there.v(q, v), there.a(q, v, a), there.v(q, tau)
    up = jax.numpy.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])

    def rnea(x, y, z):
        return rival.rnea(x, y, z, up, None)

    def forward(x, y, z):
        return rival.forward_dynamics(x, y, z, None)

    yield jax_offer("frax", "rnea", jax.vmap(rnea), [q_there, v_there, a_there], lambda x: there.tau_back(q, x))
    yield jax_offer("frax", "crba", jax.vmap(rival.crba), [q_there], lambda x: flat(there.M_back(q, x)))
    yield jax_offer(
        "frax", "aba", jax.vmap(forward), [q_there, v_there, tau_there], lambda x: there.a_back(q, v, x), "M solved"
    )
    if not robot.floating:
        for quantity, function, third in (("rnea_derivatives", rnea, a_there), ("aba_derivatives", forward, tau_there)):
            yield jax_offer(
                "frax", quantity, jax.vmap(jax.jacfwd(function, argnums=(0, 1, 2))),
                [q_there[:few], v_there[:few], third[:few]],
                lambda x: flat(tuple(there.M_back(q[:few], part) for part in x)), "jacfwd",
            )  # fmt: skip


def mjx(robot: Robot, batch: int) -> Iterator[Offer]:
    """MuJoCo's pipeline on JAX."""
    jax = in_double_precision()
    try:
        from mujoco import mjx as package
        from mujoco.mjx._src import smooth, support
    except ImportError as error:
        raise Absent(str(error)) from None
    model = mujoco_model(robot)
    there = mujoco_coordinates(robot, model)
    try:
        on_device = package.put_model(model)
        blank = package.make_data(on_device)
    except Exception as error:
        raise Absent(f"{type(error).__name__}: {str(error)[:120]}") from None
    q, v, a, tau = (robot.states[name][:batch] for name in ("q", "v", "a", "tau"))
    q_there, v_there, a_there, tau_there = there.q(q), there.v(q, v), there.a(q, v, a), there.v(q, tau)

    def positions(x):
        return smooth.com_pos(on_device, smooth.kinematics(on_device, blank.replace(qpos=x)))

    def rnea(x, y, z):
        d = smooth.com_vel(on_device, positions(x).replace(qvel=y, qacc=z))
        return smooth.rne(on_device, d, flg_acc=True).qfrc_bias

    def mass(x):
        return support.full_m(on_device, smooth.crb(on_device, positions(x)))

    def forward(x, y, z):
        return package.forward(on_device, blank.replace(qpos=x, qvel=y, qfrc_applied=z)).qacc

    back = there.tau_back
    yield jax_offer("MJX", "rnea", jax.vmap(rnea), [q_there, v_there, a_there], lambda x: back(q, x))
    yield jax_offer("MJX", "crba", jax.vmap(mass), [q_there], lambda x: flat(there.M_back(q, x)))
    yield jax_offer("MJX", "aba", jax.vmap(forward), [q_there, v_there, tau_there], lambda x: there.a_back(q, v, x))


def adam_states(robot: Robot, names: list[str], count: int):
    """States in adam's form: base pose H, joint positions, base velocity, joint velocities; and the coordinates.

    adam always has a free base; one that is fixed here rests at the origin there.
    """
    before = 6 if robot.floating else 0
    places = {name: (k + 7 * bool(before), k + before) for k, name in enumerate(names)}
    there = Coordinates(robot.model, "body", places)
    q, v = robot.states["q"][:count], robot.states["v"][:count]
    H = np.tile(np.eye(4), (count, 1, 1))
    base_velocity = np.zeros((count, 6))
    q_there, v_there = there.q(q), there.v(q, v)
    if robot.floating:
        H[:, :3, :3], H[:, :3, 3] = there.rotation(q), q_there[:, :3]
        base_velocity = v_there[:, :6]
    return there, H, q_there[:, 7 * bool(before) :], base_velocity, v_there[:, before:]


def adam_joints(robot: Robot) -> list[str]:
    """The joints that move, by name."""
    model = robot.model
    return [model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1]


def adam(robot: Robot, batch: int) -> Iterator[Offer]:
    """adam's JAX side: it has no inverse dynamics with accelerations, and forward dynamics of free bases only."""
    in_double_precision()
    if robot.model.nv > UNROLLED:
        raise Absent("no first result within ten minutes")
    try:
        from adam.core.constants import Representations
        from adam.jax import KinDynComputations
    except ImportError as error:
        raise Absent(str(error)) from None
    names = adam_joints(robot)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "robot.urdf"
        file.write_text(robot.urdf)
        try:
            rival = KinDynComputations(str(file), names, gravity=np.array([0, 0, -9.81, 0, 0, 0.0]))
        except Exception as error:
            raise Absent(f"cannot read the file: {type(error).__name__}: {str(error)[:120]}") from None
    rival.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    there, H, s, base, rates = adam_states(robot, names, batch)
    q, v = robot.states["q"][:batch], robot.states["v"][:batch]
    skip = 0 if robot.floating else 6
    back = there.tau_back
    yield jax_offer("adam", "bias_forces", rival.bias_force, [H, s, base, rates], lambda x: back(q, x[:, skip:]))
    yield jax_offer("adam", "crba", rival.mass_matrix, [H, s], lambda x: flat(there.M_back(q, x[:, skip:, skip:])))
    if robot.floating:
        tau = there.v(q, robot.states["tau"][:batch])
        tau[:, :6] = 0.0
        offer = jax_offer(
            "adam", "aba", rival.aba, [H, s, base, rates, tau[:, 6:]], lambda x: there.a_back(q, v, x), "no base forces"
        )  # fmt: skip
        offer.reference = lambda: robot.kt.aba(robot.model, q, v, there.tau_back(q, tau))
        yield offer
