"""Whether a model is still the one that its file describes: changes in memory after loading are listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.model.gears import gear_texts
from kinetree.model.numbers import numbers_of
from kinetree.verification.check import Changed, Check, Compared, LeftOut

SHOWN = 4  # differences that a message lists; it counts the others


class Source:
    """The file of a model, and the differences of the model from it.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    path : Path or None
        The file, if the model came from one that is still there.
    missing : str
        Why there is nothing to compare with; empty where there is.
    differences : tuple of str
        Differences of the model from the file, read again with the options that `kinetree.load` was given.
    """

    def __init__(self, model) -> None:
        self.path, self.missing, self.differences = None, "", ()
        if not model.source:
            self.missing = "the model is not from a file"
            return
        path, options = Path(model.source), model.source_options
        if not path.is_file():
            self.missing = f"the model's file {model.source} is not there"
            return
        from kinetree.io.load import load

        try:
            found = tuple(differences(model, load(path, **(options or {}))))
        except KinetreeError as error:  # edited since, or read with options that are not known
            found = (f"reading it again fails: {' '.join(str(error).split())}",)
        if found and options is None:
            self.missing = f"{path.name} was read without kt.load, so the options are not known"
            return
        self.path, self.differences = path, found

    @property
    def describes(self) -> bool:
        """Whether the file exists and describes the model."""
        return self.path is not None and not self.differences


def differences(model, other) -> Iterator[str]:
    """Everything in which a model differs from another one, as text: "hand.mass is 3, not 0.8"."""
    for kind in ("body", "joint"):
        mine, theirs = (getattr(m, f"{kind}_names")[1:] for m in (model, other))
        if mine != theirs:
            extra, lacking = ([x for x in a if x not in b] for a, b in ((mine, theirs), (theirs, mine)))
            what = [f"{kind} {name!r} is not in the file" for name in extra]
            what += [f"{kind} {name!r} of the file is missing" for name in lacking]
            yield from what or [f"the {kind}s are in another order"]
    if (model.body_names, model.joint_names) != (other.body_names, other.joint_names):
        return  # everything else is numbered by them
    for i in model.outward():
        name = model.joint_name(i)
        if model.parent[i] != other.parent[i]:
            parents = model.body_names[model.parent[i]], other.body_names[other.parent[i]]
            yield f"joint {name!r} is on body {parents[0]!r}, not {parents[1]!r}"
        if repr(model.joints[i]) != repr(other.joints[i]):
            yield f"joint {name!r} is {model.joints[i]!r}, not {other.joints[i]!r}"
        if _rotation(model, i) != _rotation(other, i):
            yield f"the placement of joint {name!r} has another rotation"
    yield from _numbers(model, other)
    named = {
        "frames": _frame_texts,
        "couplings": lambda m: map(repr, m.couplings),
        "gears": gear_texts,
    }
    for part, texts in named.items():
        if set(texts(model)) != set(texts(other)):
            yield f"its {part} are others"
    for part in ("loops", "equalities", "tendons", "actuators", "keyframes", "force_ranges"):
        mine, theirs = (list(map(repr, getattr(m.equipment, part))) for m in (model, other))
        if mine != theirs:
            yield f"it has {len(mine)} {part}, not {len(theirs)}" if len(mine) != len(theirs) else f"its {part} differ"


def _numbers(model, other) -> Iterator[str]:
    here, there = numbers_of(model), numbers_of(other)
    if here.names != there.names:
        yield "its numbers are others"
        return
    for name, x, y in zip(here.names, here.values.tolist(), there.values.tolist(), strict=True):
        if x != y:  # NaN differs from everything
            yield f"{name} is {x:.9g}, not {y:.9g}"


def _rotation(model, i: int) -> tuple:
    return tuple(float(x) for row in model.X_T[i].E.matrix.rows for x in row)


def _frame_texts(model) -> list:
    return [(f.name, f.body, tuple(f.R_BF.ravel().tolist()), tuple(f.p_BF.tolist())) for f in model.frames]


def source_of(s) -> Source:
    """The `Source` of the states' model, looked up once."""
    return s.once("source", lambda: Source(s.model))


def unchanged(s):
    """The model is the one that its file describes."""
    source = source_of(s)
    if source.missing:
        raise LeftOut(source.missing)
    if source.differences:
        more = len(source.differences) - SHOWN
        shown = "; ".join((*source.differences[:SHOWN], *((f"and {more} more",) if more > 0 else ())))
        if s.modified:
            raise LeftOut(f"modified on purpose: {shown}")
        raise Changed(f"the model is not the one that {source.path.name} describes: {shown}")
    return Compared(np.zeros((1, 1)), np.zeros((1, 1)), 0.0)


def kept_numbers(s):
    """The numbers that compiled code takes are those of the bodies and joints: nothing was written into the model."""
    kept, own = s.model.numbers().values, numbers_of(s.model).values
    same = (kept == own) | np.isnan(own)  # limits are infinite, and NaN has its own row
    with np.errstate(all="ignore"):
        return Compared(np.where(same, 0.0, kept - own)[None], 0.0, 0.0, ("number",))


CHECKS = (
    Check("model", "in memory", "its file", unchanged, cause=0),
    Check("model", "numbers for compiled code", "bodies and joints", kept_numbers,
          "an object of the model was written to after it was made; use model.replace(...)", 0),
)  # fmt: skip
