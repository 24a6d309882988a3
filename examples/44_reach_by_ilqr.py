"""Plan the best motion of an arm inside of its joint limits by iLQR, and follow it with a load that was not planned.

You learn to state an optimal control problem as costs of an instant, to keep joints inside of their limits by a cost,
and to use the plan as a controller: it has feedback gains at every instant.

    python examples/44_reach_by_ilqr.py --plot reach.png

Output::

    ... iterations, ... s: cost ... becomes 0.5...
    the hand ends ... mm off its goal; a joint uses 90% of its range
    with 0.5 kg in the hand the forces alone miss by ... mm, with feedback by ... mm
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.spatial.scalar import maximum

ARM = kt.surgery.lock(kt.load("arm7"), ["left_finger_slide", "right_finger_slide"])
FREE = ARM.without_limits().replace(dry_friction=0.0)  # stops and dry friction have no derivatives
START, GOAL, DT, STEPS = np.array([0.7, 0.5, 0.0, 1.2, 0.0, 1.2, 0.0]), (0.3, -0.4, 0.4), 0.02, 50
MIDDLE, HALF = 0.5 * (ARM.upper + ARM.lower), 0.5 * (ARM.upper - ARM.lower)


def squares(x):
    return sum(y * y for y in x)


def effort(s):  # forces, speeds, and what is beyond 90 % of a joint's range
    beyond = (maximum(((x - m) / h) ** 2 - 0.81, 0.0) for x, m, h in zip(s.q, MIDDLE, HALF, strict=True))
    return 1e-3 * squares(s.tau) + 1e-2 * squares(s.v) + 200.0 * squares(beyond)


def there_at_rest(s):
    return 2000.0 * squares(s.point("flange_link")[k] - GOAL[k] for k in range(3)) + 10.0 * squares(s.v)


def planned():
    solve = kt.control.iLQR(FREE, effort, there_at_rest, dt=DT, horizon=STEPS, integrator="semi_implicit")
    return solve(START, plan=kt.gravity_forces(FREE, START))


def missed(q) -> float:
    return 1e3 * np.linalg.norm(kt.pose(FREE, q, frame="flange_link").p_WF - GOAL)


def loaded(law):  # the motion with stops, friction, and a load in the hand
    arm = kt.surgery.add_payload(ARM, "flange_link", mass=0.5)
    return kt.simulate(arm, START, duration=DT * STEPS, dt=0.002, controller=kt.control.Sampled(law, DT))


def main(plot: str | None = None) -> None:
    plan = planned()
    used, alone = (plan.q - MIDDLE) / HALF, lambda t, q, v: plan.tau[min(round(t / DT), STEPS - 1)]
    print(f"{plan.iterations} iterations, {plan.seconds:.1f} s: cost {plan.costs[0]:.0f} becomes {plan.cost:.2f}")
    print(f"the hand ends {missed(plan.q[-1]):.1f} mm off its goal; a joint uses {np.abs(used).max():.0%} of its range")
    off = [missed(loaded(law).q[-1]) for law in (alone, plan)]
    print("with 0.5 kg in the hand the forces alone miss by {:.0f} mm, with feedback by {:.0f} mm".format(*off))
    if plot:
        plt.style.use(kt.viz.STYLE)
        ax = plt.figure(figsize=(8, 4.5), layout="constrained").add_subplot()
        ax.plot(plan.time, used, label=ARM.joint_names)
        ax.set(xlabel="time [s]", ylabel="position, part of the joint's range", ylim=(-1, 1))
        ax.legend(ncols=3)
        ax.figure.savefig(plot)


def check() -> None:
    plan = planned()  # as good as its feedback, which carries the load
    assert plan.converged and missed(plan.q[-1]) < 1.0 and missed(loaded(plan).q[-1]) < 20.0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
