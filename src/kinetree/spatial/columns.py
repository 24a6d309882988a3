"""Matrices whose columns are spatial vectors, such as a joint's motion subspace S and its ``U = I^A S``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kinetree.spatial.vectors import Quantity, writers


class Columns(Quantity):
    """A matrix of motions or forces, column by column: one for each velocity of a joint.

    Parameters
    ----------
    columns : iterable of Motion, or of Force
        In the order of the velocities; planar vectors as well.
    kind : type
        Their class, which a matrix without columns has, too.

    Notes
    -----
    Lines of code are then lines of the book (Featherstone, table 7.1): ``S @ v``, ``U = IA @ S``, ``D = S.T @ U``,
    ``u = tau - S.T @ p``, ``X @ S``, ``V.cross(S)``.

    Examples
    --------
    >>> from kinetree.spatial import Force, Motion
    >>> S = Columns([Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.5])], Motion)
    >>> S @ [2.0], S.T @ Force.of([0.0, 0.0, 3.0, 0.0, 0.0, 4.0])
    (Motion(Vector3(0.0, 0.0, 2.0), Vector3(0.0, 0.0, 1.0)), JointVector(5.0))
    """

    __slots__ = ("columns", "kind")

    def __init__(self, columns: Iterable, kind: type):
        _columns(self, tuple(columns))
        _kind(self, kind)

    def __repr__(self):
        return f"Columns({list(self.columns)!r}, {self.kind.__name__})"

    def __iter__(self) -> Iterator:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, k):
        found = self.columns[k]
        return Columns(found, self.kind) if isinstance(k, slice) else found

    def each(self, function: Callable, kind: type | None = None) -> Columns:
        """The matrix whose columns are the function's values for these; ``kind`` is their class, if it is another."""
        return Columns([function(column) for column in self.columns], self.kind if kind is None else kind)

    def __add__(self, other: Columns) -> Columns:
        return Columns([x + y for x, y in zip(self.columns, other, strict=True)], self.kind)

    def __sub__(self, other: Columns) -> Columns:
        return Columns([x - y for x, y in zip(self.columns, other, strict=True)], self.kind)

    def __neg__(self) -> Columns:
        return self.each(self.kind.__neg__)

    def __mul__(self, scale) -> Columns:
        return self.each(lambda column: column * scale)

    __rmul__ = __mul__

    def __matmul__(self, x: Sequence):
        """``S x``: the sum of the columns times the entries of x; the zero of their class if there are none."""
        terms = [column * x_k for column, x_k in zip(self.columns, x, strict=True)]
        return sum(terms[1:], start=terms[0]) if terms else self.kind.zero()

    def onto(self, vector, x: Sequence):
        """``vector + S x``, product by product, each of which is then one fused operation."""
        for column, x_k in zip(self.columns, x, strict=True):
            vector = vector + column * x_k
        return vector

    @property
    def T(self) -> Rows:
        """The transpose."""
        return Rows(self)


class Rows(Quantity):
    """The transpose of `Columns`: it multiplies vectors of the dual space."""

    __slots__ = ("T",)

    def __init__(self, columns: Columns):
        _transpose(self, columns)

    def __repr__(self):
        return f"{self.T!r}.T"

    def __matmul__(self, other):
        """``S^T f``, a `JointVector`; of `Columns` the matrix ``S^T U`` as a list of rows."""
        if other.__class__ is Columns:
            return [JointVector([row.dot(column) for column in other]) for row in self.T]
        return JointVector([row.dot(other) for row in self.T])


_columns, _kind = writers(Columns)
(_transpose,) = writers(Rows)


class JointVector(tuple):
    """The entries of one joint in an array over the velocity coordinates; sums go entry by entry, also with lists."""

    __slots__ = ()
    __array_ufunc__ = None

    def __repr__(self):
        return f"JointVector({', '.join(map(repr, self))})"

    def __add__(self, other: Sequence) -> JointVector:
        return JointVector([x + y for x, y in zip(self, other, strict=True)])

    def __radd__(self, other: Sequence) -> JointVector:
        return JointVector([y + x for x, y in zip(self, other, strict=True)])

    def __sub__(self, other: Sequence) -> JointVector:
        return JointVector([x - y for x, y in zip(self, other, strict=True)])

    def __rsub__(self, other: Sequence) -> JointVector:
        return JointVector([y - x for x, y in zip(self, other, strict=True)])

    def __neg__(self) -> JointVector:
        return JointVector([-x for x in self])
