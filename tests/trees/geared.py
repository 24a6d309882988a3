"""Random mechanisms with geared rotors, in all the places where a rotor may be."""

from __future__ import annotations

import numpy as np

import kinetree as kt


def geared_tree(n: int, seed: int, *, floating: bool = False, near: bool = True, mass: float = 0.5, **options):
    """A random tree with a rotor for two of three joints of one freedom, at the joint unless ``near`` is False.

    Stators are the parent, the moved body and the world; otherwise any body on a path with the joint.
    """
    tree = kt.models.random_tree(n, seed=seed, floating=floating, **options)
    rng = np.random.default_rng(seed + 10_000)
    b = kt.ModelBuilder.of(tree)
    for i in tree.outward():
        if tree.joints[i].nv != 1 or rng.random() < 1.0 / 3.0:
            continue
        places = [tree.parent[i], tree.parent[i], i, 0]
        if not near:
            places = [*tree.support(i), *tree.subtree(i), 0]
        J = rng.uniform(0.01, 0.1)
        b.add_rotor(
            f"rotor{i}",
            tree.joint_name(i),
            ratio=rng.uniform(-10.0, 10.0),
            axial_inertia=J,
            body=tree.body_names[places[rng.integers(len(places))]],
            axis=rng.standard_normal(3),
            center=rng.standard_normal(3),
            mass=mass * rng.uniform(0.5, 1.0),
            transverse_inertia=J * rng.uniform(0.5, 1.5),
        )
    return b.build(merge_fixed=False)
