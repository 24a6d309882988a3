"""Code shared by compiled functions of Python: objects are read and made, and a number may stand for an array.

``kinetree_number(x, room, table, item) -> ptr`` is x itself, or an array without axes that stands for it. A float of
Python, a scalar of NumPy in the precision of the kernel and an int that is a double exactly become an array object in
``room`` with the fields that are looked at (`FIELDS`), so that the checks of arrays need no case for numbers.
``table`` holds the pointers of `NUMBER`, ``item`` is the size of the kernel's numbers.
"""

from __future__ import annotations

from kinetree.native.builtin import FIELDS, NUMBER, READABLE, ROOM, VALUE
from kinetree.native.llvm_code import Code, Value

_KINDS = {"type": "ptr", "data": "ptr", "nd": "i32", "shape": "ptr", "descr": "ptr", "flags": "i32"}


class PythonFunction(Code):
    """A function of CPython's METH_FASTCALL convention.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"ptr @{name}", "ptr %self, ptr %args, i64 %nargs")
        owner, self.args, self.nargs = self.arguments
        self.null = self.value("ptr", "null")
        self.owner = owner

    def pointer(self, name: str) -> Value:
        """A pointer that the function's table has."""
        raise NotImplementedError

    def read(self, what: Value, field: str) -> Value:
        """A field of an array object."""
        return what.at(FIELDS[field]).load(_KINDS[field])

    def python(self, kind: str, name: str, *arguments: Value) -> Value:
        """A call of a function of the interpreter or of NumPy."""
        return self.call(kind, self.pointer(name), *arguments, convention="")

    def array_for(self, what: Value, room: Value, numbers: Value, item: Value) -> Value:
        """An argument, or the array that stands for a number."""
        return self.call("ptr", "@kinetree_number", what, room, numbers, item, convention="")

    def new_array(self, axes: Value, shape: Value) -> Value:
        """A new array; null where there is no memory for it."""
        descr, nothing = self.pointer("descr"), self.value("i32", "0")
        self.python("void", "incref", descr)  # the constructor takes a reference to it
        given = self.pointer("array_type"), descr, axes, shape, self.null, self.null, nothing, self.null
        return self.python("ptr", "new_array", *given)

    def refuse(self) -> str:
        """The function, with the block "refuse" as its end: it returns ``NotImplemented``."""
        self.label("refuse")
        refused = self.pointer("not_implemented")
        self.python("void", "incref", refused)
        self.give(refused)
        return self.text()


def number_ir() -> str:
    """The text of the function."""
    code = Code("internal ptr @kinetree_number", "ptr %x, ptr %room, ptr %table, i64 %item")
    x, room, table, item = code.arguments
    kind = x.at(FIELDS["type"]).load("ptr")
    known = {name: table.at(k, "ptr").load("ptr") for k, name in enumerate(NUMBER)}
    given, place, wide = x.at(VALUE), room.at(ROOM - 8), item.equals(8)
    code.branch(kind.equals(known["array_type"]), "itself", "look")
    code.label("look")
    code.branch(kind.equals(known["float_type"]), "double", "scalar")
    code.label("scalar")
    code.branch(kind.equals(known["number_type"]), "own", "whole")
    code.label("own")
    code.branch(wide, "double", "single")
    code.label("single")
    place.store(given.load("float"))
    code.go("made")
    code.label("double")
    read = given.load("double")
    code.go("keep")
    code.label("whole")
    code.branch(kind.equals(known["int_type"]), "convert", "itself")
    code.label("convert")
    converted = code.call("double", known["int_value"], x, convention="")
    code.branch(converted.equals(-1.0), "clear", "range")  # -1 is also the result for an int beyond all doubles
    code.label("clear")
    code.call("void", known["clear_error"], convention="")
    code.go("itself")
    code.label("range")
    code.branch((converted <= 2.0**53) & (converted >= -(2.0**53)), "keep", "itself")
    code.label("keep")
    value = code.phi("double", (read, "double"), (converted, "range"))
    code.either(wide, lambda: place.store(value), lambda: place.store(value.cast("fptrunc", "float")))
    code.go("made")
    code.label("made")
    null, zero, flags = code.value("ptr", "null"), code.value("i32", "0"), code.value("i32", str(READABLE))
    array = {"type": known["array_type"], "data": place, "nd": zero, "shape": null, "descr": known["descr"]}
    for name, content in {**array, "flags": flags}.items():
        room.at(FIELDS[name]).store(content)
    code.give(room)
    code.label("itself")
    code.give(x)
    return code.text()
