"""Throughput on a CUDA device: ``python -m benchmarks.gpu``.

Every kernel is compared with the machine code of the CPU before it is timed. Times are those of the kernel alone, by
events of the device, and of everything from host array to host array. What the device can do is measured first: bytes
copied and fused multiply-adds per second; the limits of a kernel follow from the bytes and operations of one state.

On a machine without the package of robots, give a folder of their URDF files: ``--export DIR`` fills it elsewhere,
``--models DIR`` reads it. ``--rehearse`` runs everything but the timing without a device, through the tests' stand-in
for CUDA, and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import shutil
import statistics
import tempfile
import time

import numpy as np

import kinetree as kt
from benchmarks import store
from benchmarks.machine import machine, versions
from kinetree.export.cuda import CudaFunction
from kinetree.trace.program import SIGNATURES
from tests.engines.robots import ROBOTS

ALGORITHMS = {"rnea": ("q", "v", "a"), "crba": ("q",), "aba": ("q", "v", "tau")}
TYPES = ("float32", "float64")
BATCHES = (100_000, 1_000_000, 10_000_000)
MEMORY = 8e9  # bytes of arrays, at most
CHECKED = 20_000  # states that are compared with the CPU
SEED = 20080101
VARIANTS = (
    {}, {"access": "direct"}, {"threads": 64}, {"threads": 256}, {"blocks": 6}, {"blocks": 10}, {"blocks": 12},
)  # fmt: skip
COSTLY = {"div": 8, "sqrt": 8, "exp": 15, "log": 15, "tanh": 30, "arctan2": 30}
"""Instructions of operations that take more than one; a sine with its cosine takes `SINCOS`. Rough, and stated."""
SINCOS = 24
TABLE = pathlib.Path(__file__).parent.parent / "docs" / "gpu.md"


def model_of(robot: str, folder: pathlib.Path | None):
    """The robot; panda's fingers are locked, which leaves the seven joints of the arm."""
    if folder is None:
        from tests.engines.robots import robot_path

        path = robot_path(robot)
    else:
        path = folder / f"{robot}.urdf"
    model = kt.load(str(path), floating_base=ROBOTS[robot].floating_base, inertia="accept", name=robot)
    fingers = {name: 0.0 for name in model.joint_names if "finger" in name}
    return kt.surgery.lock(model, fingers) if fingers else model


def states(model, count: int, dtype: str) -> dict[str, np.ndarray]:
    """Random states: normal velocities, accelerations and forces, valid positions that repeat after a thousand."""
    rng = np.random.default_rng(SEED)
    q = np.array([model.random_q(rng) for _ in range(min(count, 1000))])
    arrays = {"q": np.resize(q, (count, model.nq))}
    for name in ("v", "a", "tau"):
        arrays[name] = rng.standard_normal((count, model.nv), dtype=dtype)
    return {name: np.ascontiguousarray(x, dtype) for name, x in arrays.items()}


def instructions(program) -> int:
    """Instructions of the arithmetic of one state: one per operation, except for the costly ones."""
    count = SINCOS * program.operations["sincos"]
    for op, *_ in program.code:
        if op in SIGNATURES and op not in ("sin", "cos"):
            count += COSTLY.get(op, 1)
    return count


