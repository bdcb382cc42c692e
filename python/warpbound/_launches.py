"""Launches: a kernel with its grid and arguments, as a folder of files that commands read."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._arrays import Array, array, is_array
from ._errors import Error, path_text, shown
from ._numbers import scalar, whole

if TYPE_CHECKING:
    from ._kernels import Folder, Kernel, Parameter


class Launch:
    """A kernel with its grid and arguments.

    Array arguments are pointers to buffers with the contents of the arrays. A run changes the arrays
    as the kernel does; other commands only read them.
    """

    def __init__(
        self, kernel: Kernel, grid: tuple[int, ...], block: tuple[int, ...], dynamic_shared: int, arguments: tuple[Any, ...]
    ) -> None:
        self.kernel, self.grid, self.block, self.dynamic_shared = kernel, grid, block, dynamic_shared
        parameters = kernel.parameters
        if len(arguments) != len(parameters):
            expected = ", ".join(parameter.name for parameter in parameters)
            raise Error.of(
                f"the kernel has {len(parameters)} parameters, {len(arguments)} arguments given",
                hint=f"parameters: {expected}",
                place=kernel.shown_name,
            )
        self._given = arguments
        arguments = tuple(_by_value(p, value) for p, value in zip(parameters, arguments))
        self.arrays: dict[str, Array] = {}
        """The arrays that have a buffer of their own, by the names of their parameters."""
        self._aliases: dict[str, tuple[str, int]] = {}
        given = list(zip(parameters, arguments))
        self._prefixes = _prefixes([p.name for p in parameters])
        found = {p.name: self._arrays_of(p.name, value) for p, value in given}
        self._find_arrays([pair for pairs in found.values() for pair in pairs])
        members = {name for p, value in given if _is_table(value) for name, _ in found[p.name]}
        self.buffers: list[str] = [self._buffer(name) for name in self.arrays if name in members]
        """The buffers that no argument points to directly, as a launch file has them."""
        self.arguments: list[str] = [self._written(p, value) for p, value in given]
        """The arguments, as a launch file has them."""

    def __reduce__(self) -> tuple[Any, ...]:
        # what the arguments share stays shared in the copy
        return Launch, (self.kernel, self.grid, self.block, self.dynamic_shared, self._given)

    def _arrays_of(self, name: str, value: Any) -> list[tuple[str, Array]]:
        """Returns the arrays of an argument with the names of their buffers."""
        if is_array(value):
            return [(name, array(value, name))]
        if not _is_table(value):
            return []
        prefix = self._prefixes[name]
        return [(f"{prefix}{i}", array(one, f"{name}[{i}]")) for i, one in enumerate(value) if one is not None]

    def _find_arrays(self, found: list[tuple[str, Array]]) -> None:
        # a view is a pointer into the buffer of the array that contains it
        for name, one in sorted(found, key=lambda pair: (-pair[1].nbytes, not pair[1].writable)):
            for other_name, other in self.arrays.items():
                try:
                    offset = one.offset_in(other)
                except ValueError:
                    raise Error.of(
                        f"the array overlaps a part of argument `{other_name}`",
                        hint="pass the whole array to both, or a copy",
                        place=f"argument `{name}`",
                    ) from None
                if offset is not None:
                    self._aliases[name] = (other_name, offset)
                    break
            else:
                if one.nbytes:
                    self.arrays[name] = one

    def _buffer(self, name: str) -> str:
        one = self.arrays[name]
        return f'Buffer(name: "{name}", elem: {one.elem}, len: {one.len}, init: File("{name}.bin"))'

    def _pointer(self, name: str) -> str:
        of, offset = self._aliases.get(name, (name, 0))
        # an empty array has no buffer
        return "Null" if of not in self.arrays else f'Ptr("{of}", {offset})' if offset else f'Ptr("{of}")'

    def _written(self, parameter: Parameter, value: Any) -> str:
        name, size = parameter.name, parameter.size
        if is_array(value) or _is_table(value):
            if parameter.kind in ("float", "bytes") or size != 8:
                raise _wrong(parameter, value, "is no pointer, and an array is given")
        if _is_table(value):
            if not value:
                return "Null"
            prefix = self._prefixes[name]
            members = (("Null" if one is None else self._pointer(f"{prefix}{i}")) for i, one in enumerate(value))
            return f'Buffer(name: "{name}", elem: Ptr, len: {len(value)}, init: Ptrs([{", ".join(members)}]))'
        if is_array(value):
            return self._buffer(name) if name in self.arrays else self._pointer(name)
        if value is None:
            if size != 8 or parameter.kind == "float":
                raise _wrong(parameter, value, "is not a pointer")
            return "Null"
        if isinstance(value, bytes):
            if len(value) != size:
                raise _wrong(parameter, value, f"has {size} bytes, and {len(value)} are given")
            return f"Bytes([{', '.join(map(str, value))}])"
        return _number(parameter, value)

    def text(self, module: str, prefix: str = "") -> str:
        """Returns the launch file for a module of this name; the names of array files begin with
        `prefix`."""
        written = [argument.replace('File("', f'File("{prefix}') for argument in [*self.buffers, *self.arguments]]
        buffers, arguments = (",\n        ".join(part) for part in (written[: len(self.buffers)], written[len(self.buffers) :]))
        shared_buffers = f"    buffers: [\n        {buffers}\n    ],\n" if buffers else ""
        shared = f", dynamic_shared: {self.dynamic_shared}" if self.dynamic_shared else ""
        return (
            f"Launch(\n    module: {quoted(module)}, entry: {quoted(self.kernel.name)},\n"
            f"    grid: {self.grid}, block: {self.block}{shared},\n{shared_buffers}    args: [\n        {arguments}\n    ],\n)\n"
        )

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the launch as a folder that `warpbound run FOLDER/KERNEL.ron` runs.

        The folder has the module, the launch file, the contents of the arrays as they are now, and
        the sources if they are known. Returns the path of the launch file. A folder that is not
        empty is an error without `force`.
        """
        folder = Path(path_text(folder, "folder"))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not force and any(folder.iterdir()):
                raise Error.of("the folder is not empty", hint="take another one, or force=True", place=str(folder))
            for name, source in self.kernel.sources.items():
                (folder / Path(name).name).write_text(source, encoding="utf-8")
            return self._write(folder, _file_name(self.kernel.shown_name), self.kernel.file)
        except (OSError, ValueError) as error:
            raise _unwritten(error, folder) from None

    def _write(self, folder: Path, stem: str, module: str, prefix: str = "") -> Path:
        (folder / module).write_bytes(self.kernel.code)
        for name, one in self.arrays.items():
            with open(folder / f"{prefix}{name}.bin", "wb") as file:
                file.write(one.bytes)
        path = folder / f"{stem}.ron"
        path.write_text(self.text(module, prefix), encoding="utf-8")
        return path

    def write_beside(self, others: Path) -> Path:
        """Writes the launch into a folder that may have others, and returns the launch file."""
        base = stem = _file_name(self.kernel.shown_name)
        number = 1
        while (others / f"{stem}.ron").exists():
            number += 1
            stem = f"{base}-{number}"
        module = self.kernel.file
        try:
            if (others / module).exists() and (others / module).read_bytes() != self.kernel.code:
                module = f"{stem}.{module}"
            return self._write(others, stem, module, f"{stem}.")
        except OSError as error:
            raise _unwritten(error, others) from None

    def prepare(self) -> tuple[Path, Folder]:
        """Writes the launch to a temporary folder, which exists as long as the second result."""
        from ._kernels import Folder

        # the module is in the folder, too, so that it needs no other file and no other object
        folder = Folder(sum(one.nbytes for one in self.arrays.values()))
        try:
            return self._write(folder.path, _file_name(self.kernel.shown_name), self.kernel.file), folder
        except OSError as error:
            raise _unwritten(error, folder.path) from None

    def dumps(self, folder: Path) -> list[str]:
        """Returns the options that write the arrays to files of a folder after a run."""
        return [f"{name}={folder / name}.out" for name in self.arrays]

    def read_back(self, folder: Path) -> None:
        """Reads the arrays that a run wrote to a folder.

        Raises an error before any array is changed if the kernel wrote to one that is read-only.
        """
        outputs = {name: folder / f"{name}.out" for name in self.arrays}
        for name, one in self.arrays.items():
            if not one.writable and outputs[name].read_bytes() != one.bytes:
                raise Error.of(
                    "the array is read-only, and the kernel wrote to it",
                    hint="pass a copy of it",
                    place=f"argument `{name}`",
                )
        for name, one in self.arrays.items():
            if one.writable:
                with open(outputs[name], "rb") as file:
                    file.readinto(one.bytes)
            outputs[name].unlink()

    def __repr__(self) -> str:
        return f"<Launch {self.kernel.shown_name}[{_shape(self.grid)}, {_shape(self.block)}]({', '.join(self.arguments)})>"


