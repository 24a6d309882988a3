"""Drivers: machine code compiled once and shared by all kernels.

Kernels supply ``kinetree_batch`` (`llvm_batch`); a driver finds its address and the arrays in a table of 64-bit
integers, so a new kernel costs no further compilation.

* ``kinetree_batch_entry(self, args, nargs)`` is a CPython builtin for batches: it reads the array objects, makes the
  results, releases the GIL if there are many states, and calls the kernel. Its table is the builtin's ``self``.
* ``kinetree_share(job, heap) -> i32`` evaluates blocks of a batch until none is left. Several threads call it with one
  job; the next block is an atomic counter, so no thread waits for another, and none needs the GIL between blocks.
* ``kinetree_rollout(job, memory, heap) -> i32`` does the same for rollouts: it takes tiles of states through all steps
  of time. The states of the tile never leave the first-level cache, only recorded values are written.
* ``kinetree_indexed(job, memory, heap) -> i32`` evaluates a batch whose rows are taken from arrays, and put into
  arrays, by tables of row numbers, one tile after the other: results of a tile are inputs of the next.
* ``kinetree_sweeps(job) -> i32`` repeats such a batch until its changes are small, with a second one between: block
  Gauss-Seidel, accelerated as conjugate gradients are. It returns the number of sweeps.
* ``kinetree_vectorcall(self, args, nargs, names)`` is ``f(q, v, a)`` and ``f(q, v, a, out=tau)`` (`vectorcall`), by
  CPython's convention METH_FASTCALL | METH_KEYWORDS. It calls the entry with the arrays, ``out`` as the last of them if
  that is the only keyword; when the entry refuses, or for all other arguments, it passes them on to the fallback, an
  object of Python.

Variables of loops are kept in stack memory: the code runs once per call, or once per tile.
"""

from __future__ import annotations

from kinetree.native.builtin import (
    BATCH_ENTRY,
    ENTRY_ARRAY,
    FIELDS,
    INDEXED,
    MAX_ARRAYS,
    MAX_AXES,
    NUMBER,
    READABLE,
    ROLLOUT,
    ROOM,
    SHARE,
    SWEEPS,
    TUPLE_ITEMS,
    TUPLE_SIZE,
    VECTORCALL,
    WRITEABLE,
)
from kinetree.native.llvm_code import ATTRIBUTES, Code, Value
from kinetree.native.llvm_python import PythonFunction, number_ir

_NUMBERS = frozenset(("next", "n", "block", "inputs", "outputs", "states", "steps", "every", "bytes", "most"))
"""Entries of tables that are not pointers."""


def driver_ir(triple: str) -> str:
    """The text of the module, for a platform by LLVM's name."""
    functions = _BatchEntry().written(), _share(), _copy(), _rollout(), _indexed(), _sweeps(), _vectorcall()
    return "\n\n".join([f'target triple = "{triple}"', number_ir(), *functions, ATTRIBUTES, ""])


def _table(at: Value, names: tuple[str, ...]) -> list[Value]:
    """The entries of a table."""
    return [at.at(k, "i64").load("i64" if name in _NUMBERS else "ptr") for k, name in enumerate(names)]


