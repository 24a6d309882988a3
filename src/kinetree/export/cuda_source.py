"""CUDA C++ text of a Program: a kernel in which one thread computes one state.

The code between loads and stores is the program, one line per operation. Fused operations are written out, so with
``--fmad=false`` the results are the same bits as those of the machine code for the CPU; without it the compiler fuses
further, which is neither faster nor wrong.

*Memory.* Users' arrays are rows, so a thread that reads its own row reads far from its neighbors. The 32 threads of a
warp therefore move their 32 rows together, a contiguous piece of memory, in 16-byte steps through shared memory, and
read their rows there. Warps share nothing with each other, so there are no barriers across a block. Rows of more than
`ROW` entries (a mass matrix) leave in panels of 128 bytes per row.

*Banks.* Entry j of 32 rows of n entries lies in different banks when n is odd, in pairs when n is 2 times odd, which is
left so; otherwise a gap is added after every row.

*Params*, the values that depend on the model alone, are passed by value: arguments lie in constant memory, from where
an instruction takes an operand at no cost, and one kernel serves models that differ in numbers. More than fit there
are read from device memory.

*Parts.* The time that the compiler takes grows faster than the code: 6 s for 9000 operations, 240 s for 30000. Beyond
`LONG` operations a program is cut into functions of about `PART`; values that cross a cut go through an array of the
thread (local memory, which the device interleaves, so that neighbors' values lie side by side).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import gcd, prod

from kinetree.errors import CompilationError
from kinetree.export.c_code import Dialect
from kinetree.export.c_elementary import elementary_text
from kinetree.export.cuda_device import MOVES, sincos_text
from kinetree.native.llvm_module import STATUS_BITS
from kinetree.native.llvm_plan import assign_slots
from kinetree.trace.program import SIGNATURES, Program

ROW = 40
"""Outputs with longer rows leave in panels."""
THREADS = 128
SHARED = 48 * 1024
"""Bytes of shared memory that every device gives a block by default."""
BY_VALUE = 32_000
"""Bytes of params that are passed by value. Arguments may have 4 KB before CUDA 12.1, 32 KB since."""
LONG = 12_000
PART = 4_000


@dataclass(frozen=True, slots=True)
class CudaSource:
    """A kernel as text, and its launch parameters.

    Parameters
    ----------
    text : str
        CUDA C++ without includes, for nvcc or NVRTC.
    name : str
        The kernel: ``extern "C"``. Its arguments are the inputs, the outputs (pointers to rows), the number of states
        (64 bits), a pointer to the status word (32 bits), and the params if the program has any.
    dtype : str
        Type of all arrays, ``"float64"`` or ``"float32"``.
    threads : int
        Threads per block; the grid has ``ceil(n / threads)`` blocks.
    shared_bytes : int
        Shared memory of a block [byte], static.
    by_value : bool
        Whether the params are a struct, else a pointer.
    traffic : int
        Least traffic with device memory [byte per state]: every input entry read once, every result written once.
    """

    text: str = field(repr=False)
    name: str
    dtype: str
    threads: int
    shared_bytes: int
    by_value: bool
    traffic: int


def emit(
    program: Program,
    dtype: str = "float64",
    *,
    checks: bool = False,
    shared: Collection[str] = (),
    access: str = "staged",
    threads: int | None = None,
    blocks: int | None = None,
    part: int | None = None,
    name: str = "kinetree_kernel",
) -> CudaSource:
    """Write a program as a CUDA kernel.

    Parameters
    ----------
    program : Program
        The program to evaluate.
    dtype : str
        ``"float64"`` or ``"float32"``.
    checks : bool
        Whether the kernel reports, in the status word, inputs that are not finite and the program's own checks.
    shared : collection of str
        Inputs of which there is one row for all states.
    access : str
        ``"staged"`` moves rows through shared memory, ``"direct"`` lets every thread use its own row; for comparison.
    threads : int, optional
        Threads per block, a multiple of 32; default `THREADS`, or fewer where their rows would not fit.
    blocks : int, optional
        Least number of blocks that shall fit on a multiprocessor: limits the registers of a thread. Default: as the
        compiler sees fit.
    part : int, optional
        Operations per function. Default: one function up to `LONG` operations, else `PART`.
    name : str
        Name of the kernel.

    Returns
    -------
    CudaSource

    Examples
    --------
    >>> import kinetree as kt
    >>> source = emit(kt.compile(kt.models.double_pendulum(), "rnea").program, "float32")
    >>> source.traffic  # q, v, a and tau: four rows of two floats
    32
    """
    if dtype not in ("float64", "float32"):
        raise CompilationError(f"no CUDA kernel for dtype {dtype!r}; known: float64, float32.", dtype=dtype)
    if access not in ("staged", "direct"):
        raise CompilationError(f"unknown access {access!r}; known: staged, direct.", access=access)
    return _Writer(program, dtype, checks, frozenset(shared), access == "staged", threads, blocks, part, name).write()


@dataclass(slots=True)
class _Part:
    """Code that becomes one function, or the kernel's body if there is only one."""

    lines: list[tuple[str, tuple[int, ...]]]  # text, and the values that it defines
    used: set[int]  # values that it takes, from wherever


