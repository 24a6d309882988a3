"""Names that a reader invents, which never take one that the file gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from kinetree.errors import DuplicateNameError

BASE_JOINT = "root_joint"


class Names:
    """Names of one kind, which never clash.

    Parameters
    ----------
    taken : iterable of str
        Names that are used already.
    """

    __slots__ = ("_numbers", "_taken")

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # of each wish: all below are taken

    def new(self, wish: str) -> str:
        """The wish itself if it is free, else with a number after it; taken from now on."""
        name, number = wish, self._numbers.get(wish, 2)
        while name in self._taken:
            name, number = f"{wish}_{number}", number + 1
        self._numbers[wish] = number
        self._taken.add(name)
        return name


def base_joint_name(
    wish: str, names: Names, in_file: Collection[str], fail: Callable[..., Exception], note: Callable[[str], None]
) -> str:
    """The name of a free joint that a reader adds.

    Parameters
    ----------
    wish : str
        The option ``base_joint``.
    names : Names
        Of all joints.
    in_file : collection of str
        Those that the file gives, to joints that are merged, too.
    fail : callable
        ``fail(message, error type, code=, repair=, ...)`` builds an error with its place.
    note : callable
        Is called with a name that is not the default's, because the file has that.

    Raises
    ------
    DuplicateNameError
        The requested name belongs to another joint of the file.
    """
    if wish in in_file and wish != BASE_JOINT:
        raise fail(
            f"base_joint={wish!r} is the name of another joint of the file",
            DuplicateNameError,
            code="duplicate-name",
            repair="choose a name that no joint has, fixed ones included",
            joint=wish,
        )
    name = names.new(wish)
    if wish in in_file:
        note(f"the free joint of the base is named '{name}', for the file has a joint '{wish}'")
    return name
