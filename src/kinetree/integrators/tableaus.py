"""Explicit Runge-Kutta methods as data: coefficients, weights, error estimates and continuous weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction as F

import numpy as np

from kinetree.errors import ShapeError
from kinetree.once import once


@dataclass(frozen=True, slots=True, eq=False)
class Tableau:
    """An explicit Runge-Kutta method: ``k_i = f(t + c_i h, y + h sum_j a_ij k_j)``, ``y_1 = y + h sum_i b_i k_i``.

    Attributes
    ----------
    name : str
    a : tuple of tuple
        Row i has the i coefficients of stage i; fractions where the method has them. The first row is empty.
    b : tuple
        Weights of the step; zeros at its end may be left out.
    order : int
        Order of the step.
    c : tuple
        Nodes, by default the sums of the rows.
    estimates : tuple of tuple
        Weights of the estimated errors, ``e = h sum_i e_i k_i``; none for a method without an embedded one.
    estimate_order : int or None
        Order of the embedded method, by which steps are controlled.
    dense : tuple of tuple
        Continuous weights ``b_i(s) = sum_k dense[i][k] s^(k+1)`` at the fraction s of the step; may be empty.
    dense_order : int or None
        Order of the continuous solution: its error at a fixed s is of one order more in h.
    extra : tuple of tuple
        Rows of further stages that only the continuous weights need.
    source : str

    Examples
    --------
    >>> from kinetree.integrators.tableaus import HEUN
    >>> HEUN.stages, HEUN.order, [str(x) for x in HEUN.b]
    (2, 2, ['1/4', '3/4'])
    """

    name: str
    a: tuple[tuple, ...]
    b: tuple
    order: int
    c: tuple = ()
    estimates: tuple[tuple, ...] = ()
    estimate_order: int | None = None
    dense: tuple[tuple, ...] = ()
    dense_order: int | None = None
    extra: tuple[tuple, ...] = field(default=(), repr=False)
    source: str = ""

    def __post_init__(self) -> None:
        rows = (*self.a, *self.extra)
        if any(len(row) != i for i, row in enumerate(rows)) or len(self.b) > len(self.a):
            raise ShapeError(
                f"Tableau {self.name!r}: the rows of a have {[len(row) for row in rows]} entries and b has "
                f"{len(self.b)}; expected 0, 1, 2, ... and at most {len(self.a)}: row i holds the "
                "weights of earlier stages in stage i.",
                tableau=self.name,
            )
        if not self.c:
            object.__setattr__(self, "c", tuple(sum(row, F(0)) for row in rows))

    @property
    def stages(self) -> int:
        """Number of stages that the step or its error estimates need."""
        return len(self.a)

    @property
    def first_same_as_last(self) -> bool:
        """Whether the last stage is the first one of the next step."""
        return len(self.a) > 1 and self.c[len(self.a) - 1] == 1 and self.a[-1] == (*self.b, F(0))[: len(self.a) - 1]

    @property
    def evaluations(self) -> int:
        """Evaluations of the dynamics for one step without an error estimate."""
        return max(i for i, weight in enumerate(self.b) if weight) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The numbers of a tableau as arrays.

    Attributes
    ----------
    rows : tuple of numpy.ndarray
        Coefficients of each stage, the further ones included.
    b : numpy.ndarray
        Weights of the step.
    c : tuple of float
    estimates : tuple of numpy.ndarray
    dense : numpy.ndarray
        Continuous weights, one row per stage, one column per power from 1 on.
    """

    rows: tuple[np.ndarray, ...]
    b: np.ndarray
    c: tuple[float, ...]
    estimates: tuple[np.ndarray, ...]
    dense: np.ndarray


@once
def weights(tableau: Tableau) -> Weights:
    """The numbers of a tableau as arrays of floats."""
    return Weights(
        rows=tuple(_floats(row) for row in (*tableau.a, *tableau.extra)),
        b=_floats(tableau.b[: tableau.evaluations]),
        c=tuple(map(float, tableau.c)),
        estimates=tuple(_floats(row) for row in tableau.estimates),
        dense=np.array([list(map(float, row)) for row in tableau.dense]),
    )


def _floats(row: Sequence) -> np.ndarray:
    return np.array([float(x) for x in row])


def _row(text: str) -> tuple[F, ...]:
    return tuple(F(entry) for entry in text.split())


def _rows(text: str) -> tuple[tuple[F, ...], ...]:
    """A lower triangle, or any table, of fractions, one line per row; the empty first row is added."""
    return ((), *(_row(line) for line in text.strip().splitlines()))


def _table(text: str) -> tuple[tuple[F, ...], ...]:
    return _rows(text)[1:]


EULER = Tableau(
    "euler", a=((),), b=_row("1"), order=1, dense=_table("1"), dense_order=1,
    source="Featherstone (2008), eq. 11.47 and 11.49",
)  # fmt: skip

MIDPOINT = Tableau(
    "midpoint", a=_rows("1/2"), b=_row("0 1"), order=2, dense=_table("1 -1\n0 1"), dense_order=2,
    source="Runge (1895); Hairer, Norsett, Wanner, Solving ODEs I, table II.1.1",
)  # fmt: skip

