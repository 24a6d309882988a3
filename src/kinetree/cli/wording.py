"""Messages in the words of the command line: options instead of the keywords of functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Advice for callers of functions, and the same for users of the command line.
_SPELLINGS = (
    (re.compile(r"\bunsupported='drop'"), "--drop"),
    (re.compile(r"\bfloating_base=True\b"), "--floating-base"),
    (re.compile(r"\bmodel\.without_unsupported\(\) is a copy without them"), "--tree-only leaves them out"),
    (re.compile(r"\bsimulate model\.without_limits\(\)"), "give --limits ignore"),
    (re.compile(r"\bload (the run|one of them) with Trajectory.load\(path, model=model\)"), "give --robot"),
    (re.compile(r"\bTrajectory.load reads the files of Trajectory.save"), "kinetree simulate --save writes such files"),
    (re.compile(r"\bin load_\w+\(\.\.\., (\w+)=\.\.\.\)"), lambda found: f"for {spelled(found[1])}"),
    (re.compile(r"\bin kt\.save\(\.\.\., (\w+)=\.\.\.\)"), lambda found: f"for {spelled(found[1])}"),
    (re.compile(r"\b(?:no (\w+) named (\S+) in c_source)"), r"no value \2 of --\1"),
    (re.compile(r"\bKnown: None, "), "Known: "),
    (re.compile(r"\brecord=kt\.Record\(period=([\d.e+-]*\d)\) or kt\.Record\(every=\d+\)"), r"--sample-period \1"),
    (re.compile(r"\bkt\.integrators\.Adaptive\('([\w:]+)'\)"), r"--integrator adaptive --method \1"),
    (
        re.compile(r"\b(inertia|massless|inertia_from|limits|meshes|integrator|method|convention)='([\w:]+)'"),
        lambda found: f"{spelled(found[1])} {found[2]}",
    ),
    (re.compile(r"\bpackage_dirs=(?!\w)"), "--package-dir"),
    (re.compile(r"\boverwrite=True\b"), "--overwrite"),
    (re.compile(r"\bclient=False\b"), "--client none"),
    (re.compile(r"\b(sampling|device)='(\w+)'"), lambda found: f"{spelled(found[1])} {found[2]}"),
)
# The function or class whose argument is wrong: users did not call it.
_CALLED = re.compile(
    r"^(?:simulate|Simulation|load_\w+|Adaptive|Record|Inputs|Ground|to_dh|accuracy|compare|mobility|verify|sweep): "
)


def spelled(name: str) -> str:
    """The option of a keyword: ``sample_period`` is ``--sample-period``.

    Parameters
    ----------
    name : str
    """
    return f"--{name.replace('_', '-')}"


def as_options(message: str, options: Iterable[str] = ()) -> str:
    """Advice for callers of functions in the words of the command line.

    Parameters
    ----------
    message : str
        Such as ``simulate: dt is -1, expected ...`` and ``massless='lock'``.
    options : iterable of str
        Keywords of the command, as ``dt``: the message begins with ``--dt is -1`` then.
    """
    for pattern, option in _SPELLINGS:
        message = pattern.sub(option, message)
    message = _CALLED.sub("", message)
    known = {name for name in options if name not in ("robot", "file", "files", "path")}
    names = {name: spelled(name) for name in known}
    if "sample_period" in known:
        names["period"] = "--sample-period"
    if not names:
        return message
    # "dt is ...", "rtol = ...": the value that is wrong comes first. Elsewhere, names that are no words of English.
    first = rf"^({'|'.join(names)})(?= (?:=|(?:is|has|must|gives|draws|leaves|determines|fills)\b))"
    message = re.sub(first, lambda found: names[found[1]], message)
    inside = "|".join(name for name in names if re.search(r"[_\d]|^dt$|tol$", name)) or "(?!)"
    message = re.sub(rf"(?<![-\w.'])({inside})\b=?(?![\w(.'])", lambda found: names[found[1]], message)
    return re.sub(rf"(?<![-\w.'])({'|'.join(names)})=(?=\s)", lambda found: names[found[1]], message)


def usage_message(fault, words: Sequence[str] = ()) -> str:
    """One line of an error of typer about arguments: the fault, and the command whose help has the fix.

    Parameters
    ----------
    fault : ClickException
    words : sequence of str
        The command line, from which the value comes that is wrong.
    """
    text = " ".join(fault.format_message().split()).rstrip(".")
    path = getattr(getattr(fault, "ctx", None), "command_path", "")
    path = " ".join(["kinetree", *path.split()[1:]])
    if found := re.match(r"Invalid value for '?([\w{}-]+)[^:]*?: (.*)", text):
        # Versions of typer differ in the rest of the message, and newer ones do not name the value.
        expected = next((kind for word, kind in _KINDS.items() if word in found[2].lower()), None)
        if bound := re.search(r"(greater|less) than or equal to (\d+)", found[2]):
            expected = f"at {'least' if bound[1] == 'greater' else 'most'} {bound[2]}"
        elif bound := re.search(r"not in the range (\S+)", found[2]):
            expected = bound[1].rstrip(".")
        value = _value_of(found[1], words)
        given = "" if value is None else f" is {value!r},"
        text = f"{found[1].strip('{}')}{given} expected {expected}" if expected else f"{found[1]}{given} {found[2]}"
    end = "" if text.endswith("?") else "."
    return f"{text[:1].lower()}{text[1:]}{end} '{path} --help' describes the options."


_KINDS = {"integer": "a whole number", "number": "a number", "float": "a number"}


def _value_of(option: str, words: Sequence[str]) -> str | None:
    """The value of an option in a command line."""
    for word, following in zip(words, [*words[1:], None], strict=True):
        if word == option:
            return following
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None