def _is_table(value: Any) -> bool:
    """Returns whether a value is a table of pointers: a list of arrays."""
    return isinstance(value, (list, tuple)) and all(one is None or is_array(one) for one in value)


def _by_value(parameter: Parameter, value: Any) -> Any:
    """Returns a structure of ctypes or numpy as its bytes, if the parameter is a struct."""
    structure = hasattr(type(value), "_fields_") or getattr(getattr(value, "dtype", None), "kind", "") == "V"
    if parameter.kind != "bytes" or not structure or getattr(value, "shape", ()) != ():
        return value
    try:
        return bytes(memoryview(value))
    except (TypeError, ValueError, BufferError):
        return value


def _prefixes(names: list[str]) -> dict[str, str]:
    """Returns what the names of the buffers of a table begin with, for each parameter. No parameter
    has such a name."""
    found: dict[str, str] = {}
    for name in names:
        prefix = f"{name}_"
        while prefix in found.values() or any(other.startswith(prefix) and other[len(prefix) :].isdigit() for other in names):
            prefix += "_"
        found[name] = prefix
    return found


def _unwritten(error: Exception, folder: Path) -> Error:
    place = getattr(error, "filename", None) or folder
    return Error.of(getattr(error, "strerror", None) or str(error), place=str(place))


def _shape(extent: tuple[int, ...]) -> str:
    shown = extent
    while len(shown) > 1 and shown[-1] == 1:
        shown = shown[:-1]
    return str(shown[0]) if len(shown) == 1 else str(shown)


