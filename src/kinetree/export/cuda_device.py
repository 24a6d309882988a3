"""CUDA C++ text that every kernel of `cuda_source` begins with: moves between memories, and sine and cosine."""

from __future__ import annotations

from kinetree.export.c_code import Dialect
from kinetree.native.elementary import HALF_PI, ROUNDER
from kinetree.native.large_angles import large_angle_text
from kinetree.native.llvm_math import COS, LIMIT, SIN

MOVES = """
// 32 rows of N entries, without gaps, as 16-byte pieces in the registers of a warp.
template <int N> struct Rows {
  static const int COUNT = N * 32 * (int)sizeof(Real) / 16;
  Vector piece[(COUNT + 31) / 32];
  __device__ __forceinline__ void load(const Real *source, int lane) {
#pragma unroll
    for (int k = 0; k < (COUNT + 31) / 32; ++k)
      if (lane + 32 * k < COUNT) piece[k] = ((const Vector *)source)[lane + 32 * k];
  }
  __device__ __forceinline__ void store(Real *target, int lane) const {
#pragma unroll
    for (int k = 0; k < (COUNT + 31) / 32; ++k)
      if (lane + 32 * k < COUNT) ((Vector *)target)[lane + 32 * k] = piece[k];
  }
};

template <int N>
static __device__ __forceinline__ void store_vectors(Real *target, const Real *tile, int lane) {
  Rows<N> rows;
  rows.load(tile, lane);
  rows.store(target, lane);
}

// Entry by entry: rows of N entries, PITCH apart in shared memory, STRIDE apart in device memory.
template <int N, int PITCH>
static __device__ __forceinline__ void load(Real *tile, const Real *source, int rows, int lane) {
#pragma unroll 4
  for (int k = lane; k < rows * N; k += 32) tile[k / N * PITCH + k % N] = source[k];
}

template <int N, int PITCH, int STRIDE>
static __device__ __forceinline__ void store(Real *target, const Real *tile, int rows, int lane) {
#pragma unroll 4
  for (int k = lane; k < rows * N; k += 32) target[k / N * (long long)STRIDE + k % N] = tile[k / N * PITCH + k % N];
}
"""


def sincos_text(dialect: Dialect) -> str:
    """The sine and cosine of `llvm_math`."""
    element, number, horner, fma = dialect.real, dialect.literal, dialect.horner, dialect.fma
    double = element == "double"
    high, low = HALF_PI[element]
    integer, shift = ("long long", 62) if double else ("int", 30)
    bits, real = ("__double_as_longlong", "__longlong_as_double") if double else ("__float_as_int", "__int_as_float")

    return f"""\
{large_angle_text("far_angle", "static __device__ __noinline__", "static __constant__ const")}
// The angle less k quarter turns, by fused multiply-adds.
static __device__ __forceinline__ void sine_cosine(Real x, Real &s, Real &c) {{
  unsigned int further = 0;
  if (!({dialect.function("abs")}(x) < {number(LIMIT[element])})) {{
    const struct far_angle reduced = far_angle(x);
    x = (Real)reduced.r;
    further = reduced.quadrant;
  }}
  const Real shifted = {fma}(x, {number(2.0 / 3.141592653589793)}, {number(ROUNDER[element])});
  const Real k = shifted - {number(ROUNDER[element])};
  const Real r = {fma}(-k, {number(low)}, {fma}(-k, {number(high)}, x));
  const Real z = r * r;
  const Real sine = {fma}(r * z, {horner(SIN[element])}, r);
  const Real cosine = {fma}(z * z, {horner(COS[element])}, {fma}(z, {number(-0.5)}, \
{number(1.0)}));
  const unsigned {integer} quadrant = (unsigned {integer}){bits}(shifted) + further;
  const bool odd = quadrant & 1;
  s = {real}(({integer})((unsigned {integer}){bits}(odd ? cosine : sine) ^ ((quadrant & 2) << {shift})));
  c = {real}(({integer})((unsigned {integer}){bits}(odd ? sine : cosine) ^ (((quadrant + 1) & 2) << {shift})));
}}
"""