class Device:
    """A CUDA device through CuPy."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self.properties = {
            "multiprocessors": properties["multiProcessorCount"],
            "l2_bytes": properties["l2CacheSize"],
            "memory_bytes": properties["totalGlobalMem"],
            "driver": cupy.cuda.runtime.driverGetVersion(),
            "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
        }

    def seconds(self, call, least: float = 0.05, repeats: int = 7) -> float:
        """Median over repeats of the time of one call, by events around blocks of at least `least` seconds."""
        for _ in range(3):
            call()
        count = 1
        while (spent := self._block(call, count)) < least:
            count = max(2 * count, math.ceil(1.2 * count * least / max(spent, 1e-6)))
        return statistics.median(self._block(call, count) / count for _ in range(repeats))

    def _block(self, call, count: int) -> float:
        start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        start.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, end) / 1000

    def ceilings(self) -> dict[str, float]:
        """Bytes per second of a copy (read and written), and fused multiply-adds per second of both types."""
        found = {"bytes": self._copied()}
        for dtype, element, suffix in (("float32", "float", "f"), ("float64", "double", "")):
            chains = " ".join(f"x{k} = fma{suffix}(x{k}, a, b);" for k in range(8))
            values = " ".join(f"{element} x{k} = threadIdx.x + {k};" for k in range(8))
            total = " + ".join(f"x{k}" for k in range(8))
            kernel = self.cupy.RawKernel(
                f"""extern "C" __global__ void chain({element} *out, {element} a, {element} b) {{
                {values}
                #pragma unroll 16
                for (int k = 0; k < 4096; ++k) {{ {chains} }}
                out[blockIdx.x * blockDim.x + threadIdx.x] = {total};
                }}""",
                "chain",
            )
            blocks, threads = 16 * self.properties["multiprocessors"], 256
            out = self.cupy.empty(blocks * threads, dtype)
            number = np.dtype(dtype).type
            arguments = (out, number(0.999), number(1e-3))
            spent = self.seconds(lambda run=kernel, x=arguments, b=blocks, t=threads: run((b,), (t,), x))
            found[f"fma {dtype}"] = blocks * threads * 8 * 4096 / spent
        return found

    def _copied(self) -> float:
        source = self.cupy.ones(1 << 29, np.float32)
        target = self.cupy.empty_like(source)
        return 2 * source.nbytes / self.seconds(lambda: self.cupy.copyto(target, source))

    def evaluate(self, function: CudaFunction, arrays: list[np.ndarray]) -> np.ndarray:
        """The result as an array of the host; it was poisoned before, so that what is not written shows."""
        ins = [self.cupy.asarray(x) for x in arrays]
        f = function.function
        out = self.cupy.full((len(arrays[0]), *f.spec.shape(f.output_names[0], f.model)), np.nan, arrays[0].dtype)
        return self.cupy.asnumpy(function(*ins, out=out))

    def timed(self, function: CudaFunction, arrays: list[np.ndarray]) -> dict[str, object]:
        """Time per state of the kernel and with transfers, and what the compiler made of it."""
        ins = [self.cupy.asarray(x) for x in arrays]
        n = len(arrays[0])
        out = function(*ins)
        kernel = self.seconds(lambda: function(*ins, out=out)) / n
        spent = []
        for _ in range(3):
            start = time.perf_counter()
            self.cupy.asnumpy(function(*(self.cupy.asarray(x) for x in arrays)))
            spent.append(time.perf_counter() - start)
        (launch,) = function._launches.values()
        return {
            "states": n,
            "ns": 1e9 * kernel,
            "ns_with_transfers": 1e9 * statistics.median(spent) / n,
            "registers": launch.kernel.num_regs,
            "local_bytes": launch.kernel.local_size_bytes,
        }


class Rehearsal:
    """The tests' stand-in for a device: it computes, and times nothing that means anything."""

    name = "rehearsal"
    properties: dict[str, object] = {}

    def ceilings(self) -> dict[str, float]:
        return {"bytes": 1e12, "fma float32": 1e13, "fma float64": 5e12}

    def evaluate(self, function: CudaFunction, arrays: list[np.ndarray]) -> np.ndarray:
        from kinetree.export.cuda import packed_params
        from tests.compiler.cuda_shim import ShimKernel

        f, dtype = function.function, arrays[0].dtype.name
        params = packed_params(f, dtype)
        with tempfile.TemporaryDirectory() as folder:
            params = None if params is None else params["x"]
            kernel = ShimKernel(function.source(dtype), f.program, params, pathlib.Path(folder))
            (result,), _ = kernel(arrays, len(arrays[0]))
        return result

    def timed(self, function: CudaFunction, arrays: list[np.ndarray]) -> dict[str, object]:
        return {"states": len(arrays[0]), "ns": 1.0, "ns_with_transfers": 10.0, "registers": 0, "local_bytes": 0}