class _BatchEntry(PythonFunction):
    """``kinetree_batch_entry``; its parts share attributes: the table's numbers, and places on the stack."""

    def __init__(self) -> None:
        super().__init__("kinetree_batch_entry")
        self.data, self.stride, self.ends, self.made = (self.room("i64", MAX_ARRAYS) for _ in range(4))
        self.lead_at, self.shape_at, self.count_at = self.room("i64"), self.room("ptr"), self.room("i64")
        self.made_count, self.dims = self.room("i64"), self.room("i64", 64)
        self.table = self.read(self.owner, "data")
        self.inputs, self.outputs, self.item = self.number("inputs"), self.number("outputs"), self.number("item")
        self.given = self.nargs.equals(self.inputs + self.outputs)
        self.require(self.given | self.nargs.equals(self.inputs))

    def number(self, name: str) -> Value:
        return self.table.at(BATCH_ENTRY.index(name), "i64").load()

    def pointer(self, name: str) -> Value:
        return self.table.at(BATCH_ENTRY.index(name), "i64").load("ptr")

    def written(self) -> str:
        """The whole function."""
        self.read_arrays()
        self.count_states()
        self.choose_variant()
        self.branch(self.given, "apart", "make")
        self.label("apart")
        self.check_apart()
        with self.loop(self.outputs) as j:
            what = self.args.at(j + self.inputs, "ptr").load("ptr")
            self.python("void", "incref", what)
            self.made.at(j, "ptr").store(what)
        self.go("run")
        self.label("make")
        self.make_outputs()
        self.go("run")
        self.label("run")
        self.run()
        self.return_results()
        return self.refuse()

    def read_arrays(self) -> None:
        """Check every argument and keep where its data are; the first batched input gives the leading axes."""
        self.lead_at.store(0)
        self.shapes = self.table.at(len(BATCH_ENTRY), "i64")
        kind = f"[{ROOM} x i8]"
        rooms = self.room(kind, MAX_ARRAYS)
        numbers = self.table.at(BATCH_ENTRY.index(NUMBER[0]), "i64")
        with self.loop(self.nargs) as k:  # nothing may be read from an object before its type is known
            what = self.array_for(self.args.at(k, "ptr").load("ptr"), rooms.at(k, kind), numbers, self.item)
            self.require(self.read(what, "type").equals(self.pointer("array_type")))
            self.require(self.read(what, "descr").equals(self.pointer("descr")))
            is_input = k < self.inputs
            wanted = is_input.select(READABLE, WRITEABLE, "i32")
            self.require((self.read(what, "flags") & wanted).equals(wanted))
            declared = self.shapes.at(k * ENTRY_ARRAY, "i64")
            axes = declared.load()
            lead = self.read(what, "nd").cast("sext", "i64") - axes
            self.require(lead >= 0)
            shape = self.read(what, "shape")
            with self.loop(axes) as j:
                found = shape.at(lead + j, "i64").load()
                self.require(found.equals(declared.at(j + 2, "i64").load()))
            self.data.at(k, "i64").store(self.read(what, "data"))
            self.compare_lead(self.stride.at(k, "i64"), lead, shape, declared, is_input)

    def compare_lead(self, stride: Value, lead: Value, shape: Value, declared: Value, is_input: Value) -> None:
        """Keep the row stride of an array: 0 for an input of all states, else its leading axes are the batch's."""
        known = self.lead_at.load()
        first = known.equals(0) & is_input

        def begin() -> None:
            self.lead_at.store(lead)
            self.shape_at.store(shape)
            self.require(lead <= 64 - MAX_AXES)

        def compare() -> None:
            self.require(lead.equals(known))
            self.require(lead > 0)
            batch_shape = self.shape_at.load("ptr")
            with self.loop(lead) as j:
                self.require(shape.at(j, "i64").load().equals(batch_shape.at(j, "i64").load()))

        def keep() -> None:
            stride.store(declared.at(1, "i64").load())
            self.either(first, begin, compare)

        self.either(lead.equals(0) & is_input, lambda: stride.store(0), keep)

    def count_states(self) -> None:
        self.lead = self.lead_at.load()
        self.require(self.lead > 0)
        self.count_at.store(1)
        shape = self.shape_at.load("ptr")
        with self.loop(self.lead) as j:
            axis = shape.at(j, "i64").load()
            self.dims.at(j, "i64").store(axis)
            self.count_at.store(self.count_at.load() * axis)
        self.n = self.count_at.load()
        self.require(self.n > 0)
        self.require(self.n <= self.number("most"))

    def choose_variant(self) -> None:
        """One state goes to the scalar variant where it is there."""
        self.batch, self.scalar = self.pointer("batch"), self.pointer("scalar")
        self.alone = self.n.equals(1) & self.scalar.compare("ne", self.null)
        self.require(self.alone | self.batch.compare("ne", self.null))

    def check_apart(self) -> None:
        """Refuse outputs that overlap another array."""
        with self.loop(self.nargs) as k:
            size = self.shapes.at(k * ENTRY_ARRAY + 1, "i64").load()
            rows = self.stride.at(k, "i64").load().equals(0).select(1, self.n)
            extent = size * rows * self.item
            start = self.data.at(k, "i64").load()
            end = start + extent
            self.ends.at(k, "i64").store(end)
            with self.loop((k < self.inputs).select(0, k)) as j:
                before = end.compare("ule", self.data.at(j, "i64").load())
                self.require(before | self.ends.at(j, "i64").load().compare("ule", start))

    def make_outputs(self) -> None:
        self.made_count.store(0)
        with self.loop(self.outputs) as j:
            place = j + self.inputs
            declared = self.shapes.at(place * ENTRY_ARRAY, "i64")
            axes = declared.load()
            with self.loop(axes) as a:
                self.dims.at(self.lead + a, "i64").store(declared.at(a + 2, "i64").load())
            nd = (self.lead + axes).cast("trunc", "i32")
            what = self.new_array(nd, self.dims)
            self.require(what.compare("ne", self.null), "failed")
            self.made.at(j, "ptr").store(what)
            self.made_count.store(j + 1)
            self.data.at(place, "i64").store(self.read(what, "data"))

    def run(self) -> None:
        """Call the kernel, without the GIL if there are many states, with memory for large frames."""
        params, results = self.pointer("params"), self.data.at(self.inputs, "i64")
        status_at, heap_at = self.room("i32"), self.room("ptr")
        heap_at.store(self.null)
        size = self.alone.select(self.number("scalar_heap"), self.number("batch_heap"))
        with self.only_if(size.equals(0), holds=False):
            memory = self.python("ptr", "allocate", size + 63)
            heap_at.store(memory)
            self.require(memory.compare("ne", self.null), "bad")
        heap = (heap_at.load("ptr").cast("ptrtoint", "i64") + 63 & -64).cast("inttoptr", "ptr")

        def one() -> None:
            status_at.store(self.call("i32", self.scalar, self.data, results, params, heap, convention=""))

        def many() -> None:
            given = self.data, self.stride, results, self.n, params, heap, self.n
            status_at.store(self.call("i32", self.batch, *given, convention=""))

        def released() -> None:
            state = self.python("ptr", "save_thread")
            many()
            self.python("void", "restore_thread", state)

        self.either(self.alone, one, lambda: self.either(self.n >= self.number("release"), released, many))
        self.python("void", "free", heap_at.load("ptr"))
        self.branch(status_at.load("i32").equals(0), "good", "bad")

    def return_results(self) -> None:
        """The array, or a tuple of them; where the status is not 0 the arrays are given back."""
        self.label("bad")
        self.give_back(self.outputs)
        self.go("refuse")
        self.label("good")
        only = self.made.load("ptr")
        self.branch(self.outputs.equals(1), "alone", "several")
        self.label("alone")
        self.give(only)
        self.label("several")
        both = self.python("ptr", "tuple_new", self.pointer("tuple_type"), self.outputs)
        self.made_count.store(self.outputs)
        self.require(both.compare("ne", self.null), "failed")
        with self.loop(self.outputs) as j:
            self.python("i32", "tuple_set", both, j, self.made.at(j, "ptr").load("ptr"))
        self.give(both)
        self.label("failed")
        self.give_back(self.made_count.load())
        self.give(self.null)

    def give_back(self, count: Value) -> None:
        with self.loop(count) as j:
            self.python("void", "decref", self.made.at(j, "ptr").load("ptr"))


