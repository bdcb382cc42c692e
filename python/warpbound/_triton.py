"""The arguments of a kernel of Triton: their types in its signature, and what remains of them at run
time."""

from __future__ import annotations

import numbers
import struct
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from ._capture import memory
from ._errors import Error

_ELEMENTS: dict[str, str] = {
    "bool": "u1",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    **{f"float{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}
# The buffer protocol has no such elements, so their arrays are viewed as integers.
_VIEWED = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
_FORMATS = {
    "?": "u1", "b": "i8", "B": "u8", "h": "i16", "H": "u16", "i": "i32", "I": "u32",
    "l": "i64", "L": "u64", "q": "i64", "Q": "u64", "e": "fp16", "f": "fp32", "d": "fp64",
}  # fmt: skip
_FORMS = {"fp16": "<e", "bf16": "<f", "fp32": "<f", "fp64": "<d"}


@dataclass
class Argument:
    """An argument that remains at run time."""

    name: str
    value: Any
    kind: str
    """Its type in the signature."""

    def passed(self, parameter: str) -> Any:
        """Returns the value for a parameter of PTX of this kind. Floating-point numbers are passed
        as bits where the code does not declare them as such."""
        if self.kind not in _FORMS or parameter == "float":
            return self.value
        bits = struct.pack(_FORMS[self.kind], self.value)
        if self.kind == "bf16":
            # the upper half, to nearest, ties to even
            number = int.from_bytes(bits, "little")
            bits = (number + 0x7FFF + (number >> 16 & 1) >> 16).to_bytes(2, "little")
        return bits if parameter == "bytes" else int.from_bytes(bits, "little")


@dataclass
class Arguments:
    """What the arguments say to the compiler, and which of them remain at run time.

    The keys are paths: `(2,)` is the third parameter, and `(2, 0)` the first member of a tuple."""

    signature: dict[str, Any] = field(default_factory=dict)
    constants: dict[tuple[int, ...], Any] = field(default_factory=dict)
    attributes: dict[tuple[int, ...], Any] = field(default_factory=dict)
    remaining: list[Argument] = field(default_factory=list)


def specialize(triton: SimpleNamespace, parameters: list[Any], values: dict[str, Any]) -> Arguments:
    """Returns the signature for arguments. Triton compiles other code for an integer that is 1, and
    for integers and addresses that 16 divides, and this does the same."""
    found = Arguments()
    for index, parameter in enumerate(parameters):
        name = parameter.name
        found.signature[name] = _specialize(triton, parameter, name, values[name], (index,), found)
    return found


def _specialize(
    triton: SimpleNamespace, parameter: Any, name: str, value: Any, path: tuple[int, ...], found: Arguments
) -> Any:
    if parameter.is_constexpr or value is None or isinstance(value, (triton.constexpr, triton.JITFunction)):
        found.constants[path] = value
        return "constexpr"
    if isinstance(value, tuple):
        members = [
            _specialize(triton, parameter, f"{name}_{i}", member, (*path, i), found) for i, member in enumerate(value)
        ]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    if type(value).__name__ == "TensorDescriptor":
        raise Error.of(
            "tensor descriptors that the host makes are not captured",
            hint="pass the array, and make the descriptor in the kernel (tl.make_tensor_descriptor)",
            place=f"argument `{name}`",
        )
    # A type that the source states holds. Triton specializes members of tuples in any case, and
    # numbers that are stated to be floats or bools in none.
    stated: str = parameter.annotation_type
    member = len(path) > 1
    special = (member or not parameter.do_not_specialize) and not (stated == "u1" or stated[:2] in ("fp", "bf"))
    align = special and (member or not parameter.do_not_specialize_on_alignment)

    scalar = _scalar(value)
    if scalar is None:
        element, address, value = _array(name, value)
        kind = f"*k{element}" if parameter.is_const else f"*{element}"
        divisible = address % 16 == 0
    else:
        value, kind = scalar
        integer = kind in ("i32", "i64", "u64")
        if integer and value == 1 and special and not stated:
            found.constants[path] = 1
            return "constexpr"
        divisible = integer and value % 16 == 0
    if align and divisible:
        found.attributes[path] = [["tt.divisibility", 16]]
    found.remaining.append(Argument(name, value, stated or kind))
    return stated or kind


def _scalar(value: Any) -> tuple[Any, str] | None:
    """Returns a number and its type, or None for what is not a number."""
    # `bool` and `bool_` are also the names of NumPy's type, which is no subclass of Python's
    if isinstance(value, bool) or (type(value).__name__ in ("bool", "bool_") and hasattr(value, "item")):
        return bool(value), "u1"
    if isinstance(value, numbers.Integral):
        number = int(value)
        if -(1 << 31) <= number < 1 << 31:
            return number, "i32"
        return number, "i64" if number < 1 << 63 else "u64"
    if isinstance(value, numbers.Real):
        return float(value), "fp32"
    return None


def _array(name: str, value: Any) -> tuple[str, int, Any]:
    """Returns the type of the elements of an array, its address, and the array in a form that a
    launch accepts."""
    place = f"argument `{name}`"
    if isinstance(value, list):
        # a table of addresses, which kernels read as integers
        return "i64", 0, [None if one is None else _array(f"{name}_{i}", one)[2] for i, one in enumerate(value)]
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        try:
            form = memoryview(value).format
        except TypeError:
            raise Error.of(
                f"a kernel of Triton does not accept a {type(value).__name__}",
                hint="arguments are arrays, numbers, tuples of them, and None",
                place=place,
            ) from None
        if form not in _FORMATS:
            raise Error.of(f"Triton does not know elements of the format {form!r}", place=place)
        return _FORMATS[form], 0, value
    kind = str(dtype).rsplit(".", 1)[-1]
    if kind not in _ELEMENTS:
        raise Error.of(f"Triton does not know elements of the type {dtype}", place=place)
    address = 0
    if hasattr(value, "detach"):  # a tensor of PyTorch
        value = value.detach()
        address = value.data_ptr()
        if not value.is_contiguous():
            last = sum((n - 1) * stride for n, stride in zip(value.shape, value.stride()))
            value = value.as_strided((1 + last,), (1,))
        if kind in _VIEWED:
            value = value.view(getattr(import_module("torch"), _VIEWED[kind]))
    elif hasattr(value, "__array_interface__"):
        address = value.__array_interface__["data"][0]
        value = memory(name, value)
        if kind in _VIEWED:
            value = value.view(_VIEWED[kind])
    return _ELEMENTS[kind], address, value
