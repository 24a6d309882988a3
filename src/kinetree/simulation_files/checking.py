"""Checks of plain data by the subset of JSON Schema that `schema` uses, with the path of the wrong value in errors.

Not jsonschema: of a value that may have several forms it reports that none matches, without the entry that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.errors import closest

Path = tuple[str | int, ...]
Fail = Callable[[Path, str, str], Exception]
"""Makes the error of a path, a fault and a repair."""

_TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
}  # fmt: skip
_WORDS = {
    "object": "a mapping", "array": "a list", "string": "text", "boolean": "true or false",
    "integer": "a whole number", "number": "a number",
}  # fmt: skip


def check(value: object, schema: dict, fail: Fail, path: Path = ()) -> None:
    """Raise an error for the first value that does not fit.

    Parameters
    ----------
    value : object
    schema : dict
    fail : callable
        ``fail(path, fault, repair)`` returns the error.
    path : tuple of str and int
        Of the value in the file.
    """
    if "anyOf" in schema:
        form = next((form for form in schema["anyOf"] if _has_type(value, form)), None)
        if form is None:
            raise fail(path, f"is {_shown(value)}, expected {expected(schema)}", "")
        check(value, form, fail, path)
    elif "oneOf" in schema:
        check(value, _chosen(value, schema["oneOf"], fail, path), fail, path)
    elif "enum" in schema:
        if value not in schema["enum"] or isinstance(value, bool):
            raise fail(path, f"is {_shown(value)}", _meant(value, schema["enum"]))
    elif "const" not in schema:
        _check_type(value, schema, fail, path)


def _check_type(value: object, schema: dict, fail: Fail, path: Path) -> None:
    """A mapping, list, text or number."""
    if not _has_type(value, schema):
        raise fail(path, f"is {_shown(value)}, expected {expected(schema)}", "")
    if schema["type"] == "object":
        _check_entries(value, schema, fail, path)
    elif schema["type"] == "array":
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not least <= len(value) <= most:
            wanted = str(least) if least == most else f"at least {least}"
            raise fail(path, f"has {len(value)} entries, expected {wanted}", "")
        for k, entry in enumerate(value):
            check(entry, schema["items"], fail, (*path, k))
    elif schema["type"] == "string":
        if len(value) < schema.get("minLength", 0):
            raise fail(path, "is empty, expected text", "")
    elif schema["type"] in ("number", "integer"):
        above, least = schema.get("exclusiveMinimum"), schema.get("minimum")
        most = schema.get("maximum")
        inside = (above is None or value > above) and (least is None or value >= least)
        if not (inside and (most is None or value <= most) and abs(value) < float("inf")):
            raise fail(path, f"is {value}, expected {expected(schema)}", "")


def _check_entries(value: dict, schema: dict, fail: Fail, path: Path) -> None:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", False)
    for key, entry in value.items():
        if key in known:
            check(entry, known[key], fail, (*path, key))
        elif others is False:
            raise fail((*path, key), "is no entry here", _meant(key, known))
        else:
            check(entry, others, fail, (*path, key))
    for key in schema.get("required", ()):
        if key not in value:
            raise fail((*path, key), "is missing", f"Write '{key}: ...', {expected(known[key])}.")


def _chosen(value: object, forms: list[dict], fail: Fail, path: Path) -> dict:
    """The form that the entry ``kind`` chooses."""
    kinds = {form["properties"]["kind"]["const"]: form for form in forms}
    if not isinstance(value, dict):
        raise fail(path, f"is {_shown(value)}, expected a mapping with the entry 'kind'", _meant("", kinds))
    if "kind" not in value:
        raise fail((*path, "kind"), "is missing", _meant("", kinds))
    if value["kind"] not in kinds:
        raise fail((*path, "kind"), f"is {_shown(value['kind'])}", _meant(value["kind"], kinds))
    return kinds[value["kind"]]


def _has_type(value: object, schema: dict) -> bool:
    if "oneOf" in schema:
        return isinstance(value, dict)
    kind = schema["type"]
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def expected(schema: dict) -> str:
    """The values that a schema takes, as words.

    Parameters
    ----------
    schema : dict
    """
    if "anyOf" in schema:
        return " or ".join(expected(form) for form in schema["anyOf"])
    if "oneOf" in schema:
        return "a mapping with the entry 'kind'"
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    word = _WORDS[schema["type"]]
    if schema["type"] == "array":
        count = f" of {schema['minItems']}" if schema.get("minItems") == schema.get("maxItems", -1) else " of"
        inner = [_several(form) for form in schema["items"].get("anyOf", [schema["items"]])]
        return f"{word}{count} {' or '.join(dict.fromkeys(inner))}"
    bounds = {"exclusiveMinimum": "above", "minimum": "of at least", "maximum": "of at most"}
    return " ".join([word, *(f"{text} {schema[key]}" for key, text in bounds.items() if key in schema)])


def _several(form: dict) -> str:
    kinds = {"number": "numbers", "integer": "numbers", "string": "texts", "array": "lists"}
    return kinds.get(form.get("type"), "mappings")


def _meant(word: object, known) -> str:
    close = closest(str(word), [str(name) for name in known])
    return f"Did you mean '{close[0]}'?" if close else f"Known: {', '.join(map(str, known))}."


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
