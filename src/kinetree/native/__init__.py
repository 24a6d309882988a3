"""Machine code of programs by LLVM: kernels, their drivers and threads, and the cache of object code."""
