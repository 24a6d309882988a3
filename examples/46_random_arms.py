"""How robust are two controllers of an arm whose masses, damping and friction they do not know?

You learn domain randomization by `kt.sweep`: distributions over numbers of the model, controllers that compute with the
drawings while the arms differ, measures of your own. PD control with gravity is passive: each arm comes to rest.
Computed torque is nearer, but cancels damping and friction of the drawings: arms that have less of them swing.

    python examples/46_random_arms.py --plot random_arms.png --samples 100000

Output::

    PD control: 0 of 500 arms move after 3 s; the others miss by ... mm (median), ... mm (99 %)
    computed torque: ... of 500 arms move after 3 s; the others miss by ... mm (median), ... mm (99 %)
    with less than half of the friction in the wrist ... % move, with all of it ... %
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ARM = kt.surgery.lock(kt.load("arm7"), ["left_finger_slide", "right_finger_slide"])
START, GOAL = np.array([0.7, 0.5, 0.0, 1.2, 0.0, 1.2, 0.0]), np.array([-0.6, 0.8, 0.2, 0.9, 0.0, 0.9, 0.3])
STIFF = 144.0 * np.diagonal(kt.crba(ARM, GOAL))  # 12 rad/s in each joint [N m/rad]
PD = kt.control.PDGravityCompensation(ARM, GOAL, kp=STIFF, kd=STIFF / 6.0)
CONTROLLERS = {"PD control": PD, "computed torque": kt.control.ComputedTorque(ARM, GOAL, kp=144.0, kd=24.0)}


def spread():  # masses with their inertias 15 % off, half to twice the damping, no friction to twice as much
    over = {f"{body}.density": kt.sweeps.normal(1.0, 0.15) for body in ARM.body_names[1:]}
    for joint, damping, friction in zip(ARM.joint_names, ARM.damping, ARM.dry_friction, strict=True):
        over[f"{joint}.damping"] = kt.sweeps.log_uniform(0.5 * damping, 2.0 * damping)
        over[f"{joint}.dry_friction"] = kt.sweeps.uniform(0.0, 2.0 * friction)
    return over


def held(batch):  # forces at the end that neither gravity nor the controller explains [N m]
    return (batch.tau[:, -1:] - batch.evaluate("gravity_forces", batch.q[:, -1:]))[:, 0]


def swept(name: str, samples: int):
    simulate = {"duration": 3.0, "dt": 2e-3, "q0": START, "controller": CONTROLLERS[name]}
    options = {"measure": {"q": "q_end", "v": "v_end", "held": held}, "samples": samples, "seed": 1}
    data = kt.sweep(ARM, spread(), simulate=simulate, **options).data.load()
    ends, goal = (kt.pose(ARM, q, frame="flange_link").p_WF for q in (data["q"].values, GOAL))
    miss, moves = 1e3 * np.linalg.norm(ends - goal, axis=1), np.abs(data["v"].values).max(axis=1) > 0.1
    return miss, moves, data["held"].values, np.stack([data[f"{j}.dry_friction"] for j in ARM.joint_names], axis=1)


def main(plot: str | None = None, samples: int = 500) -> None:
    found = {name: swept(name, samples) for name in CONTROLLERS}
    for name, (miss, moves, *_) in found.items():
        off = "{:.0f} mm (median), {:.0f} mm (99 %)".format(*np.quantile(miss[~moves], (0.5, 0.99)))
        print(f"{name}: {moves.sum()} of {samples} arms move after 3 s; the others miss by {off}")
    _, moves, _, friction = found["computed torque"]
    wrist = (friction / ARM.dry_friction)[:, 4:].min(axis=1)
    part = [100 * moves[which].mean() for which in (wrist < 0.5, wrist > 1.0)]
    print("with less than half of the friction in the wrist {:.0f} % move, with all of it {:.0f} %".format(*part))
    if plot:
        plt.style.use(kt.viz.STYLE)
        fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
        left.hist([miss[~moves] for miss, moves, *_ in found.values()], bins=30, label=list(found))
        left.set(xlabel="miss of the hand [mm]", ylabel="arms at rest")
        right.hist([wrist[~moves], wrist[moves]], bins=20, stacked=True, label=("rest", "move"))
        right.set(xlabel="least friction in the wrist, of the drawings", ylabel="arms under computed torque")
        left.legend(), right.legend()
        fig.savefig(plot)


def check() -> None:  # all come to rest, where friction holds what the controller does not
    _, moves, force, friction = swept("PD control", 200)
    assert not moves.any() and (np.abs(force) < friction + 0.01).all()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    parser.add_argument("--samples", type=int, default=500)
    main(**vars(parser.parse_args()))
