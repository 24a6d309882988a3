"""A hundred thousand states at once: how large a payload can the arm hold, and where?

You learn that every call takes batches, (..., nq) arrays, and what that is worth. For random postures of the arm the
solution is exact: the weight of the arm takes a part of each motor's torque, a payload at the tool takes
more in proportion to its mass, and the first motor at its limit decides.

    python examples/09_batch_of_states.py --plot payload.png

Output::

    100000 postures: weight, Jacobian, pose in ... ms (... ns each)
    median payload ... kg; stretched out level, ... m away, it is ... kg
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ARM = kt.load("arm7")
MOTORS = slice(0, 7)  # without the fingers
LIMIT = ARM.effort_limit[MOTORS]


def payload(q):
    """Largest mass that the arm can hold at the tool [kg] and the tool's position [m], for a batch of postures."""
    own = kt.gravity_forces(ARM, q)[..., MOTORS]
    lift = kt.jacobian(ARM, q, frame="tool", reference="local_world_aligned")[..., 5, MOTORS]  # dz / dq
    position = kt.pose(ARM, q, frame="tool").p_WF
    per_kg = 9.81 * lift  # torque that holds one kilogram [N m / kg]
    most = (LIMIT - np.sign(per_kg) * own) / np.maximum(np.abs(per_kg), 1e-9)  # per motor
    return np.clip(most.min(axis=-1), 0.0, None), position


def postures(count: int, seed: int = 0) -> np.ndarray:
    """Uniform within the joint limits, the gripper closed."""
    rng = np.random.default_rng(seed)
    return rng.uniform(ARM.lower, ARM.upper, (count, ARM.nq)) * (np.arange(ARM.nq) < 7)


def main(plot: str | None = None, count: int = 100_000) -> None:
    payload(postures(2))  # compile
    Q = postures(count)
    start = time.perf_counter()
    mass, p = payload(Q)
    seconds = time.perf_counter() - start
    print(f"{count} postures: weight, Jacobian, pose in {1e3 * seconds:.0f} ms ({1e9 * seconds / count:.0f} ns each)")
    q = np.pi / 2 * (np.arange(ARM.nq) == 1)  # the upright arm bends forward at its second joint
    m, far = payload(q)
    print(f"median payload {np.median(mass):.1f} kg; stretched out level, {far[0]:.2f} m away, it is {m:.2f} kg")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(figsize=(5.5, 6), layout="constrained")
        away = np.hypot(p[:, 0], p[:, 1])
        bins = axes.hexbin(away, p[:, 2], mass, gridsize=50, vmax=40.0, reduce_C_function=np.median)
        axes.set(xlabel="distance from the axis [m]", ylabel="height [m]", title="What arm7 can hold", aspect="equal")
        figure.colorbar(bins, label="median payload [kg]", shrink=0.8, extend="max")
        figure.savefig(plot)


def check() -> None:
    """With the largest payload on the tool one motor is at its limit and none is beyond: `rnea` gives the same."""
    q, rest = postures(200, seed=1), np.zeros((200, ARM.nv))
    mass, p = payload(q)
    keep = mass > 0.0
    weight = mass[:, None] * np.array(ARM.gravity)
    wrench = np.concatenate([np.cross(p, weight), weight], axis=1)
    tau = kt.rnea(ARM, q, rest, rest, f_ext={"flange_link": wrench})[keep, MOTORS]
    assert keep.sum() > 100 and np.allclose(np.abs(tau / LIMIT).max(axis=1), 1.0, atol=1e-9)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
