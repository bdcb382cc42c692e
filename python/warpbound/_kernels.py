"""Kernels: the code, its parameters, and how it is launched."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

from . import _call
from ._arrays import names_of
from ._errors import Error, mapping, path_text, shown
from ._launches import Launch
from ._numbers import whole

Extent = Union[int, Sequence[int]]
"""The number of blocks or threads: a number, or up to three of them."""

MODULES = (".ptx", ".cubin", ".fatbin")
_MODULES_OR_PACKED = tuple(ending + packed for ending in MODULES for packed in ("", ".gz", ".xz"))


class Parameter(NamedTuple):
    """A parameter of a kernel."""

    name: str
    """Its name in messages, and that of its buffer."""
    kind: str
    """What it is: `int` (integers and pointers), `float`, `bytes` (a struct), or `any`, if the code
    does not tell."""
    size: int
    """Its size in bytes."""


class Folder:
    """A folder for temporary files, which is removed with this object."""

    def __init__(self, bytes: int = 0) -> None:
        """Makes a folder for files of about this size."""
        try:
            self.path = Path(tempfile.mkdtemp(prefix="warpbound-", dir=_place(bytes)))
        except OSError as error:
            raise Error.of(f"no temporary folder can be made: {error}", hint="set TMPDIR to a folder") from None
        self._remove = weakref.finalize(self, _removed, self.path, os.getpid())

    def __deepcopy__(self, _: Any) -> Folder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # it may be gone where the copy is used
        return _folder_with, ({path.name: path.read_bytes() for path in self.path.iterdir() if path.is_file()},)


def _removed(path: Path, process: int) -> None:
    # a process that was forked has the object as well, but not the folder
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


def _folder_with(files: Mapping[str, bytes]) -> Folder:
    folder = Folder(sum(map(len, files.values())))
    for name, content in files.items():
        (folder.path / name).write_bytes(content)
    return folder


# a file system in memory, which is faster than a disk
_MEMORY = "/dev/shm"


def _place(bytes: int) -> str | None:
    """Returns where a temporary folder is made: in memory if there is room, unless TMPDIR is set."""
    try:
        if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK | os.X_OK):
            return None
        room = os.statvfs(_MEMORY)
    except (OSError, AttributeError):
        return None
    # the arrays after a run are there, too, and others need some room
    return _MEMORY if 4 * bytes + (1 << 24) < room.f_bavail * room.f_frsize else None


class Kernel:
    """A kernel of a module in PTX or machine code.

    `kernel[grid, block](arguments)` launches it, and `kernel[grid, block, dynamic_shared]` with
    dynamic shared memory.
    """

    def __init__(
        self,
        code: str | bytes,
        *,
        file: str = "kernel.ptx",
        entry: str | None = None,
        names: Sequence[str] | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        """Makes a kernel of PTX text or the bytes of a cubin.

        `file` is the name of the module in messages, `entry` the kernel (it may be left out if the
        module has only one), `names` are those of its parameters, and `sources` the files from which
        a compiler made it, by the names that the module states.
        """
        if not isinstance(code, (str, bytes, bytearray, memoryview)):
            raise Error.of(f"{shown(code)} is no code", hint="the text of PTX, or the bytes of a cubin", place="code")
        # other characters could not be written to launch files
        name = Path(path_text(file, "file")).name.encode("utf-8", "replace").decode().replace("\0", "")
        try:
            self.code = code.encode("utf-8", "replace") if isinstance(code, str) else bytes(code)
        except ValueError as error:
            # a view that was released
            raise Error.of(str(error), place="code") from None
        ending = ".cubin" if self.code.startswith(b"\x7fELF") else ".ptx"
        self.file = name if name.endswith(_MODULES_OR_PACKED) else f"{name or 'kernel'}{ending}"
        self.sources: dict[str, str] = mapping(sources, "sources", '{"kernel.cu": "the text of the file"}')
        self._folder = Folder()
        try:
            self.path.write_bytes(self.code)
        except OSError as error:
            raise Error.of(error.strerror or str(error), place=self.file) from None
        found = _call.answer("inspect", str(self.path))["results"][0]
        entries = found.get("entries") or found.get("kernels") or []
        self._read(_choose(entries, entry, self.file), names)

    def __reduce__(self) -> tuple[Any, ...]:
        # the folder may be gone where the copy is used
        return _kernel_again, (self.code, self.file, self.name, [p.name for p in self.parameters], self.sources)

    def _read(self, entry: Mapping[str, Any], names: Sequence[str] | None) -> None:
        self.name: str = entry["kernel"]
        """The name of the kernel in the module."""
        self.shown_name: str = (entry.get("demangled") or self.name).split("(")[0] or self.name
        """The name without the mangling of C++."""
        self.max_threads: int | None = entry.get("max_threads")
        """The most threads per block, if the module limits them."""
        parameters = entry["params"]
        stated = names if names is not None else [_short(p.get("name", ""), self.name) for p in parameters]
        self.parameters: tuple[Parameter, ...] = tuple(
            Parameter(name, _kind(parameter.get("type")), parameter["size_bytes"])
            for name, parameter in zip(names_of(len(parameters), stated), parameters)
        )
        """The parameters."""

    @property
    def path(self) -> Path:
        """A temporary file with the module."""
        return self._folder.path / self.file

    def __getitem__(self, configuration: Any) -> Configured:
        if not isinstance(configuration, tuple) or len(configuration) not in (2, 3):
            raise Error.of(
                "a launch needs the blocks and the threads per block",
                hint="kernel[blocks, threads](..), or kernel[blocks, threads, dynamic_shared_bytes](..)",
                place=self.shown_name,
            )
        grid, block = _extent(configuration[0], "grid"), _extent(configuration[1], "block")
        shared = configuration[2] if len(configuration) == 3 else 0
        bytes = whole(shared)
        if bytes is None or not 0 <= bytes < 1 << 32:
            raise Error.of(f"{shown(shared)} is not a number of bytes", place="dynamic shared memory")
        return Configured(self, grid, block, bytes)

    def __call__(self, *arguments: Any) -> Launch:
        raise Error.of(
            "a launch needs the blocks and the threads per block",
            hint=f"{self.shown_name}[blocks, threads](..)",
            place=self.shown_name,
        )

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.kind}{8 * p.size}" for p in self.parameters)
        return f"<Kernel {self.shown_name}({parameters}) of {self.file}>"


def _kernel_again(
    code: bytes, file: str, entry: str, names: Sequence[str], sources: Mapping[str, str]
) -> Kernel:
    return Kernel(code, file=file, entry=entry, names=names, sources=sources)


class Configured:
    """A kernel with its grid; calling it with the arguments makes a [`Launch`]."""

    def __init__(self, kernel: Kernel, grid: tuple[int, ...], block: tuple[int, ...], shared: int) -> None:
        self.kernel, self.grid, self.block, self.dynamic_shared = kernel, grid, block, shared

    def __call__(self, *arguments: Any) -> Launch:
        return Launch(self.kernel, self.grid, self.block, self.dynamic_shared, arguments)


class KernelFile:
    """A kernel that has its launch already.

    It is an embedded kernel, a launch or program file, a micro kernel, or a trace.
    """

    def __init__(self, name: str) -> None:
        self.argument = name
        """What the command line calls it."""

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return Path(self.argument).name.split(".")[0]

    def __getitem__(self, configuration: Any) -> Any:
        raise Error.of(
            "the launch of this kernel is in its file",
            hint="give `grid`, `block` and `arg` to run(), or pass the .ptx file to kernel()",
            place=self.argument,
        )

    def __repr__(self) -> str:
        return f"<KernelFile {self.argument}>"


def kernel(
    source: str | os.PathLike[str], entry: str | None = None, names: Sequence[str] | None = None
) -> Any:
    """Finds a kernel: PTX, a cubin, a launch or program file, a micro kernel, a trace, or an
    embedded kernel by its name.

    Returns a [`Kernel`] for PTX and machine code, which needs a launch, and a [`KernelFile`]
    otherwise. `entry` names the kernel of a module with several, and `names` its parameters.
    """
    path = Path(path_text(source, "source"))
    ending = Path(path.stem).suffix if path.suffix in (".gz", ".xz") else path.suffix
    if ending not in MODULES:
        if entry is not None:
            raise Error.of("only PTX and machine code have kernels to choose from", place=str(source))
        # an unknown name or an invalid file is an error here, not where the kernel is used
        if ending not in (".traceg", ".tracez", ".g"):
            found = _call.answer("inspect", path_text(source, "source"))["results"][0]
            if found.get("kind") == "machine":
                raise Error.of("this is a machine, not a kernel", hint="machine() finds machines", place=str(source))
        return KernelFile(path_text(source, "source"))
    try:
        code = path.read_bytes()
    except (OSError, ValueError) as error:
        raise Error.of(getattr(error, "strerror", None) or str(error), place=str(source)) from None
    return Kernel(code, file=path.name, entry=entry, names=names)


def _choose(entries: Sequence[Mapping[str, Any]], wanted: str | None, file: str) -> Mapping[str, Any]:
    names = [(entry.get("demangled") or entry["kernel"]).split("(")[0] for entry in entries]
    listed = "kernels: " + ", ".join(names)
    if not entries:
        raise Error.of("the module has no kernel", place=file)
    if wanted is None:
        if len(entries) > 1:
            raise Error.of("the module has several kernels", hint=f"choose one by `entry`; {listed}", place=file)
        return entries[0]
    if not isinstance(wanted, str):
        raise Error.of(f"{shown(wanted)} is no name of a kernel", hint=listed, place="entry")
    whole = [entry for entry, name in zip(entries, names) if wanted in (entry["kernel"], name)]
    found = whole or [entry for entry, name in zip(entries, names) if wanted in name or wanted in entry["kernel"]]
    if len(found) != 1:
        problem = f"no kernel `{wanted}`" if not found else f"`{wanted}` can be several kernels"
        raise Error.of(problem, hint=listed, place=file)
    return found[0]


def _short(name: str, entry: str) -> str:
    """Returns `param_0` for the name `entry_param_0` that compilers make."""
    short = name.removeprefix(entry).lstrip("_")
    return short.replace("param_", "arg") if short.startswith("param_") else short or name


def _kind(type: str | None) -> str:
    if type is None:
        return "any"
    if type.endswith("bytes"):
        return "bytes"
    return "float" if type.startswith("f") else "int"


def _extent(value: Any, what: str) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    numbers = []
    for one in values:
        number = whole(one)
        if number is None or not 0 < number < 1 << 32:
            raise Error.of(f"{shown(one)} is not a whole number of at least 1", hint="one to three numbers", place=what)
        numbers.append(number)
    if not 1 <= len(numbers) <= 3:
        raise Error.of(f"{shown(value)} has {len(numbers)} numbers", hint="one to three numbers", place=what)
    return (*numbers, *[1] * (3 - len(numbers)))
