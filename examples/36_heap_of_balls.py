"""Two hundred balls fall into a box and come to rest, each contact with the true cone of friction.

You learn to make a pile of bodies without joints between walls, to advance it, and to read contacts and forces.

    python examples/36_heap_of_balls.py --plot heap.png

Output::

    200 balls, ... contacts, deepest penetration ... um, residual ... m/s
    the floor and the walls carry ... N of ... N
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.collision import Ground
from kinetree.model import Geometry

SIDE, RADIUS, DT = 1.1, 0.1, 5e-3
WALLS = {(1, 0, 0): 0.0, (-1, 0, 0): -SIDE, (0, 1, 0): 0.0, (0, -1, 0): -SIDE}


def heap():
    """The balls above the floor, in layers that are slightly disordered."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(range(5), range(5), range(8)), axis=-1).reshape(-1, 3) * 0.212 + 0.12
    ground = [Ground(friction=0.3), *(Ground(friction=0.3, normal=n, height=h) for n, h in WALLS.items())]
    positions = grid + rng.uniform(-4e-3, 4e-3, size=grid.shape)
    return kt.contact.Pile(Geometry("sphere", (RADIUS,)), positions, friction=0.3, ground=ground, sweeps=30)


def main(plot=None):
    pile = heap()
    run = pile.advance(2.0, DT, every=10)
    contacts = pile.contacts
    carried = contacts.impulses[(contacts.bodies < 0).any(axis=1)].sum(axis=0)[2] / DT
    weight = 9.81 * pile.mass.sum()
    deepest = 1e6 * max(-contacts.gaps.min(), 0.0)
    print(f"{len(pile)} balls, {len(contacts.gaps)} contacts, deepest penetration {deepest:.1f} um, ", end="")
    print(f"residual {pile.residual:.0e} m/s")
    print(f"the floor and the walls carry {carried:.0f} N of {weight:.0f} N")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots()
        axes.plot(run.times, run.kinetic_energy, label="kinetic energy")
        axes.plot(run.times, run.energy - run.energy[-1], label="energy above that at rest")
        axes.set(xlabel="time [s]", ylabel="energy [J]")
        axes.legend()
        figure.savefig(plot)
    return run, carried / weight, deepest


def check():
    """Energy falls, the weight is carried, nothing penetrates."""
    run, share, deepest = main()
    assert (np.diff(run.energy) < 1e-6 * run.energy[0]).all()
    assert abs(share - 1.0) < 0.05
    assert deepest < 100.0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot")
    main(parser.parse_args().plot)
