"""A rimless wheel walks down a slope: event-driven contact, plastic impacts, and a limit cycle.

You learn how to give a body points of contact, how to simulate from impact to impact, and how to read the events of a
run. The speed after each impact tends to that of the limit cycle, whose return map is known in closed form.

    python examples/38_rimless_wheel.py

Output::

    step 1: ... rad/s
    ...
    limit cycle: ... rad/s
"""

import math

import numpy as np

import kinetree as kt

SPOKES, SLOPE, LENGTH, INERTIA, G = 8, 0.08, 1.0, 0.05, 9.81
ALPHA = math.pi / SPOKES
TIP = 1e-9  # [m] radius: a point, nearly


def wheel() -> kt.Model:
    """A hub of 1 kg with massless spokes; the slope is the plane y = 0, gravity is turned instead."""
    b = kt.ModelBuilder("rimless wheel", gravity=(G * math.sin(SLOPE), -G * math.cos(SLOPE), 0.0))
    b.add_body("hub", joint=kt.joints.Planar(), mass=1.0, inertia=INERTIA * np.eye(3))
    ground = kt.collision.Shape("world", "plane", R=((1, 0, 0), (0, 0, 1), (0, -1, 0)), name="ground")
    pairs = []
    for k in range(SPOKES):
        at = (LENGTH * math.sin(2 * k * ALPHA), -LENGTH * math.cos(2 * k * ALPHA), 0.0)
        tip = kt.collision.Shape("hub", "sphere", (TIP,), p=at, name=f"tip{k}")
        pairs.append(kt.collision.ContactPair(f"spoke{k}", ground, tip, friction=2.0))
    return b.build().replace(contacts=pairs)


def walk(omega: float, duration: float) -> kt.Trajectory:
    """A run that begins just after an impact, at this speed [rad/s]."""
    q = [ALPHA, -LENGTH * math.sin(ALPHA), LENGTH * math.cos(ALPHA) + TIP]
    return kt.simulate(wheel(), q, [-omega, LENGTH * omega, 0], duration=duration, dt=0.05, integrator="event_driven")


def limit_cycle() -> float:
    """Speed after each impact [rad/s]: an impact takes the energy that gravity adds in a step."""
    kept = (INERTIA + LENGTH**2 * math.cos(2 * ALPHA)) / (INERTIA + LENGTH**2)
    fall = LENGTH * (math.cos(SLOPE - ALPHA) - math.cos(SLOPE + ALPHA))
    return math.sqrt(kept**2 / (1 - kept**2) * 2 * G * fall / (INERTIA + LENGTH**2))


def speeds(run: kt.Trajectory) -> list[float]:
    """Speeds after the impacts."""
    return list({x.time: -float(x.v_after[0]) for x in run.events if x.name.startswith("impact")}.values())


def check() -> None:
    omega = limit_cycle()
    assert np.allclose(speeds(walk(omega, 2.5)), omega, atol=1e-8)
    found = np.array(speeds(walk(1.2 * omega, 5.0)))
    assert (np.diff(found) < 0.0).all() and abs(found[-1] - omega) < 0.02


def main() -> None:
    for n, omega in enumerate(speeds(walk(1.2 * limit_cycle(), 5.0)), 1):
        print(f"step {n}: {omega:.6f} rad/s")
    print(f"limit cycle: {limit_cycle():.6f} rad/s")


if __name__ == "__main__":
    main()
    check()
