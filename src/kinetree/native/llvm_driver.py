"""Drivers: machine code that no kernel has for itself, compiled once and shared by all of them.

Kernels supply ``kinetree_batch`` (`llvm_batch`); a driver is told its address and what the arrays are by a table of
64-bit integers, so a new kernel costs no further compilation.

* ``kinetree_rows(self, args, nargs)`` is a CPython builtin for batches: it reads the array objects, makes the results,
  lets go of the GIL if there are many states, and calls the kernel. Its table is the builtin's ``self``.
* ``kinetree_share(job, heap) -> i32`` evaluates blocks of a batch until none is left. Several threads call it with one
  job; the next block is an atomic counter, so no thread waits for another, and none needs the GIL between blocks.
* ``kinetree_rollout(job, memory, heap) -> i32`` does the same for rollouts: it takes tiles of states through all steps
  of time. The states of the tile never leave the first-level cache, only what is recorded is written.

The text is ordinary code with loops, kept in stack memory: it runs once per call, or once per tile.
"""

from __future__ import annotations

from kinetree.native.llvm_builtin import NUMBER, ROOM, number_ir

MAX_ARRAYS = 32
"""Arrays of one kernel, inputs and outputs together, that the drivers take."""

MAX_AXES = 4
"""Axes of one array, those of the batch not counted."""

ROWS = (
    *("batch", "scalar", "params", *NUMBER, "not_implemented", "new_array", "incref", "decref"),
    *("tuple_new", "tuple_set", "save_thread", "restore_thread", "allocate", "free"),
    *("inputs", "outputs", "item", "release", "most", "batch_heap", "scalar_heap"),
)
"""Head of the table of ``kinetree_rows``: pointers, then numbers. From ``release`` states on the GIL is let go; more
than ``most`` states are refused, and all while ``batch`` is 0; one state goes to ``scalar`` where that is not 0. The
heaps are the bytes that these two want beside their stack. Every array follows, as its number of axes, its size and its
axes."""

ROWS_ARRAY = 2 + MAX_AXES

SHARE = ("next", "n", "block", "batch", "params", "inputs", "outputs")
"""Head of the job of ``kinetree_share``; then for every input (address, bytes per row, entries per row), for every
output (address, bytes per row, 0)."""

ROLLOUT = ("next", "n", "block", "batch", "params", "states", "drives", "steps", "every")
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
            number_ir(),
            _rows(fields, readable, writeable),
            _share(),
            _COPY,
            _rollout(),
            'attributes #0 = { nounwind "no-trapping-math"="true" }',
            "",
        ]
    )