def verify(device, f, function: CudaFunction, dtype: str, count: int) -> dict[str, float]:
    """Compare with the machine code of the CPU in the same precision; raise, or return how well they agree.

    Both do the same operations in the same order with the same roundings, so the bits should be equal. What is
    required is less: the error of a computation in this precision, which for aba grows with the condition number of M.
    """
    data = states(f.model, count, dtype)
    arrays = [data[name] for name in ALGORITHMS[f.name]]
    expected, found = f(*arrays).reshape(count, -1), device.evaluate(function, arrays).reshape(count, -1)
    error = np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)
    condition = 1.0
    if f.name == "aba":
        condition = max(float(np.linalg.cond(m)) for m in kt.crba(f.model, data["q"][:200].astype(float)))
    tolerance = 100 * condition * np.finfo(dtype).eps
    if not error.max() <= tolerance:  # also when it is NaN
        raise AssertionError(f"{f.model.name} {f.name} {dtype}: error {error.max():.1e}, tolerance {tolerance:.1e}")
    return {"error": float(error.max()), "same_bits": float(np.mean(np.all(found == expected, axis=1)))}


def measure(device, robot: str, algorithm: str, dtype: str, ceilings, batches, folder, **options) -> dict[str, object]:
    """One line of the table."""
    f = kt.compile(model_of(robot, folder), algorithm, checks=False)
    function = CudaFunction(f, False, **options)
    source = function.source(dtype)
    start = time.perf_counter()
    agreement = verify(device, f, function, dtype, CHECKED if isinstance(device, Device) else 70)
    built = time.perf_counter() - start
    runs = []
    for n in batches:
        if n * source.traffic <= MEMORY:
            data = states(f.model, n, dtype)
            runs.append(device.timed(function, [data[name] for name in ALGORITHMS[algorithm]]))
    best = min(run["ns"] for run in runs if run["states"] == runs[-1]["states"])
    per_state = instructions(f.program)
    bandwidth, arithmetic = ceilings["bytes"] / source.traffic, ceilings[f"fma {dtype}"] / per_state
    return {
        "robot": robot, "nv": f.model.nv, "algorithm": algorithm, "dtype": dtype, "options": options, **agreement,
        "seconds_to_first_result": built, "bytes": source.traffic, "operations": f.operations.total,
        "instructions": per_state, "runs": runs, "states_per_second": 1e9 / best,
        "fraction_of_bandwidth": 1e9 / best / bandwidth, "fraction_of_arithmetic": 1e9 / best / arithmetic,
    }  # fmt: skip


def frameworks(n: int, folder) -> dict[str, object]:
    """The same function through JAX and PyTorch, on the device that they choose: time per state, and agreement."""
    f = kt.compile(model_of("panda", folder), "rnea", checks=False)
    data = states(f.model, n, "float32")
    arrays = [data[name] for name in ALGORITHMS["rnea"]]
    expected = f(*(x[:1000] for x in arrays))
    found: dict[str, object] = {}
    try:
        import jax

        from kinetree.export.jax import to_jax
    except ImportError:
        pass
    else:
        g, ins = to_jax(f), [jax.device_put(x) for x in arrays]
        start = time.perf_counter()
        result = g(*ins).block_until_ready()
        built = time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(3):
            g(*ins).block_until_ready()
        spent = (time.perf_counter() - start) / 3
        error = float(np.abs(np.asarray(result[:1000]) - expected).max() / np.abs(expected).max())
        device = str(jax.devices()[0].device_kind)
        found["jax"] = {"device": device, "ns": 1e9 * spent / n, "seconds_to_first_result": built, "error": error}
    try:
        import torch

        from kinetree.export.torch import to_torch
    except ImportError:
        return found
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tensors = [torch.tensor(x[:1000], device=device, requires_grad=True) for x in arrays]
    hosts = [torch.tensor(x[:1000], requires_grad=True) for x in arrays]
    g = to_torch(f)
    result = g(*tensors)
    result.square().sum().backward()
    g(*hosts).square().sum().backward()
    pairs = [(result.detach().cpu().numpy(), expected)]
    pairs += [(x.grad.cpu().numpy(), y.grad.numpy()) for x, y in zip(tensors, hosts, strict=True)]
    error = max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in pairs)
    found["torch"] = {"device": device, "error_of_value_and_gradients": error}
    return found