def _share() -> str:
    code = Code("i32 @kinetree_share", "ptr %job, ptr %heap")
    job, heap = code.arguments
    data, stride, status = code.room("i64", MAX_ARRAYS), code.room("i64", MAX_ARRAYS), code.room("i32")
    _, n, block, batch, params, inputs, outputs = _table(job, SHARE)
    arrays, both, results = job.at(len(SHARE), "i64"), inputs + outputs, data.at(inputs, "i64")
    status.store(code.value("i32", "0"))
    first, count = _claim(code, job, n, block)
    with code.loop(both) as k:
        start, distance, entries = _entry(arrays, k, 3)
        data.at(k, "i64").store(start.load() + first * distance.load())
        stride.at(k, "i64").store(entries.load())
    found = code.call("i32", batch, data, stride, results, count, params, heap, n, convention="")
    status.store(status.load("i32") | found)
    code.go("claim")
    code.label("none")
    code.give(status.load("i32"))
    return code.text()


def _entry(arrays: Value, k: Value, size: int) -> list[Value]:
    """The places of the numbers that a job has for array k."""
    entry = arrays.at(k * size, "i64")
    return [entry.at(place, "i64") for place in range(size)]


def _claim(code: Code, job: Value, n: Value, block: Value) -> tuple[Value, Value]:
    """Take the next block: its first state and their number; on to ``none`` when all are taken."""
    code.go("claim")
    code.label("claim")
    first = code.do("i64", f"atomicrmw add {job}, {block} monotonic")
    code.require(first < n, "none")
    rest = n - first
    return first, (rest < block).select(rest, block)