HEUN = Tableau(
    "heun", a=_rows("2/3"), b=_row("1/4 3/4"), order=2, dense=_table("1 -3/4\n0 3/4"), dense_order=2,
    source="Featherstone (2008), eq. 11.50 and 11.51; of the methods with two stages Ralston's (1962), which has the "
    "smallest bound of the error",
)  # fmt: skip

TRAPEZOIDAL = Tableau(
    "trapezoidal", a=_rows("1"), b=_row("1/2 1/2"), order=2, dense=_table("1 -1/2\n0 1/2"), dense_order=2,
    source="the explicit trapezoidal rule, which many books call Heun's method",
)  # fmt: skip

KUTTA3 = Tableau(
    "kutta3", a=_rows("1/2\n-1 2"), b=_row("1/6 2/3 1/6"), order=3,
    dense=_table("1 -3/2 2/3\n0 2 -4/3\n0 -1/2 2/3"), dense_order=2, source="Kutta (1901)",
)  # fmt: skip

RALSTON3 = Tableau(
    "ralston3", a=_rows("1/2\n0 3/4"), b=_row("2/9 1/3 4/9"), order=3,
    source="Ralston (1962): the smallest bound of the error with three stages",
)  # fmt: skip

RK4 = Tableau(
    "rk4", a=_rows("1/2\n0 1/2\n0 0 1"), b=_row("1/6 1/3 1/3 1/6"), order=4,
    dense=_table("1 -3/2 2/3\n0 1 -2/3\n0 1 -2/3\n0 -1/2 2/3"), dense_order=3,
    source="Kutta (1901); continuous weights: Hairer, Norsett, Wanner, Solving ODEs I, II.6",
)  # fmt: skip

RK38 = Tableau(
    "rk38", a=_rows("1/3\n-1/3 1\n1 -1 1"), b=_row("1/8 3/8 3/8 1/8"), order=4,
    source="Kutta (1901): the 3/8 rule",
)  # fmt: skip

BS32 = Tableau(
    "bs32", a=_rows("1/2\n0 3/4\n2/9 1/3 4/9"), b=_row("2/9 1/3 4/9"), order=3,
    estimates=(_row("-5/72 1/12 1/9 -1/8"),), estimate_order=2,
    dense=_table("1 -4/3 5/9\n0 1 -2/3\n0 4/3 -8/9\n0 -1 1"), dense_order=3,
    source="Bogacki, Shampine, Appl. Math. Lett. 2 (1989)",
)  # fmt: skip

DP54 = Tableau(
    "dp54",
    a=_rows(
        """1/5
        3/40 9/40
        44/45 -56/15 32/9
        19372/6561 -25360/2187 64448/6561 -212/729
        9017/3168 -355/33 46732/5247 49/176 -5103/18656
        35/384 0 500/1113 125/192 -2187/6784 11/84"""
    ),
    b=_row("35/384 0 500/1113 125/192 -2187/6784 11/84"),
    order=5,
    estimates=(_row("71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40"),),
    estimate_order=4,
    dense=_table(
        """1 -8048581381/2820520608 8663915743/2820520608 -12715105075/11282082432
        0 0 0 0
        0 131558114200/32700410799 -68118460800/10900136933 87487479700/32700410799
        0 -1754552775/470086768 14199869525/1410260304 -10690763975/1880347072
        0 127303824393/49829197408 -318862633887/49829197408 701980252875/199316789632
        0 -282668133/205662961 2019193451/616988883 -1453857185/822651844
        0 40617522/29380423 -110615467/29380423 69997945/29380423"""
    ),
    dense_order=4,
    source="Dormand, Prince, J. Comp. Appl. Math. 6 (1980); continuous weights: Shampine, Math. Comp. 46 (1986)",
)

PLAIN = (EULER, HEUN, MIDPOINT, TRAPEZOIDAL, KUTTA3, RALSTON3, RK38, BS32, DP54)
"""Those that are methods by the exact tangent maps of the joints; "rk4" has a step of its own."""

CG2 = Tableau(
    "cg2", a=_rows("1"), b=_row("1/2 1/2"), order=2,
    source="Crouch, Grossman, J. Nonlinear Sci. 3 (1993); valid for every method of order 2",
)  # fmt: skip

CG3 = Tableau(
    "cg3", a=_rows("3/4\n119/216 17/108"), b=_row("13/51 -2/3 24/17"), order=3,
    source="Crouch, Grossman, J. Nonlinear Sci. 3 (1993)",
)  # fmt: skip

CG4 = Tableau(
    "cg4",
    a=(
        (),
        (0.8177227988124852,),
        (0.3199876375476427, 0.0659864263556022),
        (0.9214417194464946, 0.4997857776773573, -1.0969984448371582),
        (0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465),
    ),
    b=(0.1370831520630755, -0.0183698531564020, 0.7397813985370780, -0.1907142565505889, 0.3322195591068374),
    order=4,
    c=(0.0, 0.8177227988124852, 0.3859740639032449, 0.3242290522866937, 0.8768903263420429),
    source="Jackiewicz, Marthinsen, Owren, Adv. Comp. Math. 13 (2000)",
)
