"""The CPython builtin: one state evaluated at the cost of a few dozen nanoseconds around the arithmetic.

The function ``kinetree_call(self, args, nargs)`` is compiled into the kernel's own module and follows CPython's
METH_FASTCALL convention, so a call from Python reaches the straight-line code without any argument parsing.

* ``f(a0, a1, ..., out0, ...)`` writes into the outputs given; ``f(a0, a1, ...)`` makes new ones. Both return the
  output, or a tuple of outputs when the program has several.
* Every array must be exactly a `numpy.ndarray` of the kernel's dtype and the declared shape, C-contiguous and aligned,
  outputs writeable and apart from all other arrays. A single number, such as a step, may also be a float or int of
  Python or a scalar of NumPy (`llvm_python`). For anything else, and when the status is not zero, it returns
  ``NotImplemented``, and the caller takes the general path, which explains.
"""

from __future__ import annotations

from kinetree.native.builtin import CONTEXT, NUMBER, READABLE, ROOM, WRITEABLE
from kinetree.native.llvm_code import Value
from kinetree.native.llvm_module import STACK, Module, make_frame
from kinetree.native.llvm_python import PythonFunction, number_ir

Shape = tuple[int, ...]


def emit_builtin(module: Module) -> None:
    """Add ``kinetree_call``."""
    inputs, outputs = module.program.inputs, module.program.outputs
    if not outputs:
        return
    if any(not shape for _, shape in inputs):
        module.parts.append(number_ir())
    for shape in sorted({shape for _, shape in (*inputs, *outputs)}):
        values = ", ".join(f"i64 {n}" for n in shape)
        module.parts.append(f"{_table(shape)} = internal constant [{max(len(shape), 1)} x i64] [{values or 'i64 0'}]")
    module.parts.append(_Call(module).written())


def _table(shape: Shape) -> str:
    """Name of the constant that holds a shape."""
    return "@shape_" + "x".join(map(str, shape))