def _copy() -> str:
    code = Code("internal fastcc void @copy", "ptr %to, ptr %from, i64 %bytes")
    target, source, size = code.arguments

    def words() -> None:
        with code.loop(size >> 2) as k:
            target.at(k, "i32").store(source.at(k, "i32").load("i32", 4), 4)

    def wide() -> None:
        with code.cover(size - 32, 32) as k:
            target.at(k).store(source.at(k).load("<8 x i32>", 4), 4)

    code.either(size < 32, words, wide)
    code.give()
    return code.text()


def _rollout() -> str:
    code = Code("i32 @kinetree_rollout", "ptr %job, ptr %memory, ptr %heap")
    job, memory, heap = code.arguments
    data, stride, after = (code.room("i64", MAX_ARRAYS) for _ in range(3))
    memory_at, wait, row = code.room("ptr"), code.room("i64"), code.room("i64")
    _, n, block, batch, params, states, inputs, steps, every = _table(job, ROLLOUT)
    of_states = job.at(len(ROLLOUT), "i64")
    of_inputs = of_states.at(states * 7, "i64")
    first, count = _claim(code, job, n, block)
    memory_at.store(memory)
    with code.loop(states) as s:
        width, entries, start, apart, *_ = _entry(of_states, s, 7)
        width = width.load()
        tile, here = width * block, memory_at.load("ptr")
        there = here.at(tile)
        data.at(s, "ptr").store(here)
        after.at(s, "ptr").store(there)
        memory_at.store(there.at(tile))
        stride.at(s, "i64").store(entries.load())
        start = start.load("ptr")
        with code.loop(count) as r:
            source = start.at((first + r) * apart.load())
            code.call("void", "@copy", here.at(r * width), source, width)
    _record(code, of_states, states, first, count, data, code.value("i64", "0"))
    with code.loop(inputs) as d:
        start, distance, entries, _ = _entry(of_inputs, d, 4)
        k = states + d
        data.at(k, "i64").store(start.load() + first * distance.load())
        stride.at(k, "i64").store(entries.load())
    wait.store(every)
    row.store(1)
    with code.loop(steps):
        status = code.call("i32", batch, data, stride, after, count, params, heap, count, convention="")
        code.require(status.equals(0), "broken")
        with code.loop(states) as s:
            places = data.at(s, "i64"), after.at(s, "i64")
            old, new = (place.load() for place in places)
            places[0].store(new)
            places[1].store(old)
        with code.loop(inputs) as d:
            place = data.at(states + d, "i64")
            place.store(place.load() + _entry(of_inputs, d, 4)[3].load())
        left = wait.load() - 1
        wait.store(left)
        with code.only_if(left.equals(0)):
            wait.store(every)
            _record(code, of_states, states, first, count, data, row.load())
            row.store(row.load() + 1)
    code.go("claim")
    code.label("broken")
    code.give(status)
    code.label("none")
    code.give(code.value("i32", "0"))
    return code.text()


def _record(code: Code, of_states: Value, states: Value, first: Value, count: Value, data: Value, row: Value) -> None:
    """Copy the states of the tile to a row of each one's record."""
    with code.loop(states) as s:
        width, _, _, _, record, apart, step = _entry(of_states, s, 7)
        width, here, apart = width.load(), data.at(s, "ptr").load("ptr"), apart.load()
        target = record.load("ptr").at(row * step.load())
        with code.loop(count) as r:
            code.call("void", "@copy", target.at((first + r) * apart), here.at(r * width), width)


