"""Arrays of every kind are buffers of a kernel, and hold afterwards what it wrote."""

from __future__ import annotations

import array
import ctypes
from typing import Any

import pytest
from support import COPY, MACHINE, copied, saxpy

import warpbound as wb

np = pytest.importorskip("numpy")

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "S3", "M8[s]", "i4,f8", "V5"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_of_any_type_is_copied_bit_by_bit(dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    source = np.frombuffer(bytes(i % 2 if dtype == "?" else 37 * i % 251 for i in range(6 * size)), dtype=dtype).copy()
    to = np.zeros_like(source)
    copied(to, source, source.nbytes)
    assert to.tobytes() == source.tobytes()


def test_an_array_of_bfloat16_is_copied_bit_by_bit() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        source = np.array([1.5, -2, 0, 3], dtype)
        to = np.zeros(4, dtype)
        copied(to, source, source.nbytes)
        assert to.tobytes() == source.tobytes()


def test_arrays_of_the_standard_library_are_buffers() -> None:
    content = bytes(range(1, 25))
    for to in (bytearray(24), array.array("f", [0] * 6), (ctypes.c_double * 3)(), memoryview(bytearray(24)), array.array("l", [0] * 3)):
        copied(to, bytearray(content), 24)
        assert bytes(to) == content, type(to)


def test_a_structure_of_ctypes_is_a_buffer_for_a_pointer() -> None:
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int32), ("b", ctypes.c_float)]

    to, source = Pair(), Pair(7, 2.5)
    copied(to, source, 8)
    assert (to.a, to.b) == (7, 2.5)


def test_an_array_in_the_order_of_fortran_is_a_buffer_in_the_order_of_memory() -> None:
    source = np.asfortranarray(np.arange(12, dtype="f4").reshape(3, 4))
    to = np.zeros((3, 4), "f4", order="F")
    copied(to, source, source.nbytes)
    assert (to == source).all()
    copied(memoryview(to), source * 2, source.nbytes)
    assert (to == 2 * source).all()


def test_an_array_without_a_dimension_has_one_element() -> None:
    to = np.zeros((), "f8")
    copied(to, np.array(2.5), 8)
    assert to == 2.5


def test_an_empty_array_is_a_null_pointer() -> None:
    launch = wb.Kernel(COPY)[1, 32](np.zeros(0), bytearray(), 0)
    assert launch.arguments[:2] == ["Null", "Null"]
    wb.run(launch, machine=MACHINE)


def test_a_view_is_a_pointer_into_the_array_that_contains_it() -> None:
    whole = np.arange(64, dtype="u1")
    copied(whole[32:], whole, 32)
    assert whole.tolist() == 2 * list(range(32))
    launch = wb.Kernel(COPY)[1, 32](whole[32:], whole, 32)
    assert list(launch.arrays) == ["from"]
    assert launch.arguments[0] == 'Ptr("from", 32)'


def test_views_of_the_memory_of_a_bytearray_are_known_too() -> None:
    whole = bytearray(range(64))
    view = memoryview(whole)
    copied(view[32:], view[:64], 32)
    assert list(whole) == 2 * list(range(32))


def test_an_array_that_is_passed_twice_is_one_buffer() -> None:
    x = np.arange(8, dtype="f4")
    wb.run(saxpy()[1, 32](8, 1.0, x, x), machine=MACHINE)
    assert x.tolist() == [2 * i for i in range(8)]


def test_a_read_only_view_beside_the_array_takes_nothing_from_it() -> None:
    x = np.arange(8, dtype="f4")
    view = x.view()
    view.flags.writeable = False
    wb.run(saxpy()[1, 32](8, 1.0, view, x), machine=MACHINE)
    assert x.tolist() == [2 * i for i in range(8)]


def test_arrays_that_overlap_in_part_are_an_error() -> None:
    whole = np.zeros(64, "u1")
    with pytest.raises(wb.Error, match="argument `to`: the array overlaps a part of argument `from`"):
        wb.Kernel(COPY)[1, 32](whole[:40], whole[20:], 20)


def test_an_array_that_is_read_only_is_not_changed() -> None:
    x, y = np.arange(8, dtype="f4"), np.ones(8, "f4")
    y.flags.writeable = False
    with pytest.raises(wb.Error, match="argument `y`: the array is read-only, and the kernel wrote to it"):
        wb.run(saxpy()[1, 32](8, 2.0, x, y), machine=MACHINE)
    assert (y == 1).all()


def test_an_array_that_is_read_only_can_be_read() -> None:
    x, y = np.arange(8, dtype="f4"), np.ones(8, "f4")
    x.flags.writeable = False
    wb.run(saxpy()[1, 32](8, 2.0, x, y), machine=MACHINE)
    assert y.tolist() == [2 * i + 1 for i in range(8)]


class Tensor:
    """An array that has nothing but DLPack."""

    def __init__(self, inner: Any, device: int = 1) -> None:
        self.inner, self.device = inner, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.inner.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


def test_an_array_with_dlpack_is_a_buffer() -> None:
    x, y = np.arange(8, dtype="f4"), np.ones(8, "f4")
    wb.run(saxpy()[1, 32](8, 2.0, Tensor(x), Tensor(y)), machine=MACHINE)
    assert y.tolist() == [2 * i + 1 for i in range(8)]


def test_an_array_on_another_device_is_an_error() -> None:
    x = np.arange(8, dtype="f4")
    with pytest.raises(wb.Error, match="argument `x`: the array is on device 2"):
        saxpy()[1, 32](8, 2.0, Tensor(x, 2), x)


def test_a_tensor_of_torch_is_a_buffer() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.arange(8, dtype=torch.float32), torch.ones(8, requires_grad=True)
    wb.run(saxpy()[1, 32](8, 2.0, x, y), machine=MACHINE)
    assert y.tolist() == [2 * i + 1 for i in range(8)]
    half = torch.ones(8, dtype=torch.bfloat16)
    to = torch.zeros(8, dtype=torch.bfloat16)
    copied(to, half, 16)
    assert to.tolist() == half.tolist()


def test_a_tensor_without_memory_of_its_own_is_an_error_with_its_name() -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(8)
    wrong = {
        "not contiguous": torch.ones(16, dtype=torch.bfloat16)[::2],
        "no memory": torch.empty(8, device="meta"),
        "to_dense": torch.eye(8).to_sparse(),
        "resolve_conj": torch.ones(8, dtype=torch.complex64).conj(),
    }
    for message, y in wrong.items():
        with pytest.raises(wb.Error, match=f"(?s)argument `y`: .*{message}"):
            saxpy()[1, 32](8, 2.0, x, y)


def test_other_commands_do_not_change_arrays() -> None:
    x, y = np.arange(8, dtype="f4"), np.ones(8, "f4")
    launch = saxpy()[1, 32](8, 2.0, x, y)
    wb.check(launch, machine=MACHINE)
    wb.static(launch, machine=MACHINE)
    wb.run(launch, machine=MACHINE).explain()
    wb.sweep(launch)
    # one run changed it once
    assert y.tolist() == [2 * i + 1 for i in range(8)]


def test_a_launch_reads_the_arrays_when_it_runs() -> None:
    x, y = np.zeros(8, "f4"), np.zeros(8, "f4")
    launch = saxpy()[1, 32](8, 2.0, x, y)
    x[:] = 1
    wb.run(launch, machine=MACHINE)
    wb.run(launch, machine=MACHINE)
    assert (y == 4).all()
