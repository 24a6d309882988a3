"""The tables of ``docs/benchmarks.md`` and of the README, made from ``benchmarks/results``.

``python -m benchmarks.table`` writes them anew. Every table stands between two markers, ``<!-- NAME:begin -->`` and
``<!-- NAME:end -->``; the text around is written by hand.
"""

from __future__ import annotations

import pathlib
import statistics

from benchmarks import store

ROOT = pathlib.Path(__file__).parent.parent
README, PAGE = ROOT / "README.md", ROOT / "docs" / "benchmarks.md"
FUNCTION = ("kinetree out=", "kinetree")  # the compiled Function, with and without an array to fill
TARGETS = {  # times Pinocchio's C++, batches of 4096 states on one core in float64
    "rnea": {"panda": 20, "anymal_b": 18, "talos_reduced": 15},
    "aba": {"panda": 20, "anymal_b": 18, "talos_reduced": 15},
    "crba": dict.fromkeys(("panda", "anymal_b", "talos_reduced"), 8),
    "rnea_derivatives": dict.fromkeys(("panda", "anymal_b", "talos_reduced"), 8),
    "aba_derivatives": dict.fromkeys(("panda", "anymal_b", "talos_reduced"), 8),
}
COMPILE_TARGETS = {("talos_reduced", "aba"): 0.7, ("talos_reduced", "aba_derivatives"): 2.5}


def best(part: dict) -> str:
    """kinetree's faster method."""
    return min(FUNCTION, key=lambda name: part["seconds"][name]["median"])


def machine_line(result: dict) -> str:
    """Where and with what a result was measured."""
    about, versions = result["machine"], result["versions"]
    vector = next((name for name in ("avx512f", "avx2", "asimd") if name in about["flags"]), "no vector extension")
    names = {"pin": "Pinocchio", "mujoco-mjx": "MJX", "mujoco": "MuJoCo", "drake": "Drake", "jax": "JAX"}
    shown = ", ".join(
        f"{names.get(name, name)} {version}"
        for name, version in versions.items()
        if version != "not installed" and name not in ("kinetree", "example-robot-data")
    )
    compiler = result["method"].get("pinocchio_cpp")
    compiled = f"; {compiler['compiler']}, `{compiler['flags']}`" if compiler else ""
    return f"{about['processor']} ({vector}), one core, Python {about['python']}, {shown}{compiled}; {result['date']}."


