"""Drivers: machine code that no kernel has for itself, compiled once and shared by all of them.

Kernels supply ``kinetree_batch`` (`llvm_batch`); a driver finds its address and the arrays in a table of 64-bit
integers, so a new kernel costs no further compilation.

* ``kinetree_batch_entry(self, args, nargs)`` is a CPython builtin for batches: it reads the array objects, makes the
  results, releases the GIL if there are many states, and calls the kernel. Its table is the builtin's ``self``.
* ``kinetree_share(job, heap) -> i32`` evaluates blocks of a batch until none is left. Several threads call it with one
  job; the next block is an atomic counter, so no thread waits for another, and none needs the GIL between blocks.
* ``kinetree_rollout(job, memory, heap) -> i32`` does the same for rollouts: it takes tiles of states through all steps
  of time. The states of the tile never leave the first-level cache, only what is recorded is written.

The text is ordinary code with loops, kept in stack memory: it runs once per call, or once per tile.
"""

from __future__ import annotations

from kinetree.native.builtin import NUMBER, ROOM
from kinetree.native.llvm_number import NUMBER_IR

MAX_ARRAYS = 32
"""Arrays of one kernel, inputs and outputs together, that the drivers take."""

MAX_AXES = 4
"""Axes of one array, those of the batch not counted."""

BATCH_ENTRY = (
    *("batch", "scalar", "params", *NUMBER, "not_implemented", "new_array", "incref", "decref"),
    *("tuple_new", "tuple_set", "save_thread", "restore_thread", "allocate", "free"),
    *("inputs", "outputs", "item", "release", "most", "batch_heap", "scalar_heap"),
)
"""Head of the table of ``kinetree_batch_entry``: pointers, then numbers. From ``release`` states on the GIL is
released; more than ``most`` states are refused, and all while ``batch`` is 0; one state goes to ``scalar`` where that
is not 0. The heaps are the bytes that these two need beside their stack. Every array follows, as its number of axes,
its size and its axes."""

ENTRY_ARRAY = 2 + MAX_AXES

SHARE = ("next", "n", "block", "batch", "params", "inputs", "outputs")
"""Head of the job of ``kinetree_share``; then for every input (address, bytes per row, entries per row), for every
output (address, bytes per row, 0)."""

ROLLOUT = ("next", "n", "block", "batch", "params", "states", "inputs", "steps", "every")
"""Head of the job of ``kinetree_rollout``; then for every array of the state (bytes of a row, entries, address of the
first states, bytes between them, address of the record, bytes from one state's record to the next), for every other
input (address, bytes between states, entries between states, bytes between steps)."""

_REFUSE = "refuse"


