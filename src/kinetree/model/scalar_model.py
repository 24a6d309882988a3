"""A model whose numbers are any scalars, for algorithms that are traced or run on a batch of models."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import ShapeError
from kinetree.forces.registry import POSITION_PARAMETERS
from kinetree.model.joint_forces import joint_forces
from kinetree.model.numbers import VELOCITY_ARRAYS, numbers_of, rebuilt
from kinetree.model.tree import Tree


class ScalarModel(Tree):
    """The structure of a Model with its numbers replaced by scalars of any kind.

    Parameters
    ----------
    model : Model
        Gives the structure; rotations and couplings stay constant.
    values : sequence of scalars
        One for each of ``model.numbers()``, in that order.

    Notes
    -----
    Algorithms run on it as on a Model. Forces of joints are there where those of the model are, or their numbers
    are not structural zeros.
    """

    __slots__ = ("X_T", "I", "gravity", *POSITION_PARAMETERS, *VELOCITY_ARRAYS, *Tree.NUMBERED)

    def __init__(self, model: Tree, values: Sequence) -> None:
        values = list(values)
        expected = len(numbers_of(model))
        if len(values) != expected:
            raise ShapeError(
                f"with_numbers: {len(values)} values, expected {expected} for model {model.name!r}, in the order of "
                "model.numbers().names"
            )
        self._set_numbers(model, values)

    @classmethod
    def over(cls, model: Tree, values: Sequence) -> ScalarModel:
        """The structure of a Model or ScalarModel over other numbers."""
        smodel = object.__new__(cls)
        smodel._set_numbers(getattr(model, "plain", model), values)  # large models have symbols for rotations
        return smodel

    def _set_numbers(self, model: Tree, values: Sequence) -> None:
        model.independent_rows()  # found once, from numbers
        self._set(**{name: getattr(model, name) for name in Tree.STRUCTURE})
        self._set(**rebuilt(model, values))
        self._set(joint_forces=joint_forces(self, model))

    @classmethod
    def view(cls, model: Tree) -> ScalarModel:
        """The structure and the numbers of a Model as they are."""
        model.independent_rows()
        smodel = object.__new__(cls)
        smodel._set(**{name: getattr(model, name) for name in (*Tree.STRUCTURE, *ScalarModel.__slots__)})
        return smodel

    def __repr__(self) -> str:
        return f"<ScalarModel of {self.name!r}>"
