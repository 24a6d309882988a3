"""CUDA source through NVIDIA's own compiler, where its library is installed: ``pip install nvidia-cuda-nvrtc-cu12``.

It needs no device: the result is PTX and machine code of one, which are not run.
"""

from __future__ import annotations

import ctypes
import importlib.util
import pathlib

import pytest

import kinetree as kt
from kinetree.export.cuda import OPTIONS, cuda_source

ARCHITECTURE = "--gpu-architecture=sm_90"


@pytest.fixture(scope="module")
def nvrtc():
    """NVRTC's library."""
    found = importlib.util.find_spec("nvidia") and importlib.util.find_spec("nvidia.cuda_nvrtc")
    places = [pathlib.Path(folder) / "lib" for folder in found.submodule_search_locations] if found else []
    libraries = [path for place in places for path in sorted(place.glob("libnvrtc.so*"))]
    if not libraries:
        pytest.skip("needs the package nvidia-cuda-nvrtc-cu12")
    return ctypes.CDLL(str(libraries[0]))


def compiled(nvrtc, source) -> bytes:
    """The machine code of a kernel."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert not nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.text.encode(), b"kernel.cu", 0, None, None)
    options = [option.encode() for option in (*OPTIONS, ARCHITECTURE)]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert not status, log.value.decode()[:3000]
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("algorithm", ["aba", "contact_step"])
def test_the_compiler_of_cuda_takes_the_source(nvrtc, algorithm, dtype):
    """Of a box on the ground: without an error, to a kernel of this name."""
    model = kt.models.free_shape("box").with_contacts(ground=True)
    source = cuda_source(kt.compile(model, algorithm, checks=False), dtype)
    assert source.name.encode() in compiled(nvrtc, source)