class _Code:
    """Lines of one function; variables are places on the stack."""

    def __init__(self) -> None:
        self.head: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def do(self, text: str) -> str:
        """An instruction with a result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def say(self, *lines: str) -> None:
        self.lines += [line if line.endswith(":") else "  " + line for line in lines]

    def room(self, kind: str, count: int = 1) -> str:
        name = self.name()
        self.head.append(f"  {name} = alloca {kind}, i64 {count}, align 64")
        return name

    def at(self, base: str, index: object, kind: str = "i64") -> str:
        return self.do(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}")

    def load(self, base: str, index: object = 0, kind: str = "i64") -> str:
        place = base if index == 0 else self.at(base, index, kind)
        return self.do(f"load {kind}, ptr {place}")

    def store(self, value: object, base: str, index: object = 0, kind: str = "i64") -> None:
        place = base if index == 0 else self.at(base, index, kind)
        self.say(f"store {kind} {value}, ptr {place}")

    def field(self, table: str, names: tuple[str, ...], name: str) -> str:
        return self.load(table, names.index(name), "i64")

    def pointer(self, table: str, names: tuple[str, ...], name: str) -> str:
        return self.load(table, names.index(name), "ptr")

    def require(self, condition: str, otherwise: str = _REFUSE) -> None:
        label = self.name()[1:]
        self.say(f"br i1 {condition}, label %{label}, label %{otherwise}", f"{label}:")

    def loop(self, count: str):
        """``with code.loop(n) as k``: the body runs for k = 0 ... n - 1."""
        return _Loop(self, count)

    def function(self, signature: str) -> str:
        begin = [f"define {signature} #0 {{", "entry:", *self.head, "  br label %start", "start:"]
        return "\n".join([*begin, *self.lines, "}"])


class _Loop:
    def __init__(self, code: _Code, count: str) -> None:
        self.code, self.count = code, count

    def __enter__(self) -> str:
        code = self.code
        self.label = code.name()[1:]
        self.place = code.room("i64")
        code.store(0, self.place)
        code.say(f"br label %{self.label}", f"{self.label}:")
        k = code.load(self.place)
        more = code.do(f"icmp slt i64 {k}, {self.count}")
        code.say(f"br i1 {more}, label %{self.label}body, label %{self.label}end", f"{self.label}body:")
        self.k = k
        return k

    def __exit__(self, *_) -> None:
        code = self.code
        code.store(code.do(f"add i64 {self.k}, 1"), self.place)
        code.say(f"br label %{self.label}", f"{self.label}end:")


def driver_ir(triple: str, fields: dict[str, int], readable: int, writeable: int) -> str:
    """The text of the module.

    Parameters
    ----------
    triple : str
        LLVM's name of the platform.
    fields : dict of str to int
        Byte offsets in array objects.
    readable, writeable : int
        Flags that inputs and outputs must have.
    """
    return "\n\n".join(
        [
            f'target triple = "{triple}"',
            NUMBER_IR,
            _BatchEntry(fields, readable, writeable).text(),
            _share(),
            _COPY,
            _rollout(),
            'attributes #0 = { nounwind "no-trapping-math"="true" }',
            "",
        ]
    )


class _BatchEntry(_Code):
    """``kinetree_batch_entry``; its parts share attributes: the table's numbers, and places on the stack."""

    def __init__(self, fields: dict[str, int], readable: int, writeable: int) -> None:
        super().__init__()
        self.fields, self.readable, self.writeable = fields, readable, writeable
        self.data, self.stride, self.ends, self.made = (self.room("i64", MAX_ARRAYS) for _ in range(4))
        self.lead_at, self.shape_at, self.count_at = self.room("i64"), self.room("ptr"), self.room("i64")
        self.made_count, self.dims = self.room("i64"), self.room("i64", 64)
        self.table = self.load(self.at("%self", 16, "i8"), 0, "ptr")
        self.inputs, self.outputs = self.number("inputs"), self.number("outputs")
        self.item, self.refused = self.number("item"), self.address("not_implemented")
        self.array_type, self.descr = self.address("array_type"), self.address("descr")
        self.incref, self.decref = self.address("incref"), self.address("decref")
        both = self.do(f"add i64 {self.inputs}, {self.outputs}")
        self.given = self.do(f"icmp eq i64 %nargs, {both}")
        fresh = self.do(f"icmp eq i64 %nargs, {self.inputs}")
        self.require(self.do(f"or i1 {self.given}, {fresh}"))

    def number(self, name: str) -> str:
        return self.field(self.table, BATCH_ENTRY, name)

    def address(self, name: str) -> str:
        return self.pointer(self.table, BATCH_ENTRY, name)

    def read(self, of: str, name: str, kind: str = "i64") -> str:
        """A field of an array object."""
        return self.load(self.at(of, self.fields[name], "i8"), 0, kind)

    def text(self) -> str:
        """The whole function."""
        self.read_arrays()
        self.count_states()
        self.choose_variant()
        self.say(f"br i1 {self.given}, label %apart, label %make", "apart:")
        self.check_apart()
        with self.loop(self.outputs) as j:
            what = self.load("%args", self.do(f"add i64 {j}, {self.inputs}"), "ptr")
            self.say(f"call void {self.incref}(ptr {what})")
            self.store(what, self.made, j, "ptr")
        self.say("br label %run", "make:")
        self.make_outputs()
        self.say("br label %run", "run:")
        self.run()
        self.return_results()
        return self.function("ptr @kinetree_batch_entry(ptr %self, ptr %args, i64 %nargs)")

    def read_arrays(self) -> None:
        """Check every argument and keep where its data are; the first batched input gives the leading axes."""
        self.store(0, self.lead_at)
        self.shapes = self.at(self.table, len(BATCH_ENTRY))
        rooms = self.room(f"[{ROOM} x i8]", MAX_ARRAYS)
        numbers = self.at(self.table, BATCH_ENTRY.index(NUMBER[0]))
        with self.loop("%nargs") as k:  # nothing may be read from an object before its type is known
            given_object, room = self.load("%args", k, "ptr"), self.at(rooms, k, f"[{ROOM} x i8]")
            number = f"call ptr @kinetree_number(ptr {given_object}, ptr {room}, ptr {numbers}, i64 {self.item})"
            what = self.do(number)
            kind = self.read(what, "type", "ptr")
            self.require(self.do(f"icmp eq ptr {kind}, {self.array_type}"))
            own = self.read(what, "descr", "ptr")
            self.require(self.do(f"icmp eq ptr {own}, {self.descr}"))
            is_input = self.do(f"icmp slt i64 {k}, {self.inputs}")
            wanted = self.do(f"select i1 {is_input}, i32 {self.readable}, i32 {self.writeable}")
            flags = self.read(what, "flags", "i32")
            self.require(self.do(f"icmp eq i32 {self.do(f'and i32 {flags}, {wanted}')}, {wanted}"))
            declared = self.at(self.shapes, self.do(f"mul i64 {k}, {ENTRY_ARRAY}"))
            axes = self.load(declared)
            found = self.read(what, "nd", "i32")
            lead = self.do(f"sub i64 {self.do(f'sext i32 {found} to i64')}, {axes}")
            self.require(self.do(f"icmp sge i64 {lead}, 0"))
            shape = self.read(what, "shape", "ptr")
            with self.loop(axes) as j:
                found = self.load(shape, self.do(f"add i64 {lead}, {j}"))
                expected = self.load(declared, self.do(f"add i64 {j}, 2"))
                self.require(self.do(f"icmp eq i64 {found}, {expected}"))
            self.store(self.read(what, "data"), self.data, k)
            self.compare_lead(k, lead, shape, declared, is_input)

    def compare_lead(self, k: str, lead: str, shape: str, declared: str, is_input: str) -> None:
        """Keep the row stride of an array: 0 for an input of all states, else its leading axes are the batch's."""
        known = self.load(self.lead_at)
        first = self.do(f"and i1 {self.do(f'icmp eq i64 {known}, 0')}, {is_input}")
        label = self.name()[1:]
        single = self.do(f"icmp eq i64 {lead}, 0")
        shared = self.do(f"and i1 {single}, {is_input}")
        self.say(f"br i1 {shared}, label %{label}shared, label %{label}batched", f"{label}shared:")
        self.store(0, self.stride, k)
        self.say(f"br label %{label}done", f"{label}batched:")
        self.store(self.load(declared, 1), self.stride, k)
        self.say(f"br i1 {first}, label %{label}first, label %{label}same", f"{label}first:")
        self.store(lead, self.lead_at)
        self.store(shape, self.shape_at, 0, "ptr")
        self.require(self.do(f"icmp sle i64 {lead}, {64 - MAX_AXES}"))
        self.say(f"br label %{label}done", f"{label}same:")
        self.require(self.do(f"icmp eq i64 {lead}, {known}"))
        self.require(self.do(f"icmp sgt i64 {lead}, 0"))
        batch_shape = self.load(self.shape_at, 0, "ptr")
        with self.loop(lead) as j:
            self.require(self.do(f"icmp eq i64 {self.load(shape, j)}, {self.load(batch_shape, j)}"))
        self.say(f"br label %{label}done", f"{label}done:")

    def count_states(self) -> None:
        self.lead = self.load(self.lead_at)
        self.require(self.do(f"icmp sgt i64 {self.lead}, 0"))
        self.store(1, self.count_at)
        shape = self.load(self.shape_at, 0, "ptr")
        with self.loop(self.lead) as j:
            axis = self.load(shape, j)
            self.store(axis, self.dims, j)
            self.store(self.do(f"mul i64 {self.load(self.count_at)}, {axis}"), self.count_at)
        self.n = self.load(self.count_at)
        self.require(self.do(f"icmp sgt i64 {self.n}, 0"))
        self.require(self.do(f"icmp sle i64 {self.n}, {self.number('most')}"))

    def choose_variant(self) -> None:
        """One state goes to the scalar variant where it is there."""
        self.batch, self.scalar = self.address("batch"), self.address("scalar")
        one, there = self.do(f"icmp eq i64 {self.n}, 1"), self.do(f"icmp ne ptr {self.scalar}, null")
        self.alone = self.do(f"and i1 {one}, {there}")
        self.require(self.do(f"or i1 {self.alone}, {self.do(f'icmp ne ptr {self.batch}, null')}"))

    def check_apart(self) -> None:
        """Refuse outputs that overlap another array."""
        with self.loop("%nargs") as k:
            size = self.load(self.shapes, self.do(f"add i64 {self.do(f'mul i64 {k}, {ENTRY_ARRAY}')}, 1"))
            shared = self.do(f"icmp eq i64 {self.load(self.stride, k)}, 0")
            rows = self.do(f"select i1 {shared}, i64 1, i64 {self.n}")
            extent = self.do(f"mul i64 {self.do(f'mul i64 {size}, {rows}')}, {self.item}")
            start = self.load(self.data, k)
            end = self.do(f"add i64 {start}, {extent}")
            self.store(end, self.ends, k)
            before = self.do(f"select i1 {self.do(f'icmp slt i64 {k}, {self.inputs}')}, i64 0, i64 {k}")
            with self.loop(before) as j:
                clear = self.do(f"icmp ule i64 {end}, {self.load(self.data, j)}")
                beyond = self.do(f"icmp ule i64 {self.load(self.ends, j)}, {start}")
                self.require(self.do(f"or i1 {clear}, {beyond}"))

    def make_outputs(self) -> None:
        new_array = self.address("new_array")
        self.store(0, self.made_count)
        with self.loop(self.outputs) as j:
            place = self.do(f"add i64 {j}, {self.inputs}")
            declared = self.at(self.shapes, self.do(f"mul i64 {place}, {ENTRY_ARRAY}"))
            axes = self.load(declared)
            with self.loop(axes) as a:
                size = self.load(declared, self.do(f"add i64 {a}, 2"))
                self.store(size, self.dims, self.do(f"add i64 {self.lead}, {a}"))
            nd = self.do(f"trunc i64 {self.do(f'add i64 {self.lead}, {axes}')} to i32")
            self.say(f"call void {self.incref}(ptr {self.descr})")  # the constructor takes a reference to it
            what = self.do(
                f"call ptr {new_array}(ptr {self.array_type}, ptr {self.descr}, i32 {nd}, ptr {self.dims}, ptr null, "
                "ptr null, i32 0, ptr null)"
            )
            self.require(self.do(f"icmp ne ptr {what}, null"), "failed")
            self.store(what, self.made, j, "ptr")
            self.store(self.do(f"add i64 {j}, 1"), self.made_count)
            self.store(self.read(what, "data"), self.data, place)

    def run(self) -> None:
        """Call the kernel, without the GIL if there are many states, with memory for large frames."""
        params, results = self.address("params"), self.at(self.data, self.inputs)
        status_at, heap_at = self.room("i32"), self.room("ptr")
        self.store("null", heap_at, 0, "ptr")
        wanted = [self.number(name) for name in ("scalar_heap", "batch_heap")]
        size = self.do(f"select i1 {self.alone}, i64 {wanted[0]}, i64 {wanted[1]}")
        self.say(f"br i1 {self.do(f'icmp eq i64 {size}, 0')}, label %ready, label %allocate", "allocate:")
        memory = self.do(f"call ptr {self.address('allocate')}(i64 {self.do(f'add i64 {size}, 63')})")
        self.store(memory, heap_at, 0, "ptr")
        self.require(self.do(f"icmp ne ptr {memory}, null"), "bad")
        self.say("br label %ready", "ready:")
        address = self.do(f"ptrtoint ptr {self.load(heap_at, 0, 'ptr')} to i64")
        line = self.do(f"and i64 {self.do(f'add i64 {address}, 63')}, -64")
        heap = self.do(f"inttoptr i64 {line} to ptr")
        call = (
            f"call i32 {self.batch}(ptr {self.data}, ptr {self.stride}, ptr {results}, i64 {self.n}, ptr {params}, "
            f"ptr {heap}, i64 {self.n})"
        )
        self.say(f"br i1 {self.alone}, label %one, label %many", "one:")
        single = self.do(f"call i32 {self.scalar}(ptr {self.data}, ptr {results}, ptr {params}, ptr {heap})")
        self.store(single, status_at, 0, "i32")
        self.say("br label %finished", "many:")
        many = self.do(f"icmp sge i64 {self.n}, {self.number('release')}")
        self.say(f"br i1 {many}, label %released, label %held", "released:")
        state = self.do(f"call ptr {self.address('save_thread')}()")
        self.store(self.do(call), status_at, 0, "i32")
        self.say(f"call void {self.address('restore_thread')}(ptr {state})", "br label %finished", "held:")
        self.store(self.do(call), status_at, 0, "i32")
        self.say("br label %finished", "finished:")
        self.say(f"call void {self.address('free')}(ptr {self.load(heap_at, 0, 'ptr')})")
        fine = self.do(f"icmp eq i32 {self.load(status_at, 0, 'i32')}, 0")
        self.say(f"br i1 {fine}, label %good, label %bad")

    def return_results(self) -> None:
        """The array, or a tuple of them; ``NotImplemented`` and the arrays given back where the status is not 0."""
        self.say("bad:")
        self.give_back(self.outputs)
        self.say("br label %refuse", "good:")
        one, only = self.do(f"icmp eq i64 {self.outputs}, 1"), self.load(self.made, 0, "ptr")
        self.say(f"br i1 {one}, label %alone, label %several", "alone:", f"ret ptr {only}", "several:")
        tuple_ = self.do(f"call ptr {self.address('tuple_new')}(i64 {self.outputs})")
        self.store(self.do(f"add i64 {self.outputs}, 0"), self.made_count)
        self.require(self.do(f"icmp ne ptr {tuple_}, null"), "failed")
        tuple_set = self.address("tuple_set")
        with self.loop(self.outputs) as j:
            self.do(f"call i32 {tuple_set}(ptr {tuple_}, i64 {j}, ptr {self.load(self.made, j, 'ptr')})")
        self.say(f"ret ptr {tuple_}", "failed:")
        self.give_back(self.load(self.made_count))
        self.say("ret ptr null", "refuse:", f"call void {self.incref}(ptr {self.refused})", f"ret ptr {self.refused}")

    def give_back(self, count: str) -> None:
        with self.loop(count) as j:
            self.say(f"call void {self.decref}(ptr {self.load(self.made, j, 'ptr')})")


