"""Drop a quadruped on the ground, and read the forces on its feet.

You learn to simulate contact by one argument, to hold a posture by springs and dampers of the joints, which stay stable
at any stiffness, and to read contact forces, touches and energy.

    python examples/37_quadruped_on_the_ground.py --plot quadruped.png

Output::

    76 candidate points; the first touch is that of ground/..., at 0.1... s
    at the end ... points carry 127.7 N, the weight is 127.7 N
    impacts take ... J, friction ... J, the dampers ... J
    it stands still: 0.0... mm in the last half second
"""

import argparse

import numpy as np

import kinetree as kt

POSTURE = {"hip": 0.0, "thigh": 0.7, "knee": -1.4}
HEIGHT = 0.1  # of the lowest foot at the start [m]


def robot():
    """The quadruped with joints that hold a posture, and that posture."""
    model = kt.load("quadruped", floating_base=True)
    q = model.neutral()
    hinges = [model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1]
    for name in hinges:
        q[model.q_index(name).start] = next(angle for part, angle in POSTURE.items() if part in name)
    springs = {name: float(q[model.q_index(name).start]) for name in hinges}
    return model.replace(stiffness=dict.fromkeys(hinges, 120.0), damping=dict.fromkeys(hinges, 3.0),
                         spring_reference=springs), q  # fmt: skip


def drop(duration: float = 1.5):
    """The run of a drop."""
    model, q = robot()
    q[2] -= kt.collision.contact_gaps(model.with_contacts(ground=True), q).min() - HEIGHT
    return kt.simulate(model, q, duration=duration, ground=kt.collision.Ground(friction=0.7))


def main(plot: str | None = None) -> None:
    run = drop()
    contacts, balance = run.contacts, run.energy_balance
    first = contacts.touches[0]
    print(f"{len(contacts)} candidate points; the first touch is that of {first.label}, at {first.begin:.3f} s")
    force, weight = contacts.normal_forces[-1], 9.81 * run.model.total_mass
    print(f"at the end {np.sum(force > 0)} points carry {force.sum():.1f} N, the weight is {weight:.1f} N")
    work = [-balance.work(name) for name in ("contact", "contact friction", "damping")]
    print("impacts take {:.2f} J, friction {:.2f} J, the dampers {:.2f} J".format(*work))
    moved = np.abs(run.q[-1] - run.q[-500]).max()
    print(f"it stands still: {1e3 * moved:.3f} mm in the last half second")
    if plot:
        run.plot_contacts(path=plot)


def check() -> None:
    run = drop()
    balance = run.energy_balance
    assert abs(run.contacts.on("world")[-1][2] + 9.81 * run.model.total_mass) < 1e-3 * run.model.total_mass
    assert balance.work("contact") < 0 and abs(balance.remainder[-1]) < 0.05 * balance.scale
    assert run.contacts.gaps[-1].min() > -1e-6


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
