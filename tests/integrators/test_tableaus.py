"""Order conditions by rooted trees: every tableau, its embedded methods and its continuous weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kinetree.errors import ShapeError
from kinetree.integrators import tableaus
from kinetree.integrators.rooted_trees import continuous_defects, defects, density, order, rooted_trees, size
from kinetree.integrators.tableau_dop853 import DOP853
from kinetree.integrators.tableaus import Tableau

EXACT = [x for x in vars(tableaus).values() if isinstance(x, Tableau) and x is not tableaus.CG4]
ALL = [*EXACT, tableaus.CG4, DOP853]
ROUNDING = 1e-12  # decimals of 15 to 17 digits, coefficients up to 40, sums over up to 16 stages

by_name = pytest.mark.parametrize("tableau", ALL, ids=lambda x: x.name)


def largest(numbers) -> float:
    return float(np.max(np.abs(np.array(numbers, dtype=float))))


@pytest.mark.parametrize("tableau", EXACT, ids=lambda x: x.name)
def test_conditions_hold_exactly(tableau):
    """In fractions all conditions up to the order are zero, not small, and one of the next order is not."""
    for vertices in range(1, tableau.order + 1):
        assert all(x == Fraction(0) for x in defects(tableau, vertices))
    assert any(x != 0 for x in defects(tableau, tableau.order + 1))


@pytest.mark.parametrize("tableau", [tableaus.CG4, DOP853], ids=lambda x: x.name)
def test_conditions_hold_to_rounding(tableau):
    """Methods that are published in decimals meet them to the digits printed, and those of the next order do not."""
    for vertices in range(1, tableau.order + 1):
        assert largest(defects(tableau, vertices)) < ROUNDING
    assert largest(defects(tableau, tableau.order + 1)) > 1e-7


@by_name
def test_nodes_are_sums_of_rows(tableau):
    """c_i = sum_j a_ij, so that a method treats time as it treats the state."""
    for row, c in zip((*tableau.a, *tableau.extra), tableau.c, strict=True):
        assert float(sum(row)) == pytest.approx(float(c), abs=1e-14)


@pytest.mark.parametrize(
    "tableau, orders", [(tableaus.BS32, (2,)), (tableaus.DP54, (4,)), (DOP853, (5, 3))], ids=lambda x: str(x)[:20]
)
def test_estimates_belong_to_methods_of_lower_order(tableau, orders):
    """b - e are the weights of embedded methods: of orders 2 and 4; of 5 and 3 for DOP853, which combines its two."""
    for estimate, expected in zip(tableau.estimates, orders, strict=True):
        b = [*tableau.b, *[0] * (len(estimate) - len(tableau.b))]
        assert order(tableau, [x - e for x, e in zip(b, estimate, strict=True)]) == expected


@pytest.mark.parametrize("tableau", [x for x in ALL if x.dense], ids=lambda x: x.name)
def test_continuous_weights_have_their_order(tableau):
    """sum_i b_i(s) phi_i = s^n / density for all trees up to the order of the dense output, and not beyond."""
    for vertices in range(1, tableau.dense_order + 1):
        assert largest(continuous_defects(tableau, vertices)) < 10 * ROUNDING
    assert largest(continuous_defects(tableau, tableau.dense_order + 1)) > 1e-4


@pytest.mark.parametrize("tableau", [x for x in ALL if x.dense], ids=lambda x: x.name)
def test_continuous_weights_end_in_those_of_the_step(tableau):
    """b_i(1) = b_i: the interpolant meets the step's end."""
    end = [float(sum(row)) for row in tableau.dense]
    assert end == pytest.approx([*map(float, tableau.b), *[0.0] * (len(end) - len(tableau.b))], abs=1e-11)


def test_crouch_grossman_of_order_three_meets_the_condition_of_the_group():
    """sum b_i^2 c_i + 2 sum_(i<j) b_i c_i b_j = 1/3 beside the classical ones (Hairer, Lubich, Wanner, IV.8.5)."""
    b, c = tableaus.CG3.b, tableaus.CG3.c
    pairs = sum(b[i] * c[i] * b[j] for j in range(3) for i in range(j))
    assert sum(x * x * y for x, y in zip(b, c, strict=True)) + 2 * pairs == Fraction(1, 3)


def test_number_of_trees():
    """1, 1, 2, 4, 9, 20, 48, 115 rooted trees (Cayley), with the sizes and densities they should have."""
    assert [len(rooted_trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert {size(tree) for tree in rooted_trees(7)} == {7}
    assert max(map(density, rooted_trees(5))) == 120  # the tall tree


def test_a_wrong_shape_is_refused():
    """A row with too many entries would be an implicit method."""
    with pytest.raises(ShapeError, match="rows of a have"):
        Tableau("implicit", a=((), (Fraction(1), Fraction(1))), b=(Fraction(1),), order=1)
