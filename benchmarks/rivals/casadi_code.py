"""C code that CasADi generates from adam's expressions, compiled by gcc, called in a loop of compiled code."""

from __future__ import annotations

import ctypes
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.rivals.contest import Absent, Offer, Robot, flat
from benchmarks.rivals.jax_engines import adam_joints, adam_states
from benchmarks.rivals.ours import CALLS

FLAGS = ("-O3", "-march=native", "-fPIC", "-shared", "-w")
LOOP = """
/* All states n times; the result of each stays where it is (step 0), or gets its own place. */
void loop(long n, long count, const double** in, const long* widths, long arrays, double* out, long step) {
  const double* arg[SZ_ARG]; double* res[SZ_RES]; casadi_int iw[SZ_IW + 1]; double w[SZ_W + 1];
  for (long r = 0; r < n; ++r)
    for (long k = 0; k < count; ++k) {
      for (long i = 0; i < arrays; ++i) arg[i] = in[i] + k * widths[i];
      res[0] = out + k * step;
      FUNCTION(arg, res, iw, w, 0);
    }
}
"""


class Generated:
    """A CasADi function as machine code, with the loop above."""

    def __init__(self, function) -> None:
        gcc = shutil.which("gcc")
        if gcc is None:
            raise Absent("no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "function.c"
            sizes = {
                "ARG": function.sz_arg(), "RES": function.sz_res(), "IW": function.sz_iw(), "W": function.sz_w(),
            }  # fmt: skip
            loop_code = LOOP.replace("FUNCTION", function.name())
            for name, size in sizes.items():
                loop_code = loop_code.replace(f"SZ_{name}", str(size))
            source.write_text(_generated(function, folder) + loop_code)
            library = source.with_suffix(".so")
            subprocess.run([gcc, *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
            self.library = ctypes.CDLL(str(library))
        self.size = function.numel_out(0)

    def runner(self, arrays: list[np.ndarray], out: np.ndarray, step: int):
        """``run(n)`` over the states of the arrays."""
        count = len(arrays[0])
        pointers = (ctypes.c_void_p * len(arrays))(*[x.ctypes.data for x in arrays])
        widths = (ctypes.c_long * len(arrays))(*[x[0].size for x in arrays])
        loop, place = self.library.loop, ctypes.c_void_p(out.ctypes.data)

        def run(n: int, keep=(arrays, out)) -> None:
            loop(
                ctypes.c_long(n), ctypes.c_long(count), pointers, widths, ctypes.c_long(len(keep[0])), place,
                ctypes.c_long(step),
            )  # fmt: skip

        return run


def _generated(function, folder: str) -> str:
    """The C code of a CasADi function."""
    import casadi

    generator = casadi.CodeGenerator("generated.c")
    generator.add(function)
    generator.generate(folder + "/")
    return (pathlib.Path(folder) / "generated.c").read_text()


def casadi_code(robot: Robot, batch: int) -> Iterator[Offer]:
    """Mass matrix, bias forces, inverse dynamics as M a + h, and forward dynamics of free bases."""
    try:
        import casadi as cs
        from adam.casadi import KinDynComputations
        from adam.core.constants import Representations
    except ImportError as error:
        raise Absent(str(error)) from None
    names = adam_joints(robot)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "robot.urdf"
        file.write_text(robot.urdf)
        try:
            rival = KinDynComputations(str(file), names, gravity=np.array([0, 0, -9.81, 0, 0, 0.0]))
        except Exception as error:
            raise Absent(f"cannot read the file: {type(error).__name__}: {str(error)[:120]}") from None
    rival.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    there, H, s, base, rates = adam_states(robot, names, CALLS)
    q, v, a, tau = (robot.states[name][:CALLS] for name in ("q", "v", "a", "tau"))
    skip = 0 if robot.floating else 6
    n = len(names)
    symbols = {
        "H": cs.SX.sym("H", 4, 4), "s": cs.SX.sym("s", n), "base": cs.SX.sym("base", 6), "rates": cs.SX.sym("rates", n),
        "a": cs.SX.sym("a", n + 6 - skip), "tau": cs.SX.sym("tau", n),
    }  # fmt: skip
    values = {
        "H": np.swapaxes(H, 1, 2), "s": s, "base": base, "rates": rates, "a": there.a(q, v, a),
        "tau": there.v(q, tau)[:, 6 - skip :],
    }  # fmt: skip
    mass = rival.mass_matrix(symbols["H"], symbols["s"])[skip:, skip:]
    bias = rival.bias_force(symbols["H"], symbols["s"], symbols["base"], symbols["rates"])[skip:]
    state = ("H", "s", "base", "rates")

    def offer(quantity, inputs, expression, back, note=""):
        start = time.perf_counter()
        given = [symbols[name] for name in inputs]
        made = Generated(cs.Function("f", given, [cs.densify(expression)], {"cse": True}))
        build = time.perf_counter() - start
        arrays = [np.ascontiguousarray(values[name], float) for name in inputs]
        found, hot = np.full((CALLS, made.size), np.nan), np.empty(made.size)

        def result():
            made.runner(arrays, found, made.size)(1)
            return back(found)

        run = made.runner(arrays, hot, 0)
        return Offer("CasADi code", quantity, "loop", run, result, CALLS, build, note=note)

    yield offer("bias_forces", state, bias, lambda x: there.tau_back(q, x))
    shape = (CALLS, robot.model.nv, robot.model.nv)
    yield offer("crba", ("H", "s"), mass, lambda x: flat(there.M_back(q, x.reshape(shape))))
    yield offer("rnea", (*state, "a"), mass @ symbols["a"] + bias, lambda x: there.tau_back(q, x), "M a + h")
    if robot.floating:
        forward = rival.aba(*[symbols[name] for name in (*state, "tau")])
        given = there.v(q, tau)
        given[:, :6] = 0.0
        made = offer("aba", (*state, "tau"), forward, lambda x: there.a_back(q, v, x), "no base forces")
        made.reference = lambda: robot.kt.aba(robot.model, q, v, there.tau_back(q, given))
        yield made