def table(result: dict) -> str:
    """The results as a table of the documentation."""
    lines = [
        f"Measured on {result['device']}: a copy moves {result['ceilings']['bytes'] / 1e12:.2f} TB/s (read and "
        f"written), fused multiply-adds {result['ceilings']['fma float32'] / 1e12:.1f}e12/s in float32 and "
        f"{result['ceilings']['fma float64'] / 1e12:.1f}e12/s in float64.",
        "",
        "| robot | algorithm | type | states/s | ns, kernel | ns, with transfers | of bandwidth | of arithmetic "
        "| registers | local bytes | same bits as the CPU |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in result["lines"]:
        run = line["runs"][-1]
        lines.append(
            f"| {line['robot']} ({line['nv']}) | {line['algorithm']} | {line['dtype']} "
            f"| {line['states_per_second']:.3g} | {run['ns']:.3g} | {run['ns_with_transfers']:.3g} "
            f"| {line['fraction_of_bandwidth']:.0%} | {line['fraction_of_arithmetic']:.0%} | {run['registers']} "
            f"| {run['local_bytes']} | {line['same_bits']:.2%} |"
        )
    lines += ["", "Forms of the kernel of panda's rnea in float32:", "", "| form | states/s | registers |",
              "| --- | --- | --- |"]  # fmt: skip
    for line in result["variants"]:
        form = ", ".join(f"{key} {value}" for key, value in line["options"].items()) or "as emitted"
        lines.append(f"| {form} | {line['states_per_second']:.3g} | {line['runs'][-1]['registers']} |")
    if "jax" in result["frameworks"]:
        line = result["frameworks"]["jax"]
        lines += ["", f"The same function through JAX ({line['device']}): {line['ns']:.3g} ns per state, "
                  f"{line['seconds_to_first_result']:.1f} s until the first result."]  # fmt: skip
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--robots", default="panda,anymal_b,talos_reduced")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--models", type=pathlib.Path, help="folder of URDF files ROBOT.urdf")
    parser.add_argument("--export", type=pathlib.Path, help="write these files and stop")
    parser.add_argument("--rehearse", action="store_true", help="without a device; writes nothing")
    options = parser.parse_args(arguments)
    robots, algorithms = options.robots.split(","), options.algorithms.split(",")
    if options.export:
        from tests.engines.robots import robot_path

        options.export.mkdir(parents=True, exist_ok=True)
        for robot in robots:
            shutil.copy(robot_path(robot), options.export / f"{robot}.urdf")
        return
    device = Rehearsal() if options.rehearse else Device()
    batches = (100,) if options.rehearse else BATCHES
    result = {
        "device": device.name, "properties": device.properties, "ceilings": device.ceilings(), "machine": machine(),
        "versions": versions(("kinetree", "numpy", "llvmlite", "cupy-cuda12x", "cupy-cuda13x")),
        "lines": [], "variants": [], "frameworks": {},
    }  # fmt: skip
    for robot in robots:
        for algorithm in algorithms:
            for dtype in TYPES:
                line = measure(device, robot, algorithm, dtype, result["ceilings"], batches, options.models)
                result["lines"].append(line)
                print(f"{robot} {algorithm} {dtype}: {line['states_per_second']:.3g} states/s", flush=True)
    for form in VARIANTS:
        line = measure(device, "panda", "rnea", "float32", result["ceilings"], batches[-1:], options.models, **form)
        result["variants"].append(line)
    result["frameworks"] = frameworks(1000 if options.rehearse else 1_000_000, options.models)
    text = table(result)
    print(text)
    if not options.rehearse:
        store.write("gpu_" + device.name.lower().replace("nvidia ", "").replace(" ", "_"), result)
        head, marker, tail = TABLE.read_text().partition("<!-- results -->")
        _, end, rest = tail.partition("<!-- end of results -->")
        TABLE.write_text(f"{head}{marker}\n\n{text}\n\n{end}{rest}")


if __name__ == "__main__":
    main()
