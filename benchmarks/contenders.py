"""The ways to compute one algorithm for one robot: kinetree's and Pinocchio's, on the same random states.

Every contender is a function ``run(n)`` that repeats the whole set of states n times. What a user would prepare once
(contiguous arrays in the engine's own order and layout, one ``Data``, a pool of one thread) is prepared outside.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from tests.engines.pinocchio_bridge import Bridge, pinocchio_model
from tests.engines.robots import ROBOTS, robot_path

ALGORITHMS = {"rnea": ("q", "v", "a"), "crba": ("q",), "aba": ("q", "v", "tau")}
Runner = Callable[[int], None]
CALL_STATES = 64  # states a single-call block walks through: no call sees the state of the one before
BATCH_STATES = 4096
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
        self.shapes = {"rnea": (self.model.nv,), "crba": (self.model.nv, self.model.nv), "aba": (self.model.nv,)}

    # --- the answers ------------------------------------------------------------------------------------------------

    def answers(self, algorithm: str) -> SimpleNamespace:
        """The same quantity by every road, all in kinetree's form, with Pinocchio's own as ``reference``."""
        arguments = [self.states[name] for name in ALGORITHMS[algorithm]]
        rows = list(zip(*arguments, strict=True))
        f = self.kt.compile(self.model, algorithm)
        plain = getattr(self.kt, algorithm)
        poisoned = np.full((len(rows),) + self.shapes[algorithm], np.nan)  # what is not written must show
        one = np.full((len(rows),) + self.shapes[algorithm], np.nan)
        for row, out in zip(rows, one, strict=True):
            f(*row, out=out)
        f(*arguments, out=poisoned)
        return SimpleNamespace(
            reference=np.array([getattr(self.bridge, algorithm)(*row) for row in rows]),
            found={
                "call": np.array([f(*row) for row in rows]),
                "call, out=": one,
                "plain call": np.array([plain(self.model, *row) for row in rows]),
                "batch": f(*arguments),
                "batch, out=": poisoned,
            },
        )

    def condition_number(self) -> float:
        """The largest condition number of M among the states: what an error of the forces is amplified by in aba."""
        return max(float(np.linalg.cond(self.bridge.crba(q))) for q in self.states["q"])

    # --- single calls -------------------------------------------------------------------------------------------

    def calls(self, algorithm: str) -> dict[str, Runner]:
        """Contenders for one state per call from Python."""
        names = ALGORITHMS[algorithm]
        rows = list(zip(*([row.copy() for row in self.states[name]] for name in names), strict=True))
        model, plain, f = self.model, getattr(self.kt, algorithm), self.kt.compile(self.model, algorithm)
        out = np.empty(self.shapes[algorithm])
        contenders = {
            "kinetree out=": _loop(f, rows, out=out),
            "kinetree": _loop(f, rows),
            "kinetree plain": _loop(plain, rows, (model,)),
        }
        pin_rows = list(zip(*([row.copy() for row in self.pin_states[name]] for name in names), strict=True))
        call = getattr(pin, algorithm)
        for name, convention in self._conventions(algorithm).items():
            rows_of_one = [row + convention for row in pin_rows]
            contenders[name] = _loop(call, rows_of_one, (self.pin_model, self.bridge.data))
        return contenders

    @staticmethod
    def _conventions(algorithm: str) -> dict[str, tuple]:
        """Pinocchio's variants of an algorithm; crba and aba exist in two conventions, the faster one counts."""
        if algorithm == "rnea":
            return {"pinocchio": ()}
        return {"pinocchio local": (pin.Convention.LOCAL,), "pinocchio world": (pin.Convention.WORLD,)}

    # --- batches ------------------------------------------------------------------------------------------------

    def batches(self, algorithm: str) -> dict[str, Runner]:
        """Contenders for all states at once, on one core."""
        names = ALGORITHMS[algorithm]
        arguments = [np.ascontiguousarray(self.states[name]) for name in names]
        count = len(arguments[0])
        f = self.kt.compile(self.model, algorithm)
        out = np.empty((count,) + self.shapes[algorithm])
        contenders = {
            "kinetree out=": _loop(f, [tuple(arguments)], out=out),
            "kinetree": _loop(f, [tuple(arguments)]),
        }
        rows = list(zip(*([row.copy() for row in self.pin_states[name]] for name in names), strict=True))
        call, pin_model = getattr(pin, algorithm), self.pin_model
        pin_out = np.empty_like(out)
        for name, convention in self._conventions(algorithm).items():
            rows_of_one = [row + convention for row in rows]
            contenders[f"{name} loop"] = _loop(
                call, rows_of_one, (pin_model, self.bridge.data), pin_out, store="out[k] = "
            )
        parallel = getattr(pin, f"{algorithm}InParallel", None)
        if parallel is not None:
            pool = pin.ModelPool(pin_model, 1)
            columns = [np.asfortranarray(self.pin_states[name].T) for name in names]
            result = np.empty((self.model.nv, count), order="F")
            contenders["pinocchio pool of 1"] = _loop(parallel, [tuple(columns)], (1, pool))
            contenders["pinocchio pool of 1, out"] = _loop(parallel, [(*columns, result)], (1, pool))
        return contenders


def _loop(
    call: Callable, rows: list[tuple], prefix: tuple = (), out: np.ndarray | None = None, store: str = ""
) -> Runner:
    """``run(n)``: n times, ``call(*prefix, *row)`` for every row, written as a user writes it: ``f(q, v, out=out)``.

    With ``store`` the result is used: "out[k] = " stores it in row k of out.
    """
    given = [f"p{k}" for k in range(len(prefix))] + [f"x{k}" for k in range(len(rows[0]))]
    names = ", ".join(given[len(prefix) :]) + ","
    if store:
        loop, statement = f"for k, ({names}) in enumerate(rows)", f"{store}call({', '.join(given)})"
    else:
        keyword = ["out=out"] if out is not None else []
        loop, statement = f"for {names} in rows", f"call({', '.join(given + keyword)})"
    # Local variables throughout: what is timed is the call.
    source = f"""
def run(n, call=call, rows=rows, out=out, repeat=repeat{"".join(f", p{k}=prefix[{k}]" for k in range(len(prefix)))}):
    for _ in repeat(None, n):
        {loop}:
            {statement}
"""
    scope = {"call": call, "rows": rows, "out": out, "repeat": repeat, "prefix": prefix}
    exec(source, scope)
    return scope["run"]
