"""Operation counts: at or below the best published ones for general chains and trees, and the page that says so."""

import re

import pytest

import kinetree as kt
from benchmarks import operations as page
from kinetree.joints import Revolute
from kinetree.models import binary_tree


@pytest.mark.parametrize("n", page.SIZES)
@pytest.mark.parametrize("algorithm", page.ALGORITHMS)
def test_general_chains_cost_no_more_than_published(algorithm, n):
    """Multiplications and additions of GU(n) are each at most those of every row of Featherstone's table 10.1.

    Fused operations count as two; no sign change, selection or function hides a cost.
    """
    found = page.count(page.general_chain(n), algorithm)
    for row in page.PUBLISHED[algorithm]:
        assert found.multiplications + found.divisions <= row.multiplications(n), row.source
        assert found.additions <= row.additions(n), row.source
    assert found["neg"] == found["sqrt"] == 0
    assert found.other == (2 * n - 1 if algorithm == "aba" else 0)  # comparisons of its pivots, joined into one check
    assert found["sincos"] <= n


@pytest.mark.parametrize("depth", page.DEPTHS)
@pytest.mark.parametrize("algorithm", page.ALGORITHMS)
def test_binary_trees_cost_no_more_than_published(algorithm, depth):
    """Totals of complete binary trees against Featherstone, section 10.3.2: eq. 10.4-10.12, and his figure 10.5."""
    assert page.count(binary_tree(depth), algorithm).total <= page.published_tree(algorithm, depth)


@pytest.mark.parametrize("model", [page.general_chain(6), binary_tree(3)], ids=["chain", "tree"])
def test_what_is_counted_is_general(model):
    """No offset, moment or inertia is zero, no axis is parallel to another: nothing is special."""
    general = {name: x for name, x in model.numbers().as_dict().items() if re.search(r"\.[rhI]\.|mass", name)}
    assert len(general) == 13 * model.nv and all(general.values())
    for i in model.outward():
        assert type(model.joints[i]) is Revolute
        assert min(abs(x) for row in model.X_T[i].E.matrix.rows for x in row) > 1e-6


def test_rows_are_those_of_the_book():
    """The book's formulas evaluated at n = 6, by hand; the totals of its trees (section 10.3.2)."""
    published = page.PUBLISHED.items()
    values = {name: [(row.multiplications(6), row.additions(6)) for row in rows] for name, rows in published}
    assert values["rnea"] == [(450, 386), (489, 420), (712, 550), (852, 738)]
    assert values["crba"] == [(460, 395), (505, 410), (555, 470), (420, 339), (741, 601)]
    assert values["aba"] == [(1085, 982), (1278, 1122), (1533, 1415)]
    assert [page.published_tree("crba", depth) for depth in page.DEPTHS] == [254, 910, 2518, 6326]
    assert [page.published_tree("rnea", depth) for depth in page.DEPTHS] == [314, 1010, 2402, 5186]
    assert [page.published_tree("aba", depth) for depth in page.DEPTHS] == [780, 2496, 5928, 12792]


def test_inverse_dynamics_grows_by_85_multiplications_and_71_additions():
    """The formula that the page states."""
    for n in page.SIZES:
        found = page.count(page.general_chain(n), "rnea")
        assert (found.multiplications, found.additions) == (85 * n - 98, 71 * n - 90)


def test_puma_like_arm_by_simplification():
    """Featherstone, section 10.4, expects symbolic simplification to save a factor of 1 to 10 on real robots."""
    model = kt.models.puma_like()
    for algorithm in page.ALGORITHMS:
        assert 3.0 < page.as_written(model, algorithm) / page.count(model, algorithm).total < 10.0


def test_page_is_up_to_date():
    """The tables of docs/operations.md are what the code counts; ``python -m benchmarks.operations`` makes them."""
    text = page.PAGE.read_text()
    assert page.rewritten(text) == text