def _number(parameter: Parameter, value: Any) -> str:
    kind, size = parameter.kind, parameter.size
    dtype = str(getattr(value, "dtype", ""))
    plain = scalar(value)
    if isinstance(plain, complex) or not isinstance(plain, (bool, int, float)):
        plain = whole(value)
        if plain is None:
            raise _wrong(parameter, value, f"cannot take a {type(value).__name__}")
    if kind == "bytes":
        raise _wrong(parameter, value, f"is a struct of {size} bytes")
    # a parameter of type half is one of 16 bits
    if kind == "float" or (isinstance(plain, float) and (kind == "any" or (size == 2 and dtype == "float16"))):
        try:
            return _float(parameter, float(plain))
        except OverflowError:
            raise _wrong(parameter, value, "is a floating-point number, and the integer is too large for it") from None
    if isinstance(plain, float):
        raise _wrong(parameter, value, "is an integer, and a floating-point number is given")
    bits = 8 * size
    if size not in (1, 2, 4, 8) or not -(1 << bits - 1) <= plain < 1 << bits:
        raise _wrong(parameter, value, f"has {bits} bits, and the number does not fit")
    return f"{'I' if plain < 0 else 'U'}{bits}({int(plain)})"


def _float(parameter: Parameter, value: float) -> str:
    forms = {2: "e", 4: "f", 8: "d"}
    if parameter.size not in forms:
        raise _wrong(parameter, value, f"has {parameter.size} bytes, which is no floating-point number")
    form = "<" + forms[parameter.size]
    try:
        bits = struct.pack(form, value)
    except OverflowError:
        # as a conversion in C does
        bits = struct.pack(form, math.copysign(math.inf, value))
    if parameter.kind != "float":
        # the code does not tell integers and floating-point numbers apart
        return f"U{8 * parameter.size}({int.from_bytes(bits, 'little')})"
    (rounded,) = struct.unpack(form, bits)
    return f"F{8 * parameter.size}({'NaN' if math.isnan(rounded) else repr(rounded)})"


def _wrong(parameter: Parameter, value: Any, message: str) -> Error:
    return Error.of(f"the parameter {message}", hint=f"given: {shown(value)}", place=f"argument `{parameter.name}`")


def quoted(text: str) -> str:
    """Returns a text as launch and plan files have it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _file_name(name: str) -> str:
    plain = "".join(c if c.isalnum() or c in "_-." else "_" for c in name)
    # names of templates in C++ are longer than those of files may be
    return plain.strip("._")[:100] or "kernel"
