"""A force of your own: a rope that pulls where it is taut, written as a length and a tension.

You learn to write a force element: a frozen dataclass with a law over points, rotations and coordinates. It is
compiled, differentiated and simulated with its energy in the balance, like the built-in ones.

    python examples/20_your_own_force.py

Output::

    0.5 s of swinging: ... J unexplained; the rope stored up to ... J and lost ... J
    d(acceleration)/d(stiffness of the rope) = (..., ..., ...)
    500 arms at once: least and most energy of rope and bar after 0.5 s ... and ... J
"""

from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.forces import CubicTorsionBar, ForceElement, norm
from kinetree.spatial.scalar import where


@dataclass(frozen=True)
class Rope(ForceElement):
    name: str
    start: str
    end: str
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    rest_length: float  # [m]
    frame_fields = ("start", "end")
    kinked = True  # its slope jumps where it gets slack

    def length(self, kin):
        return norm(kin.point(self.end) - kin.point(self.start))

    def stored(self, length):
        stretch = length - self.rest_length
        return where(stretch > 0.0, 0.5 * self.stiffness * stretch * stretch, 0.0)

    def tension(self, length, rate):
        return where(length > self.rest_length, self.damping * rate, 0.0)


Q0, REST = np.array([0.4, -0.3, 0.5]), np.zeros(3)


def arm(stiffness: float = 200.0) -> kt.Model:
    b = kt.ModelBuilder.of(kt.models.chain_gu(3))
    b.add_frame("wall", "world", ((0.5, 0.2, 0.3), (0.0, 0.0, 0.0)))
    rope = Rope("rope", "wall", "body3", stiffness, damping=1.0, rest_length=0.4)
    return b.build().with_forces(CubicTorsionBar("bar", "joint1", linear=2.0, cubic=5.0), rope)


def slope() -> np.ndarray:
    return kt.differentiate(arm(), "forward_dynamics", wrt="numbers", numbers=("rope.stiffness",))(Q0, REST, REST)[:, 0]


def main() -> None:
    balance = kt.simulate(arm(), Q0, duration=0.5, dt=5e-4, integrator="rk4").energy_balance
    print(f"0.5 s of swinging: {np.abs(balance.remainder).max():.0e} J unexplained; the rope stored up to", end=" ")
    print(f"{balance.energies['force rope'].max():.2f} J and lost {-balance.work('force rope'):.2f} J")
    print(f"d(acceleration)/d(stiffness of the rope) = ({', '.join(f'{x:.4g}' for x in slope())})")
    many = Q0 + 0.2 * np.random.default_rng(0).normal(size=(500, 3))
    q, _ = kt.rollout(arm(), many, REST, REST, 1e-3, steps=500, record=kt.Record(every=500))
    least, *_, most = sorted(kt.dynamics.elastic_energy(arm(), q[..., -1, :]))
    print(f"500 arms at once: least and most energy of rope and bar after 0.5 s {least:.2f} and {most:.2f} J")


def check() -> None:
    """The energy balance closes, and the derivative is a difference quotient."""
    balance = kt.simulate(arm(), Q0, duration=0.5, dt=5e-4, integrator="rk4").energy_balance
    assert np.abs(balance.remainder).max() < 1e-3 * balance.scale and balance.work("force rope") < 0.0
    difference = np.subtract(*(kt.forward_dynamics(arm(k), Q0, REST, REST) for k in (201.0, 199.0)))
    assert np.allclose(slope(), difference / 2.0, rtol=1e-8, atol=1e-10)


if __name__ == "__main__":
    main()
