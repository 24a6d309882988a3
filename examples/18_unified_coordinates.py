"""A box that flips over, without an angular velocity: unified local velocity coordinates.

You learn `Projection` and `FreeUnified`: the motion of a body as six velocities of its points. The box of Holzinger et
al. spins about its unstable axis and flips; the error of a Runge-Kutta method on the group falls with the fourth power
of the step. Then a quadruped gets such coordinates for its floating base.

Output::

    w = 70.711 70.711 0.007 0.007 0.000 0.000 m/s
    h = 1/320 s: error 1.2e-02 rad/s
    h = 1/640 s: error 7.1e-04 rad/s, order 4.0
    h = 1/1280 s: error 4.3e-05 rad/s, order 4.0
    three of six points on one line: rank 5
    base by twist and by six velocities: the same motion to ... m
"""

import numpy as np

import kinetree as kt
from kinetree.joints import FreeUnified, Projection

CUBE = Projection.hexahedral()  # face centers of a cube, half edges 1 m
TWIST = np.array([0.01, 0.0, 100.0, 0.0, 0.0, 0.0])  # [rad/s, m/s]
EXACT = np.array([5.86216283263292, 6.76901143915564, -99.72873950308943])  # after 1 s, Jacobi's elliptic functions


def box():
    """The paper's box, its velocity coordinates those of the cube."""
    b = kt.ModelBuilder("box", gravity=(0.0, 0.0, 0.0))
    b.add_body("box", joint=FreeUnified(CUBE), mass=1.0, inertia=(5.2988, 1.1775, 4.3568))
    return b.build()


def error(model, steps):
    """Error of the angular velocity after 1 s [rad/s]."""
    _, w = kt.rollout(model, model.neutral(), CUBE.D @ TWIST, None, 1 / steps, steps=steps, integrator="rk4")
    return np.linalg.norm((CUBE.D_inverse @ w[-1])[:3] - EXACT)


def rank_of_a_bad_choice():
    """Three velocities through one point and three more of the same line see no turn about it."""
    x, y, z = np.eye(3).tolist()
    try:
        return Projection([x, y, z, x, y, x], [[0, 0, 0]] * 3 + [[0, 0, 1]] * 2 + [[0, 0, 2]])
    except kt.errors.KinetreeError as refusal:
        return refusal.rank


def both_bases():
    """The base of a falling quadruped after 0.2 s, by twist and by six velocities of points at its corners."""
    by_twist = kt.load("quadruped", floating_base=True).without_limits()
    joint = FreeUnified(Projection.tetrahedral(0.3, 0.15, 0.1))
    by_points = kt.surgery.with_base(by_twist, joint)
    v0 = np.random.default_rng(0).normal(size=by_twist.nv)
    w0 = np.r_[joint.projection.D @ v0[:6], v0[6:]]
    runs = [kt.simulate(m, v0=v, duration=0.2, dt=1e-3) for m, v in ((by_twist, v0), (by_points, w0))]
    return [run.q[-1] for run in runs]


def main() -> None:
    print("w =", " ".join(f"{x:.3f}" for x in CUBE.D @ TWIST), "m/s")
    model, errors = box(), []
    for steps in (320, 640, 1280):
        errors.append(error(model, steps))
        order = f", order {np.log2(errors[-2] / errors[-1]):.1f}" if len(errors) > 1 else ""
        print(f"h = 1/{steps} s: error {errors[-1]:.1e} rad/s{order}")
    print(f"three of six points on one line: rank {rank_of_a_bad_choice()}")
    q, q_points = both_bases()
    print(f"base by twist and by six velocities: the same motion to {np.abs(q - q_points).max():.0e} m")


def check() -> None:
    """The method has order 4; a base moves alike in all coordinates."""
    assert abs(np.log2(error(box(), 320) / error(box(), 1280)) - 8.0) < 0.2
    q, q_points = both_bases()
    assert np.abs(q - q_points).max() < 1e-9


if __name__ == "__main__":
    main()
