"""Policies: names, schedules, and classes of the caller."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional, Protocol, Union

from . import _native
from ._errors import Error, shown
from ._native import View


class ChoosesWarps(Protocol):
    """A policy that is written in Python; it is slow, since it is called for every issue.

    It may have three more methods: `restart()`; `placed(block, slots, cycle)`, which is called when a
    block becomes resident; and `ended(block)`.
    """

    def choose(self, view: View) -> Optional[int]:
        """Returns one of `view.ready`, or `None` to let the cycle pass. It is called in every cycle
        in which a warp is ready."""


class Schedule:
    """The recorded schedule of a run, which is replayed without calling Python."""

    def __init__(self, path: Path, folder: Any = None) -> None:
        self.path = path
        """The file with the schedule."""
        self._folder = folder

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the schedule to a file, for `--policy replay:FILE` on the command line."""
        Path(path).write_bytes(self.path.read_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        # the file may be gone where the copy is used
        return _schedule_of, (self.path.read_bytes(),)

    def __repr__(self) -> str:
        return f"<Schedule {self.path}>"


def _schedule_of(content: bytes) -> Schedule:
    from ._kernels import Folder

    folder = Folder()
    path = folder.path / "schedule.replay"
    path.write_bytes(content)
    return Schedule(path, folder)


class _Replay(str):
    """The name of a schedule as a policy, which keeps the file."""

    schedule: Schedule


Policy = Union[str, Schedule, "type[ChoosesWarps]", Callable[[], ChoosesWarps]]
"""A policy: its name, a schedule, or a class with `choose(view)`, of which each sub-core gets an
object of its own."""

# the classes that were passed, by the names that they have in results
_known: dict[str, Any] = {}


def name_of(policy: Any) -> str:
    """Returns a policy as the option `--policy` has it."""
    if isinstance(policy, str):
        return policy
    if isinstance(policy, Schedule):
        name = _Replay(f"replay:{policy.path}")
        name.schedule = policy
        return name
    if not callable(policy):
        raise Error.of(
            f"{shown(policy)} is no policy",
            hint="a name, a schedule, or a class with the method choose(view); not an object of it",
            place="policy",
        )
    base = "".join(c if c.isalnum() or c in "_-" else "_" for c in str(getattr(policy, "__name__", "policy")))
    known, number = base, 1
    while _known.get(known, policy) is not policy:
        number += 1
        known = f"{base}-{number}"
    _known.setdefault(known, policy)
    return f"called:{known}"


class Running:
    """The policies in Python that a running command may call."""

    def __init__(self) -> None:
        # definitions of its own, so that a stop of this command does not stop others
        self._definitions = [_native.define_policy(name, policy) for name, policy in list(_known.items())]

    def __bool__(self) -> bool:
        return bool(self._definitions)

    def stop(self) -> None:
        """Ends the run at its next call of a policy, and a method of a policy that is called now.

        A method that waits in a library, or that catches the exception, goes on.
        """
        if not self._definitions:
            return
        # it is not imported with the package, since few programs need it
        import ctypes

        for definition in self._definitions:
            for thread in definition.stop():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
