"""The ways to compute one algorithm for one robot: kinetree's and Pinocchio's, on the same random states.

Every contender is a function ``run(n)`` that repeats the whole set of states n times. What a user would prepare once
(contiguous arrays in the engine's own order and layout, one ``Data``, a pool of one thread) is prepared outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import repeat
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from benchmarks.rivals.pinocchio_cpp import PinocchioCpp
from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import ROBOTS, robot_path

ALGORITHMS = {
    "rnea": ("q", "v", "a"),
    "crba": ("q",),
    "aba": ("q", "v", "tau"),
    "rnea_derivatives": ("q", "v", "a"),
    "aba_derivatives": ("q", "v", "tau"),
}
PINOCCHIO = {  # the names of Pinocchio's functions, where they differ
    "rnea_derivatives": "computeRNEADerivatives",
    "aba_derivatives": "computeABADerivatives",
}
Runner = Callable[[int], None]
CALL_STATES = 64  # states a single-call block walks through: no call sees the state of the one before
BATCH_STATES = 4096
LARGE_BATCH = 100_000
MEMORY = 2e9  # bytes of results of the large batch, at most
SEED = 20080101


class Task:
    """One robot: both models, the states in each engine's own form, and the contenders.

    Parameters
    ----------
    kt : module
        kinetree, or anything with its ``load``, ``compile`` and plain calls.
    robot : str
        A name of ``tests.engines.robots.ROBOTS``.
    states : int
        Number of random states.
    """

    def __init__(self, kt, robot: str, states: int) -> None:
        path, floating = robot_path(robot), ROBOTS[robot].floating_base
        self.kt, self.robot = kt, robot
        self.model = kt.load(path, floating_base=floating, inertia="accept")
        self.pin_model = pinocchio_model(path, floating)
        self.bridge = Bridge(self.model, self.pin_model)
        q, v, a, tau = self.bridge.random_state(np.random.default_rng(SEED), (states,))
        self.states = {"q": q, "v": v, "a": a, "tau": tau}
        bridge = self.bridge
        self.pin_states = {
            "q": bridge.q_to_pin(q),
            "v": bridge.v_to_pin(v),
            "a": bridge.a_to_pin(a),
            "tau": bridge.tau_to_pin(tau),
        }

    @functools.cached_property
    def cpp(self) -> PinocchioCpp:
        """Pinocchio's C++ on these states."""
        return PinocchioCpp(self.pin_model, self.pin_states)

    def function(self, algorithm: str, **options):
        """kinetree's compiled function; one thread unless told otherwise."""
        return self.kt.compile(self.model, algorithm, **{"threads": 1, **options})

    def packed(self, algorithm: str):
        """kinetree's function that writes each distinct entry of its matrices once; None where there is no matrix."""
        return None if algorithm in ("rnea", "aba") else self.kt.compiler.packed(self.function(algorithm))

    def arrays(self, algorithm: str, count: int, dtype: str = "float64"):
        """Arrays to fill with the results of a batch, poisoned: what is not written shows."""
        shapes = self._shapes(algorithm)
        made = tuple(np.full((count, *shape) if count else shape, np.nan, dtype) for shape in shapes)
        return made if len(made) > 1 else made[0]

    def _shapes(self, algorithm: str) -> list[tuple[int, ...]]:
        nv = self.model.nv
        matrix = algorithm not in ("rnea", "aba")
        return [(nv, nv) if matrix else (nv,)] * (3 if algorithm.endswith("derivatives") else 1)

    # --- the answers ------------------------------------------------------------------------------------------------

    def answers(self, algorithm: str, cpp: bool = True) -> SimpleNamespace:
        """The same quantity by every method, all in kinetree's form, with Pinocchio's Python call as ``reference``."""
        arguments = [self.states[name] for name in ALGORITHMS[algorithm]]
        rows = list(zip(*arguments, strict=True))
        f = self.function(algorithm)
        plain = getattr(self.kt, algorithm)
        one, many = [self.arrays(algorithm, 0) for _ in rows], self.arrays(algorithm, len(rows))
        for row, out in zip(rows, one, strict=True):
            f(*row, out=out)
        f(*arguments, out=many)
        single = [x.astype(np.float32) for x in arguments]
        found = {
            "call": [f(*row) for row in rows],
            "call, out=": one,
            "plain call": [plain(self.model, *row) for row in rows],
            "batch": f(*arguments),
            "batch, out=": many,
        }
        small = self.packed(algorithm)
        if small is not None:
            vectors = small(*arguments)
            found["packed"] = small.unpack(*(vectors if isinstance(vectors, tuple) else (vectors,)))
        found = {method: _stacked(each) for method, each in found.items()}
        if cpp:
            for method in self._methods(algorithm):
                found[f"pinocchio c++{method}"] = self._from_cpp(algorithm, self.cpp.results(algorithm, method))
        return SimpleNamespace(
            reference=_stacked([self._by_pinocchio(algorithm, row) for row in rows]),
            found=found,
            single=_stacked(f(*single)),
        )

    def _by_pinocchio(self, algorithm: str, row):
        bridge, data = self.bridge, self.bridge.data
        if algorithm in ("rnea", "crba", "aba"):
            return getattr(bridge, algorithm)(*row)
        args = bridge.q_to_pin(row[0]), bridge.v_to_pin(row[1]), bridge.v_to_pin(row[2])
        getattr(pin, PINOCCHIO[algorithm])(self.pin_model, data, *args)
        if algorithm == "rnea_derivatives":
            parts = data.dtau_dq, data.dtau_dv, data.M
        else:
            parts = data.ddq_dq, data.ddq_dv, data.Minv
        symmetric = bridge.symmetric_from_pin(parts[2])
        return bridge.matrix_from_pin(parts[0]), bridge.matrix_from_pin(parts[1]), symmetric

    def _from_cpp(self, algorithm: str, results: np.ndarray) -> np.ndarray:
        """Results of the C++ loop in kinetree's form, stacked."""
        bridge, nv = self.bridge, self.model.nv
        if algorithm in ("rnea", "aba"):
            return _stacked(bridge.v_from_pin(results[:, 0]))
        if algorithm == "crba":
            return _stacked(bridge.symmetric_from_pin(results))
        parts = [results[:, k * nv : (k + 1) * nv] for k in range(3)]
        return _stacked((*[bridge.matrix_from_pin(part) for part in parts[:2]], bridge.symmetric_from_pin(parts[2])))

    def condition_number(self) -> float:
        """The largest condition number of M among the states: what an error of the forces is amplified by in aba."""
        return max(float(np.linalg.cond(self.bridge.crba(q))) for q in self.states["q"])

    # --- single calls -------------------------------------------------------------------------------------------

    def calls(self, algorithm: str) -> dict[str, Runner]:
        """Contenders for one state per call from Python."""
        names = ALGORITHMS[algorithm]
        rows = list(zip(*([row.copy() for row in self.states[name]] for name in names), strict=True))
        model, plain, f = self.model, getattr(self.kt, algorithm), self.function(algorithm)
        out = self.arrays(algorithm, 0)
        f(*rows[0])  # builds it: its bare entry is there from now on
        contenders = {
            "kinetree single": _loop(f.single, rows),
            "kinetree out=": _loop(f, rows, out=out),
            "kinetree": _loop(f, rows),
            "kinetree plain": _loop(plain, rows, (model,)),
        }
        pin_rows = list(zip(*([row.copy() for row in self.pin_states[name]] for name in names), strict=True))
        call = getattr(pin, PINOCCHIO.get(algorithm, algorithm))
        for name, convention in self._conventions(algorithm).items():
            rows_of_one = [row + convention for row in pin_rows]
            contenders[name] = _loop(call, rows_of_one, (self.pin_model, self.bridge.data))
        return contenders

    @staticmethod
    def _conventions(algorithm: str) -> dict[str, tuple]:
        """Pinocchio's variants of an algorithm; crba and aba exist in two conventions, the faster one counts."""
        if algorithm not in ("crba", "aba"):
            return {"pinocchio": ()}
        return {"pinocchio local": (pin.Convention.LOCAL,), "pinocchio world": (pin.Convention.WORLD,)}

    def _methods(self, algorithm: str) -> list[str]:
        return list(self.cpp.methods(algorithm))

    def compiled(self, algorithm: str) -> dict[str, Runner]:
        """Pinocchio's C++ on the states one by one, the result of each left in its Data."""
        return {f"pinocchio c++{method}": run for method, run in self.cpp.methods(algorithm).items()}

    def python_calls(self, algorithm: str) -> dict[str, Runner]:
        """Pinocchio's Python calls, and the same call for a model without joints: what the binding itself takes."""
        empty = pin.Model()
        count = len(ALGORITHMS[algorithm])
        rows = [tuple(np.empty(0) for _ in range(count))] * CALL_STATES
        call = getattr(pin, PINOCCHIO.get(algorithm, algorithm))
        calls = {name: run for name, run in self.calls(algorithm).items() if name.startswith("pinocchio")}
        return {**calls, "empty call": _loop(call, rows, (empty, empty.createData()))}

    # --- batches ------------------------------------------------------------------------------------------------

    def batches(self, algorithm: str) -> dict[str, Runner]:
        """kinetree's contenders for all states at once: both precisions, new arrays and given ones, packed matrices."""
        names = ALGORITHMS[algorithm]
        arguments = tuple(np.ascontiguousarray(self.states[name]) for name in names)
        single = tuple(x.astype(np.float32) for x in arguments)
        f, count = self.function(algorithm), len(arguments[0])
        contenders = {
            "kinetree out=": _loop(f, [arguments], out=self.arrays(algorithm, count)),
            "kinetree": _loop(f, [arguments]),
            "kinetree float32 out=": _loop(f, [single], out=self.arrays(algorithm, count, "float32")),
        }
        small = self.packed(algorithm)
        if small is not None:
            vectors = small(*arguments)
            out = tuple(vectors) if isinstance(vectors, tuple) else vectors
            contenders["kinetree packed out="] = _loop(small, [arguments], out=out)
        return contenders

    def large_batch(self, algorithm: str) -> tuple[int, Runner]:
        """100 000 states, or as many as the results' memory allows; the states repeat."""
        count, arguments = self._repeated(algorithm, LARGE_BATCH, MEMORY)
        return count, _loop(self.function(algorithm), [arguments], out=self.arrays(algorithm, count))

    def threaded(self, algorithm: str, threads: int) -> tuple[int, Runner]:
        """A batch shared by several threads, large enough that starting them does not show."""
        count, arguments = self._repeated(algorithm, LARGE_BATCH // 2, MEMORY / 8)
        f = self.function(algorithm, threads=threads)
        return count, _loop(f, [arguments], out=self.arrays(algorithm, count))

    def _repeated(self, algorithm: str, most: int, memory: float) -> tuple[int, tuple]:
        size = sum(8 * int(np.prod(shape)) for shape in self._shapes(algorithm))
        count = min(most, int(memory / size))
        states = [self.states[name] for name in ALGORITHMS[algorithm]]
        return count, tuple(np.resize(x, (count, x.shape[1])) for x in states)

    def pools(self, algorithm: str) -> dict[str, Runner]:
        """Pinocchio's own batch functions with one thread, where it has them."""
        parallel = getattr(pin, f"{algorithm}InParallel", None)
        if parallel is None:
            return {}
        pool = pin.ModelPool(self.pin_model, 1)
        columns = [np.asfortranarray(self.pin_states[name].T) for name in ALGORITHMS[algorithm]]
        result = np.empty((self.model.nv, len(self.states["q"])), order="F")
        return {"pinocchio pool of 1": _loop(parallel, [(*columns, result)], (1, pool))}


def _stacked(results) -> np.ndarray:
    """Results of many states as one array (states, entries): of one array, a tuple, or a list of either."""
    if isinstance(results, list):
        return np.array([np.concatenate([np.ravel(x) for x in (r if isinstance(r, tuple) else (r,))]) for r in results])
    parts = results if isinstance(results, tuple) else (results,)
    return np.concatenate([np.reshape(x, (len(x), -1)) for x in parts], axis=1)


def _loop(call: Callable, rows: list[tuple], prefix: tuple = (), out=None) -> Runner:
    """``run(n)``: n times, ``call(*prefix, *row)`` for every row, written as a user writes it: ``f(q, v, out=out)``."""
    given = [f"p{k}" for k in range(len(prefix))] + [f"x{k}" for k in range(len(rows[0]))]
    names = ", ".join(given[len(prefix) :]) + ","
    keyword = ["out=out"] if out is not None else []
    # Local variables throughout: what is timed is the call.
    source = f"""
def run(n, call=call, rows=rows, out=out, repeat=repeat{"".join(f", p{k}=prefix[{k}]" for k in range(len(prefix)))}):
    for _ in repeat(None, n):
        for {names} in rows:
            call({", ".join(given + keyword)})
"""
    scope = {"call": call, "rows": rows, "out": out, "repeat": repeat, "prefix": prefix}
    exec(source, scope)
    return scope["run"]