def _indexed() -> str:
    code = Code("i32 @kinetree_indexed", "ptr %job, ptr %memory, ptr %heap")
    job, memory, heap = code.arguments
    data, stride = code.room("i64", MAX_ARRAYS), code.room("i64", MAX_ARRAYS)
    memory_at, first_at, status = code.room("ptr"), code.room("i64"), code.room("i32")
    n, block, batch, params, inputs, outputs = _table(job, INDEXED)
    arrays = job.at(len(INDEXED), "i64")
    status.store(code.value("i32", "0"))
    first_at.store(0)
    code.go("tile")
    code.label("tile")
    first = first_at.load()
    code.require(first < n, "none")
    first_at.store(first + block)
    count = (n - first < block).select(n - first, block)
    memory_at.store(memory)
    with code.loop(inputs + outputs) as k:
        start, width, entries, rows = (place.load() for place in _entry(arrays, k, 4))
        stride.at(k, "i64").store(entries)

        def gather(k=k, start=start, width=width, rows=rows) -> None:
            here = memory_at.load("ptr")
            data.at(k, "ptr").store(here)
            memory_at.store(here.at(width * block))
            with code.only_if(k < inputs), code.loop(count) as r:
                row = rows.cast("inttoptr", "ptr").at(first + r, "i64").load()
                code.call("void", "@copy", here.at(r * width), start.cast("inttoptr", "ptr").at(row * width), width)

        def direct(k=k, start=start, width=width) -> None:
            data.at(k, "i64").store(start + first * width)

        code.either(rows.equals(0), direct, gather)
    given = data, stride, data.at(inputs, "i64"), count, params, heap, n
    status.store(status.load("i32") | code.call("i32", batch, *given, convention=""))
    with code.loop(outputs) as j:
        start, width, _, rows = (place.load() for place in _entry(arrays, inputs + j, 4))
        with code.only_if(rows.equals(0), holds=False):
            here = data.at(inputs + j, "ptr").load("ptr")
            with code.loop(count) as r:
                row = rows.cast("inttoptr", "ptr").at(first + r, "i64").load()
                code.call("void", "@copy", start.cast("inttoptr", "ptr").at(row * width), here.at(r * width), width)
    code.go("tile")
    code.label("none")
    code.give(status.load("i32"))
    return code.text()


def _sweeps() -> str:
    code = Code("i32 @kinetree_sweeps", "ptr %job")
    *calls, change, energy, step, direction, factor, tolerance, n, size, most = _table(code.arguments[0], SWEEPS)
    calls, lanes = (calls[:3], calls[3:]), "<8 x double>"
    done, restless = code.room("i64"), code.room("i1")
    before, total = code.room("double"), code.room(lanes)
    limit = code.splat(tolerance.load("double"), 8)
    before.store(code.value("double", "0.0"))
    done.store(0)
    code.go("sweep")
    code.label("sweep")
    code.call("i32", "@kinetree_indexed", *calls[0], convention="")
    done.store(done.load() + 1)
    restless.store(code.value("i1", "false"))
    total.store(code.value(lanes, "zeroinitializer"))
    with code.loop(n >> 3) as k:
        more = change.at(k, lanes).load(lanes, 8).compare("ugt", limit)  # NaN is a change
        restless.store(restless.load("i1") | more.any())
        total.store(total.load(lanes) + energy.at(k, lanes).load(lanes, 8))
    code.require(restless.load("i1") & (done.load() < most), "done")
    sums = [total.load(lanes).lane(k) for k in range(8)]
    while len(sums) > 1:
        sums = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]
    last = before.load("double")

    def further() -> None:
        factor.store(sums[0] / last)
        code.call("i32", "@kinetree_indexed", *calls[1], convention="")

    code.either(sums[0] < last, further, lambda: code.call("void", "@copy", direction, step, size))
    before.store(sums[0])
    code.go("sweep")
    code.label("done")
    code.give(done.load().cast("trunc", "i32"))
    return code.text()


def _vectorcall() -> str:
    code = Code("ptr @kinetree_vectorcall", "ptr %self, ptr %args, i64 %nargs, ptr %names")
    owner, args, nargs, names = code.arguments
    context = owner.at(FIELDS["data"]).load("ptr")
    entry, entry_self, inputs, out_name, array_type, not_implemented, fallback, vectorcall, decref = _table(
        context, VECTORCALL
    )
    code.require(nargs.equals(inputs), "explain")
    looked = code.block
    code.branch(names.is_null(), "run", "named")
    code.label("named")
    code.require(names.at(TUPLE_SIZE).load().equals(1), "explain")
    is_out = names.at(TUPLE_ITEMS).load("ptr").equals(out_name)
    kind = args.at(nargs, "ptr").load("ptr").at(FIELDS["type"]).load("ptr")
    good, more, keyword = is_out & kind.equals(array_type), nargs + 1, code.block
    code.branch(good, "run", "explain")
    code.label("run")
    count = code.phi("i64", (nargs, looked), (more, keyword))
    result = code.call("ptr", entry, entry_self, args, count, convention="")
    code.branch(result.equals(not_implemented), "drop", "done")
    code.label("done")
    code.give(result)
    code.label("drop")
    code.call("void", decref, result, convention="")
    code.go("explain")
    code.label("explain")
    code.give(code.call("ptr", vectorcall, fallback, args, nargs, names, convention=""))
    return code.text()