@dataclass(slots=True)
class _Array:
    """An input or output of the kernel, and where a warp keeps 32 rows of it in shared memory."""

    name: str
    width: int  # entries of a row
    end: str  # "in" or "out"
    shared: bool = False  # one row holds for all states
    panels: bool = False  # its rows leave in panels
    start: int | None = None  # entry of the warp's memory where the rows begin; None: every thread uses its own row
    pitch: int = 0  # entries from row to row there

    @property
    def kind(self) -> str:
        return "const Real *" if self.end == "in" else "Real *"

    @property
    def device(self) -> str:
        """The argument of the kernel."""
        return f"{self.name}_{self.end}"

    @property
    def first(self) -> str:
        """The warp's rows in device memory."""
        return f"{self.device} + first * {self.width}"

    @property
    def tile(self) -> str:
        """The same in shared memory."""
        return f"tile + {self.start}" if self.start else "tile"

    @property
    def row(self) -> str:
        """The row of a thread."""
        if self.shared:
            return self.device
        if self.start is None:
            return f"{self.device} + (first + row) * {self.width}"
        return f"{self.tile} + row * {self.pitch}"

    @property
    def plain(self) -> bool:
        """Whether the rows in shared memory have no gaps."""
        return self.start is not None and self.pitch == self.width

    @property
    def load(self) -> str:
        """The statement that brings the rows entry by entry."""
        return f"load<{self.width}, {self.pitch}>({self.tile}, {self.first}, rows, lane);"