def headline(result: dict) -> str:
    """The few lines of the README."""
    lines = [
        "| robot (nv) | algorithm | one call, us | Pinocchio's Python call | ratio | batch, ns per state "
        "| Pinocchio's C++ | ratio | packed, ns | ratio |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        cells = [f"{row['robot']} ({row['nv']})", row["algorithm"]]
        for kind, scale in (("call", 1e6), ("batch", 1e9)):
            part = row[kind]
            method = best(part)
            ours, theirs = part["seconds"][method], part["seconds"][part["rival"]]
            digits = 2 if kind == "call" else 0
            cells += [f"{each['median'] * scale:.{digits}f}" for each in (ours, theirs)]
            cells.append(f"**{part['ratios'][method]['median']:.1f}x**")
        cells += _packed(row["batch"])
        lines.append("| " + " | ".join(cells) + " |")
    method = result["method"]
    error = max(max(each["errors"].values()) for each in result["verification"])
    return "\n".join(
        [
            *lines,
            "",
            f"{machine_line(result)} CPU time, medians of {method['repeats']} interleaved repeats; batches of "
            f"{method['batch_states']} states in ordinary float64 arrays; packed: `kt.compiler.packed`, each distinct "
            f"entry of the matrices once. The results agree: the largest relative difference is {error:.0e}. Float32, "
            "threads, compile times and other engines: "
            "[benchmarks](docs/benchmarks.md).",
        ]
    )


def throughput(result: dict) -> str:
    """Batches in detail, with the targets."""
    lines = [
        "| robot (nv) | algorithm | Pinocchio C++, ns | kinetree, ns per state | ratio (lowest to highest) "
        "| packed, ns | ratio | target | new arrays, ns | float32, ns (gain) | large batch, ns (states) "
        "| 2 threads, wall |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        part, scale = row["batch"], row["scale"]
        seconds = part["seconds"]
        ours = seconds["kinetree out="]["median"]
        single = seconds["kinetree float32 out="]["median"]
        ratio, target = part["ratios"]["kinetree out="], TARGETS.get(row["algorithm"], {}).get(row["robot"])
        large = scale["large_batch"]
        packed = part["ratios"].get("kinetree packed out=")
        best_ratio = max(ratio["median"], packed["median"] if packed else 0.0)
        lines.append(
            f"| {row['robot']} ({row['nv']}) | {row['algorithm']} | {1e9 * seconds[part['rival']]['median']:.0f}"
            f" | {1e9 * ours:.0f} | **{ratio['median']:.1f}x** ({ratio['lowest']:.1f} to {ratio['highest']:.1f})"
            f" | {' | '.join(_packed(part))}"
            f" | {_target(best_ratio, target)} | {1e9 * seconds['kinetree']['median']:.0f}"
            f" | {1e9 * single:.0f} ({ours / single:.2f}x) | {1e9 * large['median']:.0f} ({large['states']})"
            f" | {scale['speedup']['median']:.2f}x |"
        )
    return "\n".join([*lines, "", machine_line(result)])


def _packed(batch: dict) -> list[str]:
    """Time and ratio of packed results, where there are matrices to pack."""
    ratio = batch["ratios"].get("kinetree packed out=")
    if ratio is None:
        return ["", ""]
    return [f"{1e9 * batch['seconds']['kinetree packed out=']['median']:.0f}", f"**{ratio['median']:.1f}x**"]


def calls(result: dict) -> str:
    """Single calls from Python."""
    lines = [
        "| robot (nv) | algorithm | Pinocchio, us | `f(...)`, us | `f(..., out=)`, us | `kt.name(model, ...)`, us "
        "| ratio of `f(...)` | `f.single(...)`, us | ratio | target |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        part = row["call"]
        method = best(part)
        times = {name: 1e6 * each["median"] for name, each in part["seconds"].items()}
        target = 3 if row["algorithm"].endswith("derivatives") else 5
        ratio, single = part["ratios"][method]["median"], part["ratios"]["kinetree single"]["median"]
        lines.append(
            f"| {row['robot']} ({row['nv']}) | {row['algorithm']} | {times[part['rival']]:.2f}"
            f" | {times['kinetree']:.2f} | {times['kinetree out=']:.2f} | {times['kinetree plain']:.2f}"
            f" | **{ratio:.1f}x** | {times['kinetree single']:.2f} | **{single:.1f}x** | {_target(ratio, target)} |"
        )
    return "\n".join(lines)


def compiling(result: dict) -> str:
    """Compile times and first results in fresh processes."""
    lines = [
        "| robot, algorithm | trace to callable, s | from the cache, s | CPU until the first result, compiling "
        "| from the cache | Pinocchio |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["first_results"]:
        target = COMPILE_TARGETS.get((row["robot"], row["algorithm"]))
        cold = f"{row['cold']['callable']:.2f}" + (f" (target {target})" if target else "")
        lines.append(
            f"| {row['robot']} {row['algorithm']} | {cold} | {row['cached']['callable']:.3f} | "
            + " | ".join(f"{row[method]['first result']:.2f}" for method in ("cold", "cached", "pinocchio"))
            + " |"
        )
    return "\n".join(lines)


def rivals(result: dict) -> str:
    """All engines: ns per state and how many times kinetree's time, the fastest offer of each."""
    quantities = list(dict.fromkeys(row["quantity"] for robot in result["robots"] for row in robot["rows"]))
    names = list(dict.fromkeys((row["rival"], row["mode"]) for robot in result["robots"] for row in robot["rows"]))
    names.sort(key=lambda each: ("call", "loop", "batch").index(each[1]))
    lines = []
    for quantity in quantities:
        lines += [
            f"**{quantity}**",
            "",
            "| engine | " + " | ".join(f"{robot['robot']} ({robot['nv']})" for robot in result["robots"]) + " |",
            "| --- |" + " ---: |" * len(result["robots"]),
        ]
        for rival, mode in names:
            cells = []
            for robot in result["robots"]:
                rows = [
                    row for row in robot["rows"]
                    if (row["rival"], row["mode"], row["quantity"]) == (rival, mode, quantity)
                ]  # fmt: skip
                row = min(rows, key=lambda each: each["seconds"]["median"], default=None)
                cells.append("" if row is None else f"{_short(1e9 * row['seconds']['median'])} ({row['ratio']:.3g}x)")
            if any(cells):
                lines.append(f"| {rival}, {MODES[mode]} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join([*lines, *_absent(result), "", machine_line(result)])


MODES = {"call": "one state a Python call", "loop": "compiled loop", "batch": "batch"}


def builds(result: dict) -> str:
    """What it takes to have a function of each engine: seconds until the first result, per quantity the median."""
    lines = [
        "| engine | " + " | ".join(robot["robot"] for robot in result["robots"]) + " |",
        "| --- |" + " ---: |" * len(result["robots"]),
    ]
    for rival in dict.fromkeys(row["rival"] for robot in result["robots"] for row in robot["rows"]):
        cells = []
        for robot in result["robots"]:
            seconds = [row["build"] for row in robot["rows"] if row["rival"] == rival]
            cells.append(f"{statistics.median(seconds):.2f} (most {max(seconds):.2f})" if seconds else "")
        if not rival.startswith("Pinocchio"):
            lines.append(f"| {rival} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _absent(result: dict) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for robot in result["robots"]:
        for name, why in robot["absent"].items():
            reasons.setdefault(f"{name}: {why}", []).append(robot["robot"])
    wrong = [
        f"- {robot['robot']}: {e['rival']} {e['quantity']} ({e['mode']}) differs by {e['error']:.0e} and is not timed"
        for robot in result["robots"]
        for e in robot["errors"]
        if not e["right"]
    ]
    return [f"- {', '.join(robots)}: {why}" for why, robots in reasons.items()] + wrong


def _short(ns: float) -> str:
    return f"{ns:.0f} ns" if ns < 9950 else f"{ns / 1e3:.0f} us" if ns < 9.95e6 else f"{ns / 1e6:.0f} ms"


def _target(found: float, target: float | None) -> str:
    return "" if target is None else f"{target}x {'reached' if found >= target else 'missed'}"


def put(path: pathlib.Path, name: str, text: str) -> None:
    """Put a table between its markers."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    page = path.read_text()
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{path.name} lacks the markers {begin} and {end}")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def update_documents() -> None:
    """Rewrite every table whose result is there."""
    if (store.RESULTS / "throughput.json").is_file():
        result = store.read("throughput")
        put(README, "benchmarks", headline(result))
        for name, table in (("throughput", throughput), ("calls", calls), ("compiling", compiling)):
            put(PAGE, name, table(result))
    if (store.RESULTS / "rivals.json").is_file():
        result = store.read("rivals")
        put(PAGE, "rivals", rivals(result))
        put(PAGE, "builds", builds(result))
    print("wrote the tables of README.md and docs/benchmarks.md")


if __name__ == "__main__":
    update_documents()
