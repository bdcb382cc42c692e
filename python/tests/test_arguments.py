"""Scalars, structures and tables of pointers as arguments."""

from __future__ import annotations

import ctypes
import math
import struct
from enum import IntEnum
from typing import Any

import pytest
from support import GATHER, MACHINE, STRUCT, keeping

import warpbound as wb

np = pytest.importorskip("numpy")

FORMS = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "f32": "f", "f64": "d"}


def kept(kind: str, value: Any) -> Any:
    out = bytearray(struct.calcsize(FORMS[kind]))
    wb.run(wb.Kernel(keeping(kind))[1, 1](out, value), machine=MACHINE)
    return struct.unpack(FORMS[kind], out)[0]


@pytest.mark.parametrize("kind", [kind for kind in FORMS if kind[0] != "f"])
def test_an_integer_has_the_bits_of_its_parameter(kind: str) -> None:
    bits = int(kind[1:])
    for value in (0, 1, (1 << bits - 1) - 1, -1, -(1 << bits - 1), (1 << bits) - 1):
        assert kept(kind, value) % (1 << bits) == value % (1 << bits)
    for value in (1 << bits, -(1 << bits - 1) - 1, 10**5000):
        with pytest.raises(wb.Error, match=rf"argument `value`: the parameter has {bits} bits"):
            wb.Kernel(keeping(kind))[1, 1](bytearray(8), value)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_floating_point_number_keeps_its_bits(kind: str) -> None:
    for value in (0.0, -0.0, 1.5, -2.75, 0.1, math.inf, -math.inf, math.nan, 5e-324, 1.7e308, 3, True, 10**30):
        with np.errstate(over="ignore"):
            expected = np.dtype(kind[0] + str(int(kind[1:]) // 8)).type(value)
        got = kept(kind, value)
        assert np.array(got).astype(expected.dtype).tobytes() == expected.tobytes() or (math.isnan(got) and math.isnan(value)), value


def test_an_integer_that_is_too_large_for_a_floating_point_number_is_an_error() -> None:
    with pytest.raises(wb.Error, match="argument `value`: .*too large"):
        wb.Kernel(keeping("f32"))[1, 1](bytearray(4), 10**400)


def test_scalars_of_numpy_are_numbers() -> None:
    assert kept("u32", np.uint8(7)) == 7
    assert kept("s64", np.int16(-7)) == -7
    assert kept("f32", np.float16(1.5)) == 1.5
    assert kept("f64", np.float64(0.1)) == 0.1
    assert kept("u8", np.bool_(True)) == 1


def test_truth_values_and_enumerations_are_integers() -> None:
    class Color(IntEnum):
        RED = 5

    assert kept("u32", True) == 1
    assert kept("u32", Color.RED) == 5


@pytest.mark.parametrize("value", [1.0, np.float32(2), math.nan, 1j, "1", b"1", object(), [1], {}, None, np.zeros(1)])
def test_what_is_no_integer_is_an_error_that_names_the_argument(value: object) -> None:
    with pytest.raises(wb.Error, match="argument `value`: the parameter") as caught:
        wb.Kernel(keeping("u32"))[1, 1](bytearray(4), value)
    assert caught.value.file == "argument `value`"


def test_bytes_are_a_structure_by_value() -> None:
    out = bytearray(16)
    wb.run(wb.Kernel(STRUCT)[1, 1](out, struct.pack("qd", -3, 2.5)), machine=MACHINE)
    assert struct.unpack("qd", out) == (-3, 2.5)


def test_structures_of_ctypes_and_numpy_are_passed_by_value() -> None:
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int64), ("b", ctypes.c_double)]

    for pair in (Pair(-3, 2.5), np.array((-3, 2.5), "i8,f8")[()]):
        out = bytearray(16)
        wb.run(wb.Kernel(STRUCT)[1, 1](out, pair), machine=MACHINE)
        assert struct.unpack("qd", out) == (-3, 2.5)


