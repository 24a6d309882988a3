"""Registries of kinds: classes under the names of their kinds, unique, and of one base class."""

from __future__ import annotations

from kinetree.errors import DuplicateNameError, KinetreeError


def enter(registry: dict[str, type], base: type, cls: type, word: str, error: type[KinetreeError]) -> type:
    """Enter a class into a registry under its ``kind``, and return it.

    Parameters
    ----------
    registry : dict
        Kind -> class.
    base : type
        The contract, in a module of the package that exports it.
    cls : subclass of base
    word : str
        The thing in messages: "joint".
    error : type
        Raised if ``cls`` is no such class.

    Raises
    ------
    DuplicateNameError
        If another class has this kind.
    """
    if not (isinstance(cls, type) and issubclass(cls, base)):
        package = base.__module__.rpartition(".")[0]
        raise error(f"register: {cls!r} is not a subclass of {package}.{base.__name__}.", cls=cls)
    present = registry.setdefault(cls.kind, cls)
    if present is not cls:
        raise DuplicateNameError(
            f"register: {word} kind {cls.kind!r} of class {cls.__name__} is already that of {present.__name__}; "
            f"set a different `kind` in {cls.__name__}. Known: {', '.join(registry)}.",
            kind=cls.kind,
        )
    return cls