def _share() -> str:
    c = _Code()
    data, stride, status = c.room("i64", MAX_ARRAYS), c.room("i64", MAX_ARRAYS), c.room("i32")
    n, block = c.field("%job", SHARE, "n"), c.field("%job", SHARE, "block")
    inputs, outputs = c.field("%job", SHARE, "inputs"), c.field("%job", SHARE, "outputs")
    batch, params = c.pointer("%job", SHARE, "batch"), c.pointer("%job", SHARE, "params")
    arrays, both = c.at("%job", len(SHARE)), c.do(f"add i64 {inputs}, {outputs}")
    results = c.at(data, inputs)
    c.store(0, status, 0, "i32")
    first, count = _claim(c, n, block)
    with c.loop(both) as k:
        entry = c.at(arrays, c.do(f"mul i64 {k}, 3"))
        c.store(c.do(f"add i64 {c.load(entry)}, {c.do(f'mul i64 {first}, {c.load(entry, 1)}')}"), data, k)
        c.store(c.load(entry, 2), stride, k)
    given = f"ptr {data}, ptr {stride}, ptr {results}, i64 {count}, ptr {params}, ptr %heap, i64 {n}"
    one = c.do(f"call i32 {batch}({given})")
    c.store(c.do(f"or i32 {c.load(status, 0, 'i32')}, {one}"), status, 0, "i32")
    c.say("br label %claim", "none:")
    c.say(f"ret i32 {c.load(status, 0, 'i32')}")
    return c.function("i32 @kinetree_share(ptr %job, ptr %heap)")


