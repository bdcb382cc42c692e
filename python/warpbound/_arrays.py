"""Arrays as buffers of device memory.

An array is anything with the buffer protocol (numpy, array.array, bytearray, ctypes), or with DLPack
(CPU tensors of torch and jax). It is never copied here: its bytes are read from and written to where
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._errors import Error, shown

_ELEMENTS = {
    "?": "U8", "b": "I8", "B": "U8", "c": "U8", "h": "I16", "H": "U16", "e": "F16", "f": "F32", "d": "F64",
}  # fmt: skip
# characters of the name of a parameter; compilers make names of thousands
_LONGEST_NAME = 100
_INTEGERS = {"i", "I", "l", "L", "q", "Q", "n", "N"}


class Array:
    """The memory of an array argument."""

    def __init__(self, value: Any, view: memoryview, writable: bool, address: int | None) -> None:
        self.value = value
        """The object that was passed."""
        self.bytes = view.cast("B") if view.nbytes else memoryview(b"")
        """Its bytes."""
        self.elem, self.len = _elements(view)
        """The type of its elements in a launch file, and their number."""
        self.writable = writable
        """Whether a kernel may change it."""
        self.address = address
        """The address of its first byte in this process, if it is known."""

    def offset_in(self, other: Array) -> int | None:
        """Returns where this array begins in another one, in bytes, or `None` if they are apart.

        Raises `ValueError` if they overlap, but neither is a part of the other.
        """
        if self.value is other.value:
            return 0
        if self.address is None or other.address is None or not self.bytes.nbytes or not other.bytes.nbytes:
            return None
        begin = self.address - other.address
        end = begin + self.bytes.nbytes
        if end <= 0 or begin >= other.bytes.nbytes:
            return None
        if begin >= 0 and end <= other.bytes.nbytes:
            return begin
        raise ValueError

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.bytes.nbytes


def is_array(value: Any) -> bool:
    """Returns whether a value is an array rather than a number or a struct by value."""
    if isinstance(value, (bytes, str, bool, int, float)) or value is None:
        return False
    if hasattr(value, "dtype") and getattr(value, "shape", None) == () and not hasattr(value, "__dlpack__"):
        # a scalar of numpy
        return False
    if hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def array(value: Any, name: str) -> Array:
    """Returns the memory of an array; `name` is the argument in messages."""
    dtype = str(getattr(value, "dtype", ""))
    if dtype == "object":
        raise Error.of(
            "an array of Python objects has no contents that a kernel could read",
            hint="convert it, for example with .astype('float32')",
            place=f"argument `{name}`",
        )
    host = _on_host(value, name)
    try:
        view = memoryview(host)
    except (TypeError, ValueError, BufferError):
        # formats that the buffer protocol does not have, such as bfloat16, are taken as bytes
        view = _as_bytes(host, value, name)
    if not (view.c_contiguous or view.f_contiguous):
        raise Error.of(
            "the array is not contiguous",
            hint="pass a copy (numpy.ascontiguousarray), or the whole array with its strides as arguments",
            place=f"argument `{name}`",
        )
    if view.format[:1] in (">", "!") and view.itemsize > 1:
        raise Error.of(
            "the array has the byte order of other machines",
            hint="pass a copy: a.astype(a.dtype.newbyteorder('='))",
            place=f"argument `{name}`",
        )
    if not view.c_contiguous:
        # the bytes in the order of memory: Fortran's
        view = _transposed(host, name)
    interface = getattr(host, "__array_interface__", None)
    address = interface["data"][0] if isinstance(interface, dict) and interface.get("data") else _address(view)
    return Array(value, view, not view.readonly, address)


def _transposed(host: Any, name: str) -> memoryview:
    if not hasattr(host, "T"):
        try:
            import numpy
        except ImportError:
            raise Error.of("an array in Fortran's order needs numpy", hint="pip install numpy", place=f"argument `{name}`") from None
        host = numpy.asarray(host)
    return memoryview(host.T)


def _address(view: memoryview) -> int | None:
    """Returns the address of a buffer that does not tell it."""
    if view.readonly or not view.nbytes:
        # it could be found, but what is read-only and a part of another array is rare
        return None
    import ctypes

    return ctypes.addressof(ctypes.c_char.from_buffer(view))


def _elements(view: memoryview) -> tuple[str, int]:
    format = view.format.lstrip("@=<")
    if view.itemsize in (4, 8) and format in _INTEGERS:
        sign = "I" if format.islower() else "U"
        return f"{sign}{8 * view.itemsize}", view.nbytes // view.itemsize
    if format in _ELEMENTS:
        return _ELEMENTS[format], view.nbytes // view.itemsize
    return "U8", view.nbytes


def _on_host(value: Any, name: str) -> Any:
    """Returns an object with the memory of an array in the memory of this process."""
    device = getattr(value, "__dlpack_device__", None)
    if device is None:
        return value
    place = f"argument `{name}`"
    try:
        kind = int(device()[0])
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise Error.of(f"the array has no memory: {error}", place=place) from None
    if kind not in (1, 3):
        raise Error.of(
            f"the array is on device {kind}, not in the memory of the host",
            hint="pass a copy of it (.cpu())",
            place=place,
        )
    if hasattr(value, "__array_interface__"):
        return value
    try:
        import numpy
    except ImportError:
        raise Error.of("tensors need numpy", hint="pip install numpy", place=place) from None
    try:
        # NumPy 1 takes every array that comes by DLPack as read-only, so torch is asked itself
        if hasattr(value, "element_size"):
            return _of_torch(value)
        return numpy.from_dlpack(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        # arrays of jax cannot be changed, so a copy serves, too
        host = _read_only_copy(value)
        if host is not None:
            return host
        raise Error.of(f"the memory of the tensor cannot be used: {error}", place=place) from None


def _read_only_copy(value: Any) -> Any:
    try:
        host = value.__array__()
    except (AttributeError, TypeError, ValueError, RuntimeError, BufferError):
        return None
    return None if host.flags.writeable else host


def _of_torch(tensor: Any) -> Any:
    """Returns an array of NumPy with the memory of a tensor of torch."""
    import torch

    detached = tensor.detach()
    if detached.dtype.is_floating_point and detached.element_size() < 4 and detached.dtype != torch.float16:
        # numpy has no bfloat16 and no float8; the bits are the same
        detached = detached.view({1: torch.uint8, 2: torch.int16}[detached.element_size()])
    return detached.numpy()


def _as_bytes(host: Any, value: Any, name: str) -> memoryview:
    try:
        flags = host.flags
        contiguous = host if flags.c_contiguous else host.T if flags.f_contiguous else None
        if contiguous is not None:
            return memoryview(contiguous.reshape(-1).view("uint8"))
    except (AttributeError, TypeError, ValueError):
        pass
    else:
        raise Error.of(
            "the array is not contiguous", hint="pass a copy (numpy.ascontiguousarray)", place=f"argument `{name}`"
        )
    raise Error.of(f"a {type(value).__name__} has no memory that can be shared", place=f"argument `{name}`")


def names_of(parameters: int, given: Sequence[str] | None) -> list[str]:
    """Returns one name for each parameter that is an identifier and occurs once."""
    if given is None:
        given = []
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        raise Error.of(f"{shown(given)} is no list of names", place="names")
    names: list[str] = []
    for index in range(parameters):
        wanted = given[index] if index < len(given) else ""
        # files are called by these names, too
        fits = wanted.isidentifier() and wanted.isascii() and len(wanted) <= _LONGEST_NAME
        name = wanted if fits else f"arg{index}"
        while name in names:
            name = f"arg{index}" if name == wanted and wanted != f"arg{index}" else f"{name}_"
        names.append(name)
    return names
