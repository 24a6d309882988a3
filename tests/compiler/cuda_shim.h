// What a CUDA kernel without includes needs, for a C++ compiler: the emitted code then runs on the CPU, lane by lane.
//
// The 32 threads of a warp are fibers. Each runs until its next __syncwarp(), then the next one does; a barrier that
// only some lanes reach is reported. Lanes may be visited forwards or backwards: code that lacks a barrier gives other
// results in one of the two orders.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>

#define __global__
#define __device__
#define __constant__
#define __grid_constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
struct Index { unsigned int x; };
static Index threadIdx, blockIdx;

using std::fabs; using std::fma; using std::sqrt;

template <class To, class From> static inline To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
static inline void atomicOr(unsigned int *place, unsigned int bits) { *place |= bits; }

namespace shim {
const int LANES = 32, STACK = 1 << 20;
ucontext_t scheduler, lanes[LANES];
bool finished[LANES];
int running;
std::function<void()> body;

void enter() {
  body();
  finished[running] = true;
}

// Runs one warp; false if its lanes did not reach the same barriers.
bool run_warp(unsigned int first_thread, bool backwards) {
  static char *const stacks = static_cast<char *>(std::malloc(static_cast<size_t>(LANES) * STACK));
  for (int k = 0; k < LANES; ++k) {
    getcontext(&lanes[k]);
    lanes[k].uc_stack.ss_sp = stacks + static_cast<size_t>(k) * STACK;
    lanes[k].uc_stack.ss_size = STACK;
    lanes[k].uc_link = &scheduler;
    makecontext(&lanes[k], enter, 0);
    finished[k] = false;
  }
  for (;;) {
    int ended = 0;
    for (int j = 0; j < LANES; ++j) {
      running = backwards ? LANES - 1 - j : j;
      threadIdx.x = first_thread + running;
      swapcontext(&scheduler, &lanes[running]);
      ended += finished[running];
    }
    if (ended) return ended == LANES;
  }
}

bool run_grid(long long n, unsigned int threads, bool backwards, std::function<void()> kernel) {
  body = kernel;
  for (long long block = 0; block * threads < n; ++block) {
    blockIdx.x = static_cast<unsigned int>(block);
    for (unsigned int warp = 0; warp < threads; warp += LANES)
      if (!run_warp(warp, backwards)) return false;
  }
  return true;
}
}  // namespace shim

static inline void __syncwarp() {
  const int lane = shim::running;
  swapcontext(&shim::lanes[lane], &shim::scheduler);
}
