"""Put an arm on a walking robot, give it a load, and hold it by its hand: models out of models.

You learn the operations of `kinetree.surgery`: `attach`, `lock`, `add_payload`, `reroot` and `submodel`. Each takes
frozen models and returns a new one; names of frames stay, so results can be compared.

Output::

    <Model 'quadruped': 22 moving bodies, nq=28, nv=27>
    locked: arm_left_finger_slide, and with it arm_right_finger_slide
    2.5 kg at the tool move the center of mass by ... mm
    rooted at arm_flange_link: root_joint, arm_wrist_roll, arm_wrist_pitch, ...
    the same fall, seen from two roots: tools agree within ... m
    the arm alone: ('world', 'arm_shoulder_link', 'arm_upper_arm_link', ...)
"""

import numpy as np

import kinetree as kt
from kinetree import surgery

DURATION = 0.3  # [s]


def walking_arm():
    """A quadruped with an arm on its trunk, the fingers of which are locked."""
    dog, arm = kt.load("quadruped", floating_base=True), kt.load("arm7")
    both = surgery.attach(dog, arm, at="trunk", placement=((0.1, 0.0, 0.1), (0.0, 0.0, 0.0)), prefix="arm_")
    return both, surgery.lock(both, {"arm_left_finger_slide": 0.01})  # the other finger follows it


def two_roots():
    """The robot with a load, and the same with its hand as the root; dry friction is left out."""
    robot = surgery.add_payload(walking_arm()[1], "arm_tool", 2.5).replace(dry_friction=0.0)
    return robot, surgery.reroot(robot, "arm_flange_link")


def tools(robot, regrown):
    """Where the tool is while both tumble and fall from the same state."""
    q0, v0 = robot.random_state(np.random.default_rng(3))
    states = surgery.StateMap(robot, regrown)  # the joints are the same; the free joint is that of another body
    how = {"duration": DURATION, "dt": 5e-4, "integrator": "rk4"}
    one = kt.simulate(robot.without_limits(), q0, v0, **how)
    two = kt.simulate(regrown.without_limits(), states.q(q0), states.v(q0, v0), **how)
    return [kt.pose(m, run.q, frame="arm_tool").p_WF for m, run in ((robot, one), (regrown, two))]


def main() -> None:
    both, locked = walking_arm()
    print(both)
    print(f"locked: {', and with it '.join(name for name in both.joint_names if name not in locked.joint_names)}")

    loaded = surgery.add_payload(locked, "arm_tool", 2.5)  # same structure: the compiled code is shared
    q = locked.neutral()
    moved = kt.center_of_mass(loaded, q) - kt.center_of_mass(locked, q)
    print(f"2.5 kg at the tool move the center of mass by {1e3 * np.linalg.norm(moved):.0f} mm")

    robot, regrown = two_roots()
    print(f"rooted at {regrown.body_names[1]}: {', '.join(regrown.joint_names[:3])}, ...")
    here, there = tools(robot, regrown)
    print(f"the same fall, seen from two roots: tools agree within {np.abs(here - there).max():.0e} m")

    arm = surgery.submodel(both, "arm_shoulder_link")
    print(f"the arm alone: {str(arm.body_names[:3])[:-1]}, ...)")


def check() -> None:
    """The root does not matter: energy and motion are the same; and masses add up."""
    robot, regrown = two_roots()
    q, v = robot.random_state(np.random.default_rng(4))
    states = surgery.StateMap(robot, regrown)
    energy = kt.kinetic_energy(robot, q, v)
    assert np.isclose(kt.kinetic_energy(regrown, states.q(q), states.v(q, v)), energy, rtol=1e-12)
    here, there = tools(robot, regrown)
    assert np.abs(here - there).max() < 1e-6
    parts = [kt.load("quadruped", floating_base=True), surgery.with_base(kt.load("arm7"), "floating")]
    assert np.isclose(robot.total_mass, sum(part.total_mass for part in parts) + 2.5)


if __name__ == "__main__":
    main()
