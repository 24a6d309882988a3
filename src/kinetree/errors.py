"""The exceptions that kinetree raises on purpose.

One base class; each subclass is also the matching builtin, so that ``except ValueError`` keeps working. A message names
the failure (the thing, the value expected, the value found), then the valid choices or the likely fix. The values are
in the message and in attributes: every keyword given to the constructor becomes one.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable

_MOST_COMPARED = 2000  # names
_LONGEST_COMPARED = 100  # characters


class KinetreeError(Exception):
    """Base class of all errors raised by kinetree."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message)
        self.message = message
        for name, value in values.items():
            setattr(self, name, value)

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return self.message


class ArgumentError(KinetreeError, TypeError, ValueError):
    """An argument of the wrong kind, or out of its range; ``argument`` names it, ``found`` is the value given."""


class ShapeError(KinetreeError, ValueError):
    """An array has the wrong shape or type of entries."""


class NonFiniteError(KinetreeError, ValueError):
    """An input contains NaN or infinity."""


class QuaternionError(KinetreeError, ValueError):
    """A quaternion in q is not of unit length."""


class LimitError(KinetreeError, ValueError):
    """A joint is beyond a limit for which the model defines no force."""


class SingularityError(KinetreeError, ValueError):
    """No inverse exists at a position: of a joint-space inertia, whose ``joints`` move no mass, or of a tangent map."""


class ConstraintError(KinetreeError, ValueError):
    """A state violates a constraint of the model."""


class CouplingError(ConstraintError):
    """A state violates a coupling between joints (URDF mimic), or a coupling is malformed."""


class AssemblyError(ConstraintError):
    """No position near a guess closes all loops; ``constraint``, ``gap`` and ``q``, the nearest one, are attributes."""


class ModelError(KinetreeError, ValueError):
    """An invalid mechanism; the message names the element, the value and the rule that it breaks."""


class InertiaError(ModelError):
    """A mass or rotational inertia that no body can have."""


class GeometryError(ModelError):
    """A shape or mesh that encloses no significant volume, or cannot be read; ``file`` and ``check`` are attributes."""


class TopologyError(ModelError):
    """Bodies and joints that do not form a tree rooted at the world."""


class JointError(ModelError):
    """A joint's own parameters are wrong: a zero axis, an unknown Euler sequence."""


class DuplicateNameError(ModelError):
    """Two elements of one kind have the same name."""


class UnknownNameError(KinetreeError, KeyError):
    """No element has this name. The message lists those that exist and the closest one."""


class FileFormatError(KinetreeError, ValueError):
    """A file cannot be read; ``file`` and ``line`` are attributes and open the message."""


class FileWriteError(KinetreeError, OSError):
    """A file cannot be written; an existing file is unchanged. ``file`` and the system's ``errno`` are attributes."""


class URDFError(FileFormatError):
    """A URDF file breaks the format."""


class MJCFError(FileFormatError):
    """An MJCF file breaks the format, or MuJoCo's compiler refuses it."""


class SDFError(FileFormatError):
    """An SDF file breaks the format."""


class UnsupportedError(KinetreeError, NotImplementedError):
    """A feature that kinetree does not support and does not approximate silently."""


class CompilationError(KinetreeError, RuntimeError):
    """A traced function cannot be compiled."""


class SimulationError(KinetreeError, RuntimeError):
    """A simulation cannot continue: the state is no longer finite, a step size vanished, a controller failed."""


class ContactError(SimulationError):
    """A contact problem is not solved; ``contact`` is the label of the worst one, ``status`` why, ``residuals``."""


class SweepError(KinetreeError, RuntimeError):
    """A sweep cannot go on: its store is of another sweep, the cluster is lost, chunks fail; finished ones are kept."""


class MemoryLimitError(KinetreeError, MemoryError):
    """A run would not fit into memory; ``needed`` and ``available`` are attributes [bytes]."""

    def __new__(cls, *args, **attributes):  # MemoryError's own refuses this class, where an error is unpickled by it
        return Exception.__new__(cls, *args)


class NonFiniteForceError(SimulationError, NonFiniteError):
    """Joint forces that act in a simulation, or that a controller returned, contain NaN or infinity."""


class MissingDependencyError(KinetreeError, ImportError):
    """An optional package is needed; the message contains the command that installs it."""


def closest(name: str, names: Iterable[str]) -> list[str]:
    """The most similar name, in a list, which is empty if none is similar.

    Comparing takes long: of very many names the first ones are compared, and long ones not at all.

    Parameters
    ----------
    name : str
    names : iterable of str

    Examples
    --------
    >>> closest("elbwo", ["shoulder", "elbow"])
    ['elbow']
    >>> closest("biceps", ["triceps.excitation", "biceps.excitation"])
    ['biceps.excitation']
    """
    if len(name) > _LONGEST_COMPARED:
        return []
    short = [other for other in itertools.islice(names, _MOST_COMPARED) if len(other) <= _LONGEST_COMPARED]
    if parts := [other for other in short if name and other.startswith(f"{name}.")]:
        return parts[:1]
    return difflib.get_close_matches(name, short, n=1)


def unknown_name(kind: str, name: str, valid: Iterable[str], where: str) -> UnknownNameError:
    """Build the error for an unknown name, with the closest valid one and a list of all.

    Parameters
    ----------
    kind : str
        Kind of the element: "body", "joint", "frame".
    name : str
        The name that was not found.
    valid : iterable of str
        The names that exist.
    where : str
        Where they exist, for example "model 'panda'".

    Examples
    --------
    >>> import kinetree as kt
    >>> print(kt.errors.unknown_name("joint", "elbwo", ["shoulder", "elbow"], "model 'arm'"))
    no joint named 'elbwo' in model 'arm'. Did you mean 'elbow'? Known: shoulder, elbow.
    """
    names = [str(entry) for entry in valid]
    close = closest(str(name), names)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    return UnknownNameError(
        f"no {kind} named {name!r} in {where}.{hint} Known: {shown or 'none'}.", kind=kind, name=name, valid=names
    )
