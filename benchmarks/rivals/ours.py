"""kinetree's own entries, and the reference answers of Pinocchio's Python package."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.rivals.contest import ARGUMENTS, Absent, Offer, Robot, flat, loop, repeated

CALLS = 64
CONVENTIONS = {"crba": ("LOCAL", "WORLD"), "aba": ("LOCAL", "WORLD")}
NAMES = {"rnea_derivatives": "computeRNEADerivatives", "aba_derivatives": "computeABADerivatives"}


def kinetree(robot: Robot, batch: int) -> Iterator[Offer]:
    """The compiled Function, one state a call and in batches of both precisions, on one core."""
    for quantity in ARGUMENTS:
        start = time.perf_counter()
        f = robot.kt.compile(robot.model, quantity, threads=1)
        first = [x[0] for x in robot.rows(quantity, 1)]
        f(*first)
        build = time.perf_counter() - start
        calls = list(zip(*robot.rows(quantity, CALLS), strict=True))
        yield Offer(
            "kinetree", quantity, "call", loop(f, calls), lambda f=f, x=calls: _each(f, x), CALLS, build
        )  # fmt: skip
        for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-3)):
            rows = [np.ascontiguousarray(x, dtype) for x in robot.rows(quantity, batch)]
            start = time.perf_counter()
            out = f(*rows)
            out = tuple(out) if isinstance(out, tuple) else out
            built = build if dtype == "float64" else time.perf_counter() - start
            name = "kinetree" if dtype == "float64" else "kinetree float32"
            yield Offer(
                name, quantity, "batch", repeated(lambda f=f, x=rows, o=out: f(*x, out=o)),
                lambda f=f, x=rows: flat(f(*x)).astype(float), batch, built, tolerance,
            )  # fmt: skip


def _each(f, rows) -> np.ndarray:
    results = [f(*row) for row in rows]
    if isinstance(results[0], tuple):
        return flat(tuple(np.array(part) for part in zip(*results, strict=True)))
    return flat(np.array(results))


class Pinocchio:
    """Pinocchio's Python package and its C++ on the robot; also the reference of all answers."""

    def __init__(self, robot: Robot, batch: int) -> None:
        try:
            import pinocchio as pin

            from tests.engines.pinocchio_bridge import Bridge
        except ImportError as error:
            raise Absent(f"pinocchio: {error}") from None
        self.pin, self.robot, self.batch = pin, robot, batch
        if robot.floating:
            self.model = pin.buildModelFromXML(robot.urdf, pin.JointModelFreeFlyer())
        else:
            self.model = pin.buildModelFromXML(robot.urdf)
        self.bridge = Bridge(robot.model, self.model)
        convert = {"q": self.bridge.q_to_pin}
        self.states = {name: convert.get(name, self.bridge.v_to_pin)(x) for name, x in robot.states.items()}

    def reference(self, quantity: str, count: int) -> np.ndarray:
        """The answers of Pinocchio's Python call for the first states, in kinetree's form."""
        rows = zip(*(self.states[name][:count] for name in ARGUMENTS[quantity]), strict=True)
        return np.concatenate([self._one(quantity, row) for row in rows])

    def _one(self, quantity: str, row) -> np.ndarray:
        pin, bridge, data = self.pin, self.bridge, self.bridge.data
        if quantity == "bias_forces":
            return flat(bridge.v_from_pin(pin.nonLinearEffects(self.model, data, *row))[None])
        result = getattr(pin, NAMES.get(quantity, quantity))(self.model, data, *row)
        if quantity in ("rnea", "aba"):
            return flat(bridge.v_from_pin(result)[None])
        if quantity == "crba":
            return flat(bridge.symmetric_from_pin(result)[None])
        if quantity == "rnea_derivatives":
            parts = data.dtau_dq, data.dtau_dv, data.M
        else:
            parts = data.ddq_dq, data.ddq_dv, data.Minv
        return flat(
            (
                bridge.matrix_from_pin(parts[0])[None],
                bridge.matrix_from_pin(parts[1])[None],
                bridge.symmetric_from_pin(parts[2])[None],
            )
        )

    def offers(self) -> Iterator[Offer]:
        """The Python calls; the C++ loops; the library's own batches with one thread."""
        pin, data = self.pin, self.bridge.data
        for quantity in ARGUMENTS:
            rows = list(zip(*(self.states[n][:CALLS].copy() for n in ARGUMENTS[quantity]), strict=True))
            name = "nonLinearEffects" if quantity == "bias_forces" else NAMES.get(quantity, quantity)
            call = getattr(pin, name)
            for convention in CONVENTIONS.get(quantity, (None,)):
                extra = () if convention is None else (getattr(pin.Convention, convention),)
                given = [(self.model, data, *row, *extra) for row in rows]
                yield Offer(
                    "Pinocchio", quantity, "call", loop(call, given),
                    lambda quantity=quantity: self.reference(quantity, CALLS), CALLS, 0.0,
                    note=f"{convention.lower()} convention" if convention else "",
                )  # fmt: skip
        yield from self._cpp()
        for quantity in ("rnea", "aba"):
            parallel, pool = getattr(pin, f"{quantity}InParallel"), pin.ModelPool(self.model, 1)
            columns = [np.asfortranarray(self.states[n][: self.batch].T) for n in ARGUMENTS[quantity]]
            result = np.empty((self.model.nv, self.batch), order="F")
            run = repeated(lambda f=parallel, p=pool, x=columns, r=result: f(1, p, *x, r))
            run(1)
            yield Offer(
                "Pinocchio InParallel", quantity, "batch", run,
                lambda r=result, run=run: (run(1), self.bridge.v_from_pin(r.T))[1], self.batch, 0.0,
            )  # fmt: skip

    def _cpp(self) -> Iterator[Offer]:
        from benchmarks.rivals.pinocchio_cpp import METHODS, NoCompiler, PinocchioCpp

        try:
            loops = PinocchioCpp(self.model, {name: x[:CALLS] for name, x in self.states.items()})
        except NoCompiler as error:
            print(f"  Pinocchio C++: absent ({error})")
            return
        self.compiler = loops.about
        nv, bridge = self.model.nv, self.bridge

        def result(quantity, method):
            found = loops.results(quantity, method)
            if quantity in ("rnea", "aba"):
                return bridge.v_from_pin(found[:, 0])
            if quantity == "crba":
                return flat(bridge.symmetric_from_pin(found))
            parts = [found[:, k * nv : (k + 1) * nv] for k in range(3)]
            return flat((*[bridge.matrix_from_pin(part) for part in parts[:2]], bridge.symmetric_from_pin(parts[2])))

        for quantity, methods in METHODS.items():
            runners = loops.methods(quantity)
            for method in methods:
                note = f"{method.strip()} convention" if method else ""
                yield Offer(
                    "Pinocchio C++", quantity, "loop", runners[method],
                    lambda q=quantity, r=method: result(q, r), CALLS, 0.0, note=note,
                )  # fmt: skip