class _Writer:
    def __init__(self, program, dtype, checks, shared, staged, threads, blocks, part, name) -> None:
        self.program, self.dtype, self.checks, self.shared, self.name = program, dtype, checks, shared, name
        self.element = "double" if dtype == "float64" else "float"
        self.size = 8 if dtype == "float64" else 4
        self.dialect = Dialect(self.element, own="own", cuda=True)
        self.inputs = [_Array(n, prod(shape), "in", n in shared) for n, shape in program.inputs]
        self.outputs = [_Array(n, prod(shape), "out") for n, shape in program.outputs]
        self.by_value = program.params * self.size <= BY_VALUE
        self.panel = 128 // self.size
        self.live = program.needed(checks)
        self.lines: list[str] = []
        self.parts = [_Part([], set())]
        operations = sum(live and op in SIGNATURES for live, (op, *_) in zip(self.live, program.code, strict=True))
        self.part = part or (operations if operations <= LONG else PART)
        self._place(staged, threads)
        self.bounds = f"{self.threads}" if blocks is None else f"{self.threads}, {blocks}"

    def _place(self, staged: bool, threads: int | None) -> None:
        """Lay out a warp's shared memory and choose the number of threads."""
        limit, end = SHARED // self.size, 0
        panel = 32 * (self.panel + 1) if staged and any(array.width > ROW for array in self.outputs) else 0
        for array in (*self.outputs, *self.inputs) if staged else ():
            if array.end == "out" and array.width > ROW:
                array.panels = True
            elif array.width and not array.shared:
                pitch = array.width + 1 if gcd(array.width, 128 // self.size) >= 4 else array.width
                if end + 32 * pitch + panel <= limit:  # else every thread reads its own row
                    array.start, array.pitch = end, pitch
                    end += 32 * pitch
        self.panel_start = end
        self.tile = end + panel
        fit = limit // self.tile * 32 if self.tile else 1024
        self.threads = min(THREADS, fit) if threads is None else threads
        if self.threads % 32 or not 32 <= self.threads <= min(fit, 1024):
            raise CompilationError(f"{self.threads} threads per block: expected a multiple of 32 up to {fit}.")

    def write(self) -> CudaSource:
        self._body()
        slots, count = self._slots()
        self._head()
        if len(self.parts) > 1:
            self._functions(slots)
        self._begin()
        self._load()
        if len(self.parts) > 1:
            self._calls(slots, count)
        else:
            self.lines += [text for text, _ in self.parts[0].lines]
        self._end()
        entries = sum(array.width for array in (*self.inputs, *self.outputs) if not array.shared)
        return CudaSource(
            text="\n".join(self.lines) + "\n",
            name=self.name,
            dtype=self.dtype,
            threads=self.threads,
            shared_bytes=self.tile * self.size * self.threads // 32,
            by_value=self.by_value,
            traffic=self.size * entries,
        )

    # The frame ------------------------------------------------------------------------------------------------------

    def _head(self) -> None:
        emit = self.lines.append
        emit("// Written by kinetree: one thread, one state. Compile with --fmad=false for the bits of the CPU.")
        for what, arrays in (("in ", self.program.inputs), ("out", self.program.outputs)):
            for name, shape in arrays:
                rows = "one for all states" if name in self.shared else "n, C order"
                emit(f"// {what} {name}: {shape or 'a number'}, {rows}")
        for k, (label, _) in enumerate(self.program.checks if self.checks else ()):
            emit(f"// status bit {min(1 + k, STATUS_BITS - 1)}: {label}")
        emit(f"typedef {self.element} Real;")
        emit("typedef float4 Vector;  // 16 bytes" if self.size == 4 else "typedef double2 Vector;  // 16 bytes")
        emit("")
        if self.program.params and self.by_value:
            emit(f"struct Params {{ Real x[{self.program.params}]; }};")
        emit(MOVES)
        if any(op in ("sin", "cos") for op, *_ in self.program.code):
            emit(sincos_text(self.dialect))
        if text := elementary_text(self.dialect, {op for op, *_ in self.program.code}):
            emit(text)

    def _begin(self) -> None:
        emit = self.lines.append
        emit(f'extern "C" __global__ void __launch_bounds__({self.bounds}) {self.name}(')
        for array in (*self.inputs, *self.outputs):
            emit(f"    {array.kind}__restrict__ {array.device},")
        params = ", const __grid_constant__ Params params" if self.by_value else ", const Real *__restrict__ params"
        emit(f"    const long long n, unsigned int *const status{params if self.program.params else ''}) {{")
        if self.tile:
            emit(f"  __shared__ __align__(16) Real tiles[{self.threads // 32} * {self.tile}];")
            emit(f"  Real *const tile = tiles + threadIdx.x / 32 * {self.tile};")
        emit("  const int lane = threadIdx.x % 32;")
        emit(f"  const long long first = (long long)blockIdx.x * {self.threads} + (threadIdx.x - lane);")
        emit("  if (first >= n) return;  // the whole warp")
        emit("  const int rows = n - first < 32 ? (int)(n - first) : 32;")
        emit("  const int row = lane < rows ? lane : rows - 1;  // idle threads repeat the last state")

    def _load(self) -> None:
        emit = self.lines.append
        staged = [array for array in self.inputs if array.start is not None]
        plain = [array for array in staged if array.plain]
        whole = [array for array in (*self.inputs, *self.outputs) if array.plain]
        if whole:
            pointers = " | ".join(f"(size_t){array.device}" for array in whole)
            emit(f"  const bool vectors = rows == 32 && (({pointers}) & 15) == 0;")
        for array in staged:
            if not array.plain:
                emit(f"  {array.load}")
        if plain:
            emit("  if (vectors) {")
            for group in _groups(plain, 24 * 32 * 16 // (32 * self.size)):
                for array in group:
                    emit(f"    Rows<{array.width}> {array.name}_rows;")
                for array in group:  # all loads before the first store: they are in flight together
                    emit(f"    {array.name}_rows.load({array.first}, lane);")
                for array in group:
                    emit(f"    {array.name}_rows.store({array.tile}, lane);")
            emit("  } else {")
            for array in plain:
                emit(f"    {array.load}")
            emit("  }")
        if staged:
            emit("  __syncwarp();")
        for array in (*self.inputs, *self.outputs):
            if not array.panels:
                emit(f"  {array.kind}const {array.name}_row = {array.row};")
        if any(array.panels for array in self.outputs):
            emit(f"  Real *const panel = tile + {self.panel_start};")
            emit(f"  Real *const panel_row = panel + row * {self.panel + 1};")
        emit("")

    # The program ----------------------------------------------------------------------------------------------------

    def _body(self) -> None:
        """One line per operation; results are stored when they are known."""
        code = self.program.code
        stored: dict[int, list[tuple[int, int]]] = {}
        waiting: dict[tuple[int, int], set[int]] = {}  # (output, panel) -> values it waits for
        for k, (result, array) in enumerate(zip(self.program.results, self.outputs, strict=True)):
            for entry, value in enumerate(result):
                if array.panels:
                    waiting.setdefault((k, entry // self.panel), set()).add(value)
                else:
                    stored.setdefault(value, []).append((k, entry))
        asked: dict[int, list[tuple[int, int]]] = {}
        for panel, values in waiting.items():
            for value in values:
                asked.setdefault(value, []).append(panel)
        twins = {(op, a): value for value, (op, a, *_) in enumerate(code) if op in ("sin", "cos")}
        done: set[int] = set()
        count = 0
        for value, operation in enumerate(code):
            if not self.live[value]:
                continue
            if value not in done:
                count += operation[0] in SIGNATURES
                if count > self.part:
                    self.parts.append(_Part([], set()))
                    count = 1
                done.update(self._operation(value, operation, twins))
            for k, entry in stored.get(value, ()):
                self._line(f"{self.outputs[k].name}_row[{entry}] = {self._value(value)};")
            for panel in asked.get(value, ()):
                waiting[panel].discard(value)
                if not waiting[panel]:
                    self._flush(*panel)

    def _line(self, text: str, *defines: int) -> None:
        self.parts[-1].lines.append(("  " + text, defines))

    def _operation(self, value: int, operation: tuple, twins: dict) -> list[int]:
        """Write the line of one operation; returns the values that are known then."""
        op, *args = operation
        if op in ("const", "param"):
            return [value]  # written where it is used
        if op in ("sin", "cos"):
            pair = [twins.get((f, args[0])) for f in ("sin", "cos")]
            names = [f"unused{value}" if twin is None else f"x{twin}" for twin in pair]
            known = [twin for twin in pair if twin is not None]
            self._line(f"Real {', '.join(names)};")
            self._line(f"sine_cosine({self._value(args[0])}, {', '.join(names)});", *known)
            return known
        kind = "bool" if self.program.is_boolean(value) else "Real"
        self._line(f"const {kind} x{value} = {self._formula(op, args)};", value)
        return [value]

    def _formula(self, op: str, args: list) -> str:
        if op == "input":
            return f"{self.inputs[args[0]].name}_row[{args[1]}]"
        return self.dialect.formula(op, [self._value(a) for a in args])

    def _value(self, value: int) -> str:
        op, *args = self.program.code[value]
        if op == "const":
            return self.dialect.literal(args[0])
        if op == "param":
            return f"params{'.x' * self.by_value}[{args[0]}]"
        self.parts[-1].used.add(value)
        return f"x{value}"

    def _flush(self, output: int, number: int) -> None:
        """Write one panel of an output: the entries of 32 rows that 128 bytes of each hold."""
        array = self.outputs[output]
        size = array.width
        start = number * self.panel
        width = min(self.panel, size - start)
        for entry in range(width):
            self._line(f"panel_row[{entry}] = {self._value(self.program.results[output][start + entry])};")
        self._line("__syncwarp();")
        self._line(f"store<{width}, {self.panel + 1}, {size}>({array.first} + {start}, panel, rows, lane);")
        self._line("__syncwarp();  // before the next panel is written there")

    # Parts ----------------------------------------------------------------------------------------------------------

    def _slots(self) -> tuple[dict[int, int], int]:
        """Where values wait that a later part takes, and how many wait at once, at most."""
        count = len(self.parts)
        made = {value: k for k, part in enumerate(self.parts) for _, values in part.lines for value in values}
        last: dict[int, int] = {}
        for k, part in enumerate(self.parts):
            last.update((value, k) for value in part.used if made[value] < k)
        if count > 1:  # the checks are reported by the kernel
            last.update((value, count) for _, value in self.program.checks if self.checks)
        return assign_slots(made, last)

    def _state(self) -> list[tuple[str, str]]:
        """Type and name of the arrays that the parts share."""
        rows = [(array.kind, f"{array.name}_row") for array in (*self.inputs, *self.outputs) if not array.panels]
        panels = [array.device for array in self.outputs if array.panels]
        if panels:
            rows += [("Real *", name) for name in ("panel", "panel_row", *panels)]
        return [*rows, ("long long ", "first"), ("int ", "rows"), ("int ", "lane")]

    def _params_type(self) -> str:
        return "const Params &" if self.by_value else "const Real *__restrict__ "

    def _functions(self, slots: dict[int, int]) -> None:
        emit = self.lines.append
        emit("struct State {")
        for kind, name in self._state():
            emit(f"  {kind}{name};")
        emit("};")
        params = f", {self._params_type()}params" if self.program.params else ""
        for k, part in enumerate(self.parts):
            emit(f"\nstatic __device__ __noinline__ void part{k}(const State &state, Real *slots{params}) {{")
            text = " ".join(line for line, _ in part.lines)
            for kind, name in self._state():
                if name in text:
                    emit(f"  {kind}const {name} = state.{name};")
            mine = {value for _, values in part.lines for value in values}
            for value in sorted(part.used - mine):
                emit(self._fetched(value, slots))
            for line, values in part.lines:
                emit(line)
                for value in values:
                    if value in slots:
                        emit(f"  slots[{slots[value]}] = x{value};")
            emit("}")
        emit("")

    def _fetched(self, value: int, slots: dict[int, int]) -> str:
        if self.program.is_boolean(value):
            return f"  const bool x{value} = slots[{slots[value]}] != {self.dialect.literal(0.0)};"
        return f"  const Real x{value} = slots[{slots[value]}];"

    def _calls(self, slots: dict[int, int], count: int) -> None:
        emit = self.lines.append
        emit(f"  const State state = {{{', '.join(name for _, name in self._state())}}};")
        emit(f"  Real slots[{max(1, count)}];")
        for k in range(len(self.parts)):
            emit(f"  part{k}(state, slots{', params' if self.program.params else ''});")
        for _, value in self.program.checks if self.checks else ():
            fetched = self._fetched(value, slots)
            if fetched not in self.lines[-len(self.program.checks) :]:
                emit(fetched)

    def _end(self) -> None:
        emit = self.lines.append
        staged = [array for array in self.outputs if array.start is not None]
        if staged:
            emit("  __syncwarp();")
        for array in staged:
            slow = f"store<{array.width}, {array.pitch}, {array.width}>({array.first}, {array.tile}, rows, lane);"
            if array.plain:
                emit(f"  if (vectors) store_vectors<{array.width}>({array.first}, {array.tile}, lane);")
                emit(f"  else {slow}")
            else:
                emit(f"  {slow}")
        if self.checks:
            self._report()
        emit("}")

    def _report(self) -> None:
        emit = self.lines.append
        emit("")
        emit(f"  Real finite = {self.dialect.literal(0.0)};  // NaN once an entry is not finite")
        for array in self.inputs:
            if array.width:
                emit(
                    f"  for (int k = 0; k < {array.width}; ++k) finite = {self.dialect.fma}({array.name}_row[k], "
                    f"{self.dialect.literal(0.0)}, finite);"
                )
        emit(f"  unsigned int found = finite == {self.dialect.literal(0.0)} ? 0u : 1u;")
        for k, (_, value) in enumerate(self.program.checks):
            emit(f"  if (x{value}) found |= {1 << min(1 + k, STATUS_BITS - 1)}u;")
        emit("  if (found) atomicOr(status, found);")


def _groups(rows: list[_Array], limit: int) -> list[list[_Array]]:
    """Arrays whose pieces fit into a warp's registers together: up to `limit` entries of a row in all."""
    groups: list[list[_Array]] = []
    width = limit
    for one in rows:
        if width + one.width > limit:
            groups.append([])
            width = 0
        groups[-1].append(one)
        width += one.width
    return groups
