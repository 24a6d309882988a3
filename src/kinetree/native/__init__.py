"""Machine code of programs by LLVM: kernels, threads, and the cache of object code."""