@pytest.mark.parametrize("value", [b"", b"12345678", 5, 2.5, None, np.zeros(16, "u1"), "0123456789abcdef"])
def test_a_structure_of_another_size_is_an_error(value: object) -> None:
    with pytest.raises(wb.Error, match="argument `pair`: the parameter"):
        wb.Kernel(STRUCT)[1, 1](bytearray(16), value)


def test_a_list_of_arrays_is_a_table_of_pointers() -> None:
    parts = [np.array([10 * i, 99], "u4") for i in range(4)]
    out = np.zeros(4, "u4")
    wb.run(wb.Kernel(GATHER)[1, 4](out, parts), machine=MACHINE)
    assert out.tolist() == [0, 10, 20, 30]
    # what the kernel wrote through the table is in the arrays
    assert [part.tolist() for part in parts] == [[10 * i + 1, 99] for i in range(4)]


def test_a_table_can_have_an_array_twice_a_part_of_another_argument_and_nothing() -> None:
    out, part = np.zeros(8, "u4"), np.array([7], "u4")
    launch = wb.Kernel(GATHER)[1, 2](out, [part, out[4:], None, part])
    wb.run(launch, machine=MACHINE)
    assert (out.tolist(), part.tolist()) == ([7, 0, 0, 0, 1, 0, 0, 0], [8])
    assert "Null" in launch.arguments[1]


def test_an_empty_table_is_a_null_pointer() -> None:
    assert wb.Kernel(GATHER)[1, 1](bytearray(4), []).arguments[1] == "Null"


def test_the_arrays_of_a_table_have_other_names_than_the_parameters() -> None:
    kernel = wb.Kernel(GATHER, names=["t_0", "t"])
    out, part = np.zeros(1, "u4"), np.array([7], "u4")
    launch = kernel[1, 1](out, [part])
    assert sorted(launch.arrays) == ["t_0", "t__0"]
    wb.run(launch, machine=MACHINE)
    assert (out[0], part[0]) == (7, 8)


def test_parameters_have_different_names_whatever_is_given() -> None:
    for names in (["arg1"], ["x", "x"], ["arg1", "arg1"], ["", "a b"], ["class", 'a"b'], ["\\", "\n"], ["é", "x" * 5000], ["arg0_", "arg0"]):
        kernel = wb.Kernel(GATHER, names=names)
        found = [parameter.name for parameter in kernel.parameters]
        assert len(set(found)) == 2 and all(name.isidentifier() for name in found), names
        out, part = np.zeros(1, "u4"), np.array([7], "u4")
        wb.run(kernel[1, 1](out, [part]), machine=MACHINE)
        assert (out[0], part[0]) == (7, 8)


def test_the_grid_can_have_up_to_three_numbers() -> None:
    kernel = wb.Kernel(keeping("u32"))
    for grid, block in ((1, 1), ((1, 2), (1,)), ([1, 1, 2], (2, 1, 1)), (np.int64(1), np.uint8(1))):
        wb.run(kernel[grid, block](bytearray(4), 1), machine=MACHINE)
    for bad in (0, -1, 1.0, True, "1", None, (), (1, 1, 1, 1), (1, 0), 1 << 32, 10**5000, np.ones(3, int)):
        with pytest.raises(wb.Error, match="grid: "):
            kernel[bad, 1]
        with pytest.raises(wb.Error, match="block: "):
            kernel[1, bad]
    for bad in (-1, 1 << 32, 1.0, "1", None):
        with pytest.raises(wb.Error, match="dynamic shared memory: "):
            kernel[1, 1, bad]


def test_a_launch_without_its_threads_is_an_error() -> None:
    kernel = wb.Kernel(keeping("u32"))
    for configuration in (1, (1,), (1, 1, 0, 0), None):
        with pytest.raises(wb.Error, match="a launch needs the blocks and the threads per block"):
            kernel[configuration]
    with pytest.raises(wb.Error, match="a launch needs the blocks and the threads per block"):
        kernel(1, 2)