def _claim(c: _Code, n: str, block: str) -> tuple[str, str]:
    """Take the next block: its first state and their number; on to ``none`` when all are taken."""
    c.say("br label %claim", "claim:")
    first = c.do(f"atomicrmw add ptr %job, i64 {block} monotonic")
    c.require(c.do(f"icmp slt i64 {first}, {n}"), "none")
    rest = c.do(f"sub i64 {n}, {first}")
    return first, c.do(f"select i1 {c.do(f'icmp slt i64 {rest}, {block}')}, i64 {rest}, i64 {block}")


_COPY = """define internal fastcc void @copy(ptr %to, ptr %from, i64 %bytes) #0 {
entry:
  %short = icmp slt i64 %bytes, 32
  %last = sub i64 %bytes, 32
  br i1 %short, label %words, label %wide
wide:
  %k = phi i64 [ 0, %entry ], [ %next, %wide ]
  %a = getelementptr inbounds i8, ptr %from, i64 %k
  %b = getelementptr inbounds i8, ptr %to, i64 %k
  %x = load <8 x i32>, ptr %a, align 4
  store <8 x i32> %x, ptr %b, align 4
  %regular = add i64 %k, 32
  %beyond = icmp sgt i64 %regular, %last
  %next = select i1 %beyond, i64 %last, i64 %regular
  %more = icmp slt i64 %k, %last
  br i1 %more, label %wide, label %done
words:
  %i = phi i64 [ 0, %entry ], [ %i_next, %word ]
  %go = icmp slt i64 %i, %bytes
  br i1 %go, label %word, label %done
word:
  %c = getelementptr inbounds i8, ptr %from, i64 %i
  %d = getelementptr inbounds i8, ptr %to, i64 %i
  %y = load i32, ptr %c, align 4
  store i32 %y, ptr %d, align 4
  %i_next = add i64 %i, 4
  br label %words
done:
  ret void
}"""