def _rows(fields: dict[str, int], readable: int, writeable: int) -> str:
    c = _Code()
    data, stride, ends, made = (c.room("i64", MAX_ARRAYS) for _ in range(4))
    lead_at, shape_at, count_at, k_made = c.room("i64"), c.room("ptr"), c.room("i64"), c.room("i64")
    dims = c.room("i64", 64)
    table = c.load(c.at("%self", 16, "i8"), 0, "ptr")
    inputs, outputs = c.field(table, ROWS, "inputs"), c.field(table, ROWS, "outputs")
    item, refused = c.field(table, ROWS, "item"), c.pointer(table, ROWS, "not_implemented")
    array_type, descr = c.pointer(table, ROWS, "array_type"), c.pointer(table, ROWS, "descr")
    incref, decref = c.pointer(table, ROWS, "incref"), c.pointer(table, ROWS, "decref")
    both = c.do(f"add i64 {inputs}, {outputs}")
    given, fresh = c.do(f"icmp eq i64 %nargs, {both}"), c.do(f"icmp eq i64 %nargs, {inputs}")
    c.require(c.do(f"or i1 {given}, {fresh}"))
    c.store(0, lead_at)
    shapes = c.at(table, len(ROWS))
    rooms, numbers = c.room(f"[{ROOM} x i8]", MAX_ARRAYS), c.at(table, ROWS.index(NUMBER[0]))
    with c.loop("%nargs") as k:  # nothing may be read from an object before its type is known
        given_object, room = c.load("%args", k, "ptr"), c.at(rooms, k, f"[{ROOM} x i8]")
        what = c.do(f"call ptr @kinetree_number(ptr {given_object}, ptr {room}, ptr {numbers}, i64 {item})")
        kind = c.load(c.at(what, fields["type"], "i8"), 0, "ptr")
        c.require(c.do(f"icmp eq ptr {kind}, {array_type}"))
        own = c.load(c.at(what, fields["descr"], "i8"), 0, "ptr")
        c.require(c.do(f"icmp eq ptr {own}, {descr}"))
        is_input = c.do(f"icmp slt i64 {k}, {inputs}")
        wanted = c.do(f"select i1 {is_input}, i32 {readable}, i32 {writeable}")
        flags = c.load(c.at(what, fields["flags"], "i8"), 0, "i32")
        c.require(c.do(f"icmp eq i32 {c.do(f'and i32 {flags}, {wanted}')}, {wanted}"))
        declared = c.at(shapes, c.do(f"mul i64 {k}, {ROWS_ARRAY}"))
        axes = c.load(declared)
        found = c.load(c.at(what, fields["nd"], "i8"), 0, "i32")
        lead = c.do(f"sub i64 {c.do(f'sext i32 {found} to i64')}, {axes}")
        c.require(c.do(f"icmp sge i64 {lead}, 0"))
        shape = c.load(c.at(what, fields["shape"], "i8"), 0, "ptr")
        with c.loop(axes) as j:
            found = c.load(shape, c.do(f"add i64 {lead}, {j}"))
            expected = c.load(declared, c.do(f"add i64 {j}, 2"))
            c.require(c.do(f"icmp eq i64 {found}, {expected}"))
        start = c.load(c.at(what, fields["data"], "i8"))
        c.store(start, data, k)
        known = c.load(lead_at)
        first = c.do(f"and i1 {c.do(f'icmp eq i64 {known}, 0')}, {is_input}")
        label = c.name()[1:]
        single = c.do(f"icmp eq i64 {lead}, 0")
        shared = c.do(f"and i1 {single}, {is_input}")
        c.say(f"br i1 {shared}, label %{label}shared, label %{label}batched", f"{label}shared:")
        c.store(0, stride, k)
        c.say(f"br label %{label}done", f"{label}batched:")
        c.store(c.load(declared, 1), stride, k)
        c.say(f"br i1 {first}, label %{label}first, label %{label}same", f"{label}first:")
        c.store(lead, lead_at)
        c.store(shape, shape_at, 0, "ptr")
        c.require(c.do(f"icmp sle i64 {lead}, {64 - MAX_AXES}"))
        c.say(f"br label %{label}done", f"{label}same:")
        c.require(c.do(f"icmp eq i64 {lead}, {known}"))
        c.require(c.do(f"icmp sgt i64 {lead}, 0"))
        model_shape = c.load(shape_at, 0, "ptr")
        with c.loop(lead) as j:
            c.require(c.do(f"icmp eq i64 {c.load(shape, j)}, {c.load(model_shape, j)}"))
        c.say(f"br label %{label}done", f"{label}done:")
    lead = c.load(lead_at)
    c.require(c.do(f"icmp sgt i64 {lead}, 0"))
    c.store(1, count_at)
    shape = c.load(shape_at, 0, "ptr")
    with c.loop(lead) as j:
        axis = c.load(shape, j)
        c.store(axis, dims, j)
        c.store(c.do(f"mul i64 {c.load(count_at)}, {axis}"), count_at)
    n = c.load(count_at)
    c.require(c.do(f"icmp sgt i64 {n}, 0"))
    c.require(c.do(f"icmp sle i64 {n}, {c.field(table, ROWS, 'most')}"))
    batch, scalar = c.pointer(table, ROWS, "batch"), c.pointer(table, ROWS, "scalar")
    alone = c.do(f"and i1 {c.do(f'icmp eq i64 {n}, 1')}, {c.do(f'icmp ne ptr {scalar}, null')}")
    c.require(c.do(f"or i1 {alone}, {c.do(f'icmp ne ptr {batch}, null')}"))
    c.say(f"br i1 {given}, label %apart, label %make", "apart:")
    with c.loop("%nargs") as k:
        size = c.load(shapes, c.do(f"add i64 {c.do(f'mul i64 {k}, {ROWS_ARRAY}')}, 1"))
        rows = c.do(f"select i1 {c.do(f'icmp eq i64 {c.load(stride, k)}, 0')}, i64 1, i64 {n}")
        extent = c.do(f"mul i64 {c.do(f'mul i64 {size}, {rows}')}, {item}")
        start = c.load(data, k)
        end = c.do(f"add i64 {start}, {extent}")
        c.store(end, ends, k)
        before = c.do(f"select i1 {c.do(f'icmp slt i64 {k}, {inputs}')}, i64 0, i64 {k}")
        with c.loop(before) as j:
            clear = c.do(f"icmp ule i64 {end}, {c.load(data, j)}")
            beyond = c.do(f"icmp ule i64 {c.load(ends, j)}, {start}")
            c.require(c.do(f"or i1 {clear}, {beyond}"))
    with c.loop(outputs) as j:
        what = c.load("%args", c.do(f"add i64 {j}, {inputs}"), "ptr")
        c.say(f"call void {incref}(ptr {what})")
        c.store(what, made, j, "ptr")
    c.say("br label %run", "make:")
    new_array = c.pointer(table, ROWS, "new_array")
    c.store(0, k_made)
    with c.loop(outputs) as j:
        place = c.do(f"add i64 {j}, {inputs}")
        declared = c.at(shapes, c.do(f"mul i64 {place}, {ROWS_ARRAY}"))
        axes = c.load(declared)
        with c.loop(axes) as a:
            c.store(c.load(declared, c.do(f"add i64 {a}, 2")), dims, c.do(f"add i64 {lead}, {a}"))
        nd = c.do(f"trunc i64 {c.do(f'add i64 {lead}, {axes}')} to i32")
        c.say(f"call void {incref}(ptr {descr})")  # the constructor takes a reference to it
        what = c.do(
            f"call ptr {new_array}(ptr {array_type}, ptr {descr}, i32 {nd}, ptr {dims}, ptr null, ptr null, "
            "i32 0, ptr null)"
        )
        c.require(c.do(f"icmp ne ptr {what}, null"), "failed")
        c.store(what, made, j, "ptr")
        c.store(c.do(f"add i64 {j}, 1"), k_made)
        c.store(c.load(c.at(what, fields["data"], "i8")), data, place)
    c.say("br label %run", "run:")
    params, results = c.pointer(table, ROWS, "params"), c.at(data, inputs)
    status_at, heap_at = c.room("i32"), c.room("ptr")
    c.store("null", heap_at, 0, "ptr")
    wanted = [c.field(table, ROWS, name) for name in ("scalar_heap", "batch_heap")]
    bytes_ = c.do(f"select i1 {alone}, i64 {wanted[0]}, i64 {wanted[1]}")
    c.say(f"br i1 {c.do(f'icmp eq i64 {bytes_}, 0')}, label %ready, label %allocate", "allocate:")
    memory = c.do(f"call ptr {c.pointer(table, ROWS, 'allocate')}(i64 {c.do(f'add i64 {bytes_}, 63')})")
    c.store(memory, heap_at, 0, "ptr")
    c.require(c.do(f"icmp ne ptr {memory}, null"), "bad")
    c.say("br label %ready", "ready:")
    address = c.do(f"ptrtoint ptr {c.load(heap_at, 0, 'ptr')} to i64")
    line = c.do(f"and i64 {c.do(f'add i64 {address}, 63')}, -64")
    heap = c.do(f"inttoptr i64 {line} to ptr")
    call = f"call i32 {batch}(ptr {data}, ptr {stride}, ptr {results}, i64 {n}, ptr {params}, ptr {heap}, i64 {n})"
    c.say(f"br i1 {alone}, label %one, label %many", "one:")
    single = c.do(f"call i32 {scalar}(ptr {data}, ptr {results}, ptr {params}, ptr {heap})")
    c.store(single, status_at, 0, "i32")
    c.say("br label %finished", "many:")
    many = c.do(f"icmp sge i64 {n}, {c.field(table, ROWS, 'release')}")
    c.say(f"br i1 {many}, label %released, label %held", "released:")
    state = c.do(f"call ptr {c.pointer(table, ROWS, 'save_thread')}()")
    c.store(c.do(call), status_at, 0, "i32")
    c.say(f"call void {c.pointer(table, ROWS, 'restore_thread')}(ptr {state})", "br label %finished", "held:")
    c.store(c.do(call), status_at, 0, "i32")
    c.say("br label %finished", "finished:")
    c.say(f"call void {c.pointer(table, ROWS, 'free')}(ptr {c.load(heap_at, 0, 'ptr')})")
    fine = c.do(f"icmp eq i32 {c.load(status_at, 0, 'i32')}, 0")
    c.say(f"br i1 {fine}, label %good, label %bad", "bad:")
    with c.loop(outputs) as j:
        c.say(f"call void {decref}(ptr {c.load(made, j, 'ptr')})")
    c.say("br label %refuse", "good:")
    one, only = c.do(f"icmp eq i64 {outputs}, 1"), c.load(made, 0, "ptr")
    c.say(f"br i1 {one}, label %alone, label %several", "alone:", f"ret ptr {only}", "several:")
    tuple_ = c.do(f"call ptr {c.pointer(table, ROWS, 'tuple_new')}(i64 {outputs})")
    c.store(c.do(f"add i64 {outputs}, 0"), k_made)
    c.require(c.do(f"icmp ne ptr {tuple_}, null"), "failed")
    tuple_set = c.pointer(table, ROWS, "tuple_set")
    with c.loop(outputs) as j:
        c.do(f"call i32 {tuple_set}(ptr {tuple_}, i64 {j}, ptr {c.load(made, j, 'ptr')})")
    c.say(f"ret ptr {tuple_}", "failed:")
    with c.loop(c.load(k_made)) as j:
        c.say(f"call void {decref}(ptr {c.load(made, j, 'ptr')})")
    c.say("ret ptr null", "refuse:", f"call void {incref}(ptr {refused})", f"ret ptr {refused}")
    return c.function("ptr @kinetree_rows(ptr %self, ptr %args, i64 %nargs)")


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
    states, drives = c.field("%job", ROLLOUT, "states"), c.field("%job", ROLLOUT, "drives")
    steps, every = c.field("%job", ROLLOUT, "steps"), c.field("%job", ROLLOUT, "every")
    batch, params = c.pointer("%job", ROLLOUT, "batch"), c.pointer("%job", ROLLOUT, "params")
    of_states = c.at("%job", len(ROLLOUT))
    of_drives = c.at(of_states, c.do(f"mul i64 {states}, 6"))
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
    with c.loop(drives) as d:
        entry = c.at(of_drives, c.do(f"mul i64 {d}, 4"))
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
        with c.loop(drives) as d:
            k = c.do(f"add i64 {states}, {d}")
            step = c.load(of_drives, c.do(f"add i64 {c.do(f'mul i64 {d}, 4')}, 3"))
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
