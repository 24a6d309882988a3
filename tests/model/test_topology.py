"""Sets of a tree: the book's example, and the identities between them on random trees."""

import numpy as np
import pytest

from kinetree.errors import TopologyError
from kinetree.model.topology import (
    check_regular,
    children_of,
    common_ancestor,
    depths_of,
    expanded_parent,
    regular_order,
    subtree_of,
    support_of,
)

FIGURE_4_6 = (-1, 0, 1, 1, 0, 3, 4, 4, 4)  # Featherstone, figure 4.6, with lambda(7) = 4 of the two values it allows


def random_parents(seed, n=40):
    rng = np.random.default_rng(seed)
    return (-1, *(int(rng.integers(0, i)) for i in range(1, n)))


def test_sets_of_figure_4_6():
    """The sets that Featherstone, section 4.1.4, states for the tree of figure 4.6."""
    children = children_of(FIGURE_4_6)
    assert [support_of(FIGURE_4_6, i) for i in (1, 2, 3, 8)] == [(1,), (1, 2), (1, 3), (4, 8)]
    assert (children[0], children[1], children[2], children[8]) == ((1, 4), (2, 3), (), ())
    assert subtree_of(children, 0) == tuple(range(9))
    assert [subtree_of(children, i) for i in (1, 2, 8)] == [(1, 2, 3, 5), (2,), (8,)]


@pytest.mark.parametrize("seed", range(3))
def test_support_and_subtree_are_inverse_relations(seed):
    """j supports i exactly if i is in the subtree of j; children are part of the subtree."""
    parent = random_parents(seed)
    children = children_of(parent)
    for j in range(1, len(parent)):
        subtree = subtree_of(children, j)
        assert set(children[j]) < set(subtree)
        for i in range(1, len(parent)):
            assert (j in support_of(parent, i)) == (i in subtree)


def test_double_sums_over_supports_and_subtrees_are_equal():
    """Featherstone, eq. 4.3: summing over i and its support is summing over j and its subtree."""
    parent = random_parents(5)
    children, weight = children_of(parent), np.random.default_rng(6).integers(-9, 9, (40, 40))
    over_supports = sum(weight[i, j] for i in range(1, 40) for j in support_of(parent, i))
    over_subtrees = sum(weight[i, j] for j in range(1, 40) for i in subtree_of(children, j))
    assert over_supports == over_subtrees


def test_depth_is_the_size_of_the_support():
    """Every joint on the path from the world counts once."""
    parent = random_parents(7)
    assert depths_of(parent) == tuple(len(support_of(parent, i)) for i in range(40))


def test_common_ancestor_ends_the_common_part_of_two_supports():
    """The supports of i and j share exactly that of their common ancestor."""
    parent = random_parents(8)
    for i in range(1, 40, 3):
        for j in range(1, 40, 4):
            shared = set(support_of(parent, i)) & set(support_of(parent, j))
            assert shared == set(support_of(parent, common_ancestor(parent, i, j)))


def test_expanded_parent_array_of_table_6_4():
    """Golden value for lambda = (0, 1, 1, 2, 2, 3) and freedoms (1, 3, 1, 1, 1, 1): Featherstone, section 6.5."""
    expanded, last = expanded_parent((-1, 0, 1, 1, 2, 2, 3), (0, 1, 3, 1, 1, 1, 1))
    assert expanded[1:] == (0, 1, 2, 3, 1, 4, 4, 5)
    assert last == (0, 1, 4, 5, 6, 7, 8)


def test_a_joint_without_freedom_vanishes_from_the_expanded_tree():
    """Giving a body no freedom hangs its children on its parent."""
    expanded, last = expanded_parent((-1, 0, 1, 1, 2, 3), (0, 2, 0, 1, 1, 1))
    assert expanded == (-1, 0, 1, 2, 2, 3)
    assert last[2] == last[1] == 2


def test_expanded_support_holds_the_freedoms_of_the_support():
    """The ancestors of the last freedom of a body are all freedoms of the joints that support it."""
    rng, parent = np.random.default_rng(9), random_parents(9, 20)
    freedoms = (0, *(int(n) for n in rng.integers(0, 4, 19)))
    first = np.concatenate(([0], np.cumsum(freedoms)))
    expanded, last = expanded_parent(parent, freedoms)
    for i in range(1, 20):
        mine = {k + 1 for j in support_of(parent, i) for k in range(first[j], first[j + 1])}
        assert set(support_of(expanded, last[i])) == mine


@pytest.mark.parametrize("parent", [(), (0,), (-1, 1), (-1, 0, 2), (-1, 0, -1)])
def test_irregular_parent_arrays_are_refused(parent):
    """A root that has a parent, a body that hangs on itself or a later one, a second root."""
    with pytest.raises(TopologyError, match="parent"):
        check_regular(parent)


@pytest.mark.parametrize("seed", range(3))
def test_regular_order_of_a_shuffled_tree(seed):
    """Any order of a tree's nodes becomes one in which parents come first and subtrees are contiguous."""
    parent, rng = random_parents(seed, 30), np.random.default_rng(seed)
    shuffled = {int(i): parent[i] for i in rng.permutation(np.arange(1, 30))}
    order = regular_order(shuffled, 0)
    number = {0: 0, **{node: k for k, node in enumerate(order, start=1)}}
    assert sorted(order) == list(range(1, 30))
    assert all(number[parent[node]] < number[node] for node in order)
    children = children_of(parent)
    for node in order:
        numbers = sorted(number[j] for j in subtree_of(children, node))
        assert numbers[-1] - numbers[0] == len(numbers) - 1


def test_a_regular_order_is_kept():
    """The order in which bodies were added is the user's; it changes only if it must."""
    assert regular_order({"c": "w", "a": "w", "d": "c", "b": "a"}, "w") == ["c", "a", "d", "b"]


def test_a_cycle_is_named():
    """Bodies that carry each other are listed."""
    with pytest.raises(TopologyError, match=r"circle .* 'w': a -> b -> a") as caught:
        regular_order({"x": "w", "a": "b", "b": "a"}, "w")
    assert caught.value.cycle == ["a", "b", "a"]


def test_a_missing_parent_is_named():
    """A tree that is not connected to its root."""
    with pytest.raises(TopologyError, match="the parent 'z' of 'a' does not exist"):
        regular_order({"a": "z"}, "w")