def _rollout() -> str:
    c = _Code()
    data, stride, after = (c.room("i64", MAX_ARRAYS) for _ in range(3))
    memory_at, wait, row = c.room("ptr"), c.room("i64"), c.room("i64")
    n, block = c.field("%job", ROLLOUT, "n"), c.field("%job", ROLLOUT, "block")
    states, inputs = c.field("%job", ROLLOUT, "states"), c.field("%job", ROLLOUT, "inputs")
    steps, every = c.field("%job", ROLLOUT, "steps"), c.field("%job", ROLLOUT, "every")
    batch, params = c.pointer("%job", ROLLOUT, "batch"), c.pointer("%job", ROLLOUT, "params")
    of_states = c.at("%job", len(ROLLOUT))
    of_inputs = c.at(of_states, c.do(f"mul i64 {states}, 6"))
    first, count = _claim(c, n, block)
    c.store("%memory", memory_at, 0, "ptr")
    with c.loop(states) as s:
        entry = c.at(of_states, c.do(f"mul i64 {s}, 6"))
        width = c.load(entry)
        tile = c.do(f"mul i64 {width}, {block}")
        here = c.load(memory_at, 0, "ptr")
        there = c.at(here, tile, "i8")
        c.store(here, data, s, "ptr")
        c.store(there, after, s, "ptr")
        c.store(c.at(there, tile, "i8"), memory_at, 0, "ptr")
        c.store(c.load(entry, 1), stride, s)
        start = c.load(entry, 2, "ptr")
        with c.loop(count) as r:
            which = c.do(f"add i64 {first}, {r}")
            source = c.at(start, c.do(f"mul i64 {which}, {c.load(entry, 3)}"), "i8")
            target = c.at(here, c.do(f"mul i64 {r}, {width}"), "i8")
            c.say(f"call fastcc void @copy(ptr {target}, ptr {source}, i64 {width})")
    _record(c, of_states, states, first, count, data, "0")
    with c.loop(inputs) as d:
        entry = c.at(of_inputs, c.do(f"mul i64 {d}, 4"))
        k = c.do(f"add i64 {states}, {d}")
        c.store(c.do(f"add i64 {c.load(entry)}, {c.do(f'mul i64 {first}, {c.load(entry, 1)}')}"), data, k)
        c.store(c.load(entry, 2), stride, k)
    c.store(every, wait)
    c.store(1, row)
    with c.loop(steps):
        given = f"ptr {data}, ptr {stride}, ptr {after}, i64 {count}, ptr {params}, ptr %heap, i64 {count}"
        status = c.do(f"call i32 {batch}({given})")
        c.require(c.do(f"icmp eq i32 {status}, 0"), "broken")
        broken = status
        with c.loop(states) as s:
            old, new = c.load(data, s), c.load(after, s)
            c.store(new, data, s)
            c.store(old, after, s)
        with c.loop(inputs) as d:
            k = c.do(f"add i64 {states}, {d}")
            step = c.load(of_inputs, c.do(f"add i64 {c.do(f'mul i64 {d}, 4')}, 3"))
            c.store(c.do(f"add i64 {c.load(data, k)}, {step}"), data, k)
        left = c.do(f"sub i64 {c.load(wait)}, 1")
        c.store(left, wait)
        due = c.do(f"icmp eq i64 {left}, 0")
        c.say(f"br i1 {due}, label %record, label %recorded", "record:")
        c.store(every, wait)
        _record(c, of_states, states, first, count, data, c.load(row))
        c.store(c.do(f"add i64 {c.load(row)}, 1"), row)
        c.say("br label %recorded", "recorded:")
    c.say("br label %claim", "broken:", f"ret i32 {broken}", "none:", "ret i32 0")
    return c.function("i32 @kinetree_rollout(ptr %job, ptr %memory, ptr %heap)")


def _record(c: _Code, of_states: str, states: str, first: str, count: str, data: str, row: str) -> None:
    """Copy the states of the tile to a row of each one's record."""
    with c.loop(states) as s:
        entry = c.at(of_states, c.do(f"mul i64 {s}, 6"))
        width, here = c.load(entry), c.load(data, s, "ptr")
        record = c.at(c.load(entry, 4, "ptr"), c.do(f"mul i64 {row}, {width}"), "i8")
        apart = c.load(entry, 5)
        with c.loop(count) as r:
            target = c.at(record, c.do(f"mul i64 {c.do(f'add i64 {first}, {r}')}, {apart}"), "i8")
            source = c.at(here, c.do(f"mul i64 {r}, {width}"), "i8")
            c.say(f"call fastcc void @copy(ptr {target}, ptr {source}, i64 {width})")