class _Call(PythonFunction):
    """``kinetree_call``; its parts share the pointers of the context."""

    def __init__(self, module: Module) -> None:
        super().__init__("kinetree_call")
        self.module = module
        self.inputs = [shape for _, shape in module.program.inputs]
        self.outputs = [shape for _, shape in module.program.outputs]
        # The frame is made at the entry, where the stack is set up once.
        frame = module.state_frame
        if frame <= STACK:
            self.frame = make_frame(self, frame)
        numbers = [k for k, shape in enumerate(self.inputs) if not shape]
        self.number_rooms = {k: self.do("ptr", f"alloca [{ROOM} x i8], align 16") for k in numbers}
        context = self.read(self.owner, "data")
        self.known = {name: context.at(k, "ptr").load("ptr") for k, name in enumerate(CONTEXT)}
        self.number_pointers = context.at(CONTEXT.index(NUMBER[0]), "ptr")
        if frame > STACK:
            self.frame = make_frame(self, frame, self.known["heap"])
        self.given = self.nargs.equals(len(self.inputs) + len(self.outputs))
        self.require(self.given | self.nargs.equals(len(self.inputs)))

    def pointer(self, name: str) -> Value:
        return self.known[name]

    def written(self) -> str:
        """The whole function."""
        sources = self.read_arrays(0, self.inputs, READABLE)
        self.branch(self.given, "old", "make")
        self.label("old")
        old = self.read_arrays(len(self.inputs), self.outputs, WRITEABLE)
        self.check_apart(sources, old)
        for what, _ in old:
            self.python("void", "incref", what)
        taken = self.block
        self.go("run")
        self.label("make")
        new: list[tuple[Value, Value]] = []
        for shape in self.outputs:
            new.append(self.make_output(shape, new))
        made = self.block
        self.go("run")
        self.label("run")
        results, places = (
            [self.phi("ptr", (a[k], taken), (b[k], made)) for a, b in zip(old, new, strict=True)] for k in (0, 1)
        )
        data = [place for _, place in sources]
        status = self.call("i32", "@state", *data, *places, self.known["params"], self.frame)
        self.branch(status.equals(0), "good", "bad")
        self.return_results(results)
        return self.refuse()

    def read_arrays(self, first: int, shapes: list[Shape], flags: int) -> list[tuple[Value, Value]]:
        """The arguments from a place on, each with its data, once it is certain that they are as declared."""
        found, checks = [], []
        for k, _ in enumerate(shapes, first):
            what = self.args.at(k, "ptr").load("ptr")
            if k in self.number_rooms:
                item = self.value("i64", str(self.module.scalar.size))
                what = self.array_for(what, self.number_rooms[k], self.number_pointers, item)
            checks.append(self.read(what, "type").equals(self.known["array_type"]))
            found.append(what)
        self.require_all(checks)  # nothing else may be read from objects that are not arrays
        arrays, checks = [], []
        for what, shape in zip(found, shapes, strict=True):
            arrays.append((what, self.read(what, "data")))
            checks += self.check_fields(what, shape, flags)
        self.require_all(checks)
        return arrays

    def check_fields(self, what: Value, shape: Shape, flags: int) -> list[Value]:
        """Truth values that all hold when the array is as declared.

        The shape is read only for the declared number of axes; where the array has fewer, this reads NumPy's own memory
        (strides stand behind shapes), and the number of axes refuses the array anyway. An array without axes has no
        shape to read, so that field is replaced by a valid address first.
        """
        field = {name: self.read(what, name) for name in ("nd", "shape", "descr", "flags")}
        same_axes = field["nd"].equals(len(shape))
        checks = [same_axes, field["descr"].equals(self.known["descr"]), (field["flags"] & flags).equals(flags)]
        if shape:
            sizes = same_axes.select(field["shape"], self.value("ptr", _table(shape)))
            checks += [sizes.at(axis, "i64").load().equals(size) for axis, size in enumerate(shape)]
        return checks

    def check_apart(self, sources: list[tuple[Value, Value]], results: list[tuple[Value, Value]]) -> None:
        """Refuse outputs that overlap another array."""
        sizes = (*self.module.input_sizes, *self.module.output_sizes)
        extents = []
        for (_, data), size in zip((*sources, *results), sizes, strict=True):
            start = data.cast("ptrtoint", "i64")
            extents.append((start, start + size * self.module.scalar.size))
        checks = []
        for k in range(len(sources), len(extents)):
            start, end = extents[k]
            checks += (end.compare("ule", a) | b.compare("ule", start) for a, b in extents[:k])
        self.require_all(checks)

    def make_output(self, shape: Shape, before: list[tuple[Value, Value]]) -> tuple[Value, Value]:
        """A new array and its data; where there is no memory for it, those before are given back."""
        new = self.new_array(self.value("i32", str(len(shape))), self.value("ptr", _table(shape)))
        label = self.name()
        self.branch(new.is_null(), f"{label}undo", f"{label}made")
        self.label(f"{label}undo")
        self.give_back([what for what, _ in before])
        self.give(self.null)
        self.label(f"{label}made")
        return new, self.read(new, "data")

    def return_results(self, results: list[Value]) -> None:
        """The array, or a tuple of them; where the status is not zero the arrays are given back."""
        count = len(results)
        self.label("bad")
        self.give_back(results)
        self.go("refuse")
        self.label("good")
        if count == 1:
            self.give(results[0])
        else:
            both = self.python("ptr", "tuple_new", self.pointer("tuple_type"), self.value("i64", str(count)))
            self.branch(both.is_null(), "release", "fill")
            self.label("release")
            self.give_back(results)
            self.give(self.null)
            self.label("fill")
            for k, what in enumerate(results):
                self.python("i32", "tuple_set", both, self.value("i64", str(k)), what)
            self.give(both)

    def give_back(self, objects: list[Value]) -> None:
        for what in objects:
            self.python("void", "decref", what)

    def require_all(self, conditions: list[Value]) -> None:
        """Go on if all hold, else refuse: one branch, which is always predicted."""
        total = self.value("i1", "true")
        for condition in conditions:
            total = total & condition
        self.require(total)
