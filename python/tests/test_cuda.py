"""Tests of `warpbound.cuda`: each result is compared with NumPy within a stated tolerance."""

from __future__ import annotations

import struct
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import warpbound as wb
from warpbound import _nvrtc

try:
    _nvrtc.version()
except ImportError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SOURCE = """
struct Line { float slope; int count; };

template <typename T> __global__ void axpy(T a, const T *x, T *y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += a * x[i];
}

extern "C" __global__ void scale(float *__restrict__ values, const Line line) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < line.count) values[i] *= line.slope;
}

namespace deep {
    __global__ void reverse(int *values) {
        extern __shared__ int held[];
        held[threadIdx.x] = values[threadIdx.x];
        __syncthreads();
        values[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
    }
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_templates_structs_and_shared_memory(arch: str) -> None:
    module = wb.cuda.compile(SOURCE, arch, name_expressions=["axpy<float>", "axpy<double>"])
    x, y = np.arange(100.0), np.ones(100)
    wb.run(module["axpy<double>"][1, 128](2.0, x, y, 100))
    assert (y == 2 * x + 1).all()

    values = np.arange(100, dtype=np.float32)
    wb.run(module.scale[(1,), (128,)](values, struct.pack("fi", 3.0, 100)))
    assert (values == 3 * np.arange(100)).all()

    order = np.arange(64, dtype=np.int32)
    wb.run(module.reverse[1, 64, 4 * 64](order))
    assert (order == np.arange(64)[::-1]).all()


def test_names_of_kernels_and_parameters() -> None:
    module = wb.cuda.compile(SOURCE, name_expressions=["axpy<float>", "axpy<double>"])
    shown = sorted(kernel.shown_name for kernel in module)
    assert shown == ["deep::reverse", "scale", "void axpy<double>", "void axpy<float>"]
    assert [parameter[:] for parameter in module.scale.parameters] == [("values", "int", 8), ("line", "bytes", 8)]
    assert [parameter.name for parameter in module["axpy<float>"].parameters] == ["a", "x", "y", "count"]
    assert module["scale"] is module.scale
    with pytest.raises(AttributeError, match="`axpy` can be several kernels\n  kernels: axpy<float>, axpy<double>"):
        module.axpy  # noqa: B018
    with pytest.raises(wb.Error, match="no kernel `none`"):
        module["none"]
    with pytest.raises(wb.Error, match="the module has several kernels"):
        module[1, 32]()


def test_the_only_kernel_and_its_lines() -> None:
    source = '#include "twice.h"\n__global__ void only(float *x) {\n    x[threadIdx.x] = twice(x[threadIdx.x]);\n}\n'
    header = "__device__ float twice(float x) { return 2 * x; }\n"
    module = wb.cuda.compile(source, name="only.cu", headers={"twice.h": header})
    x = np.arange(32, dtype=np.float32)
    wb.run(module[1, 32](x))
    assert (x == 2 * np.arange(32)).all()
    kernel = module["only"]
    assert kernel.file == "only.ptx" and kernel.sources["only.cu"] == source
    # the name of the source, without the working directory that NVRTC puts before it
    assert '"only.cu"' in module.ptx and str(Path.cwd()) not in module.ptx


def test_every_error_of_the_compiler_has_its_place() -> None:
    source = 'extern "C" __global__ void f(int *x) {\n\tx[0] = missing;\n    int *q = 1.5;\n}\n'
    with pytest.raises(wb.Error) as raised:
        wb.cuda.compile(source, name="wrong.cu")
    first, second = raised.value.problems
    assert (first.file, first.line, first.column) == ("wrong.cu", 2, 9)
    assert first.message == 'identifier "missing" is undefined'
    assert (second.line, second.column) == (3, 14)

    with pytest.raises(wb.Error, match="expected a declaration") as raised:
        wb.cuda.compile('#include "a.h"\n', headers={"a.h": "\n= 1;\n"})
    assert (raised.value.file, raised.value.line) == ("a.h", 2)
    with pytest.raises(wb.Error, match="nvidia-cuda-runtime-cu12") as raised:
        wb.cuda.compile("#include <no_such_header.h>\n")
    with pytest.raises(wb.Error, match="not an architecture"):
        wb.cuda.compile("", "volta")
    with pytest.raises(wb.Error, match="gpu-architecture"):
        wb.cuda.compile("", "sm_999")
    with pytest.raises(wb.Error, match="unrecognized option"):
        wb.cuda.compile("", options=["--no-such-option"])


def test_raw_kernels_as_in_cupy() -> None:
    x1, x2 = np.arange(25, dtype=np.float32).reshape(5, 5), np.ones((5, 5), np.float32)
    y = np.zeros((5, 5), np.float32)
    code = """
    extern "C" __global__ void add(const float *x1, const float *x2, float *y) {
        int i = blockDim.x * blockIdx.x + threadIdx.x;
        y[i] = x1[i] + x2[i];
    }"""
    launch = wb.cuda.RawKernel(code, "add")((5,), (5,), (x1, x2, y))
    assert not y.any()
    wb.run(launch)
    assert (y == x1 + x2).all()

    module = wb.cuda.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=["axpy<float>"], arch="sm_86")
    wb.run(module.get_function("axpy<float>")((1,), (32,), (np.float32(0.5), x1, y, 25)))
    assert (y == 1.5 * x1 + 1).all()
    order = np.arange(32, dtype=np.int32)
    wb.run(module.get_function("reverse")((1,), (32,), (order,), shared_mem=128))
    assert (order == np.arange(32)[::-1]).all()
    wb.run(wb.cuda.RawKernel(SOURCE, "axpy<float>")(1, 32, (np.float32(1), x1, y, 25)))
    assert (y == 2.5 * x1 + 1).all()


def test_headers_of_cuda() -> None:
    try:
        metadata.distribution("nvidia-cuda-runtime-cu12")
    except metadata.PackageNotFoundError as missing:
        pytest.skip(str(missing))
    module = wb.cuda.compile(
        "#include <cuda_fp16.h>\n"
        "__global__ void halve(__half *x) { x[threadIdx.x] = __hmul(x[threadIdx.x], __float2half(0.5f)); }"
    )
    x = np.arange(32, dtype=np.float16)
    wb.run(module[1, 32](x))
    assert (x == np.arange(32) / 2).all()


def test_a_folder_for_the_command_line(tmp_path: Path) -> None:
    x = np.arange(32, dtype=np.int32)
    path = wb.cuda.compile(SOURCE).reverse[1, 32, 128](x).save(tmp_path / "case")
    assert (path.parent / "kernel.cu").read_text() == SOURCE
    assert wb.run(wb.kernel(path)).makespan > 0
    assert (x == np.arange(32)).all()
