"""Calls of commands, and their answers."""

from __future__ import annotations

import atexit
import json
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Union

from . import _native
from ._errors import Error, Interrupted, Problem, of_json, of_python, of_text, shown, without_folders
from ._numbers import scalar
from ._policies import Running

Value = Union[None, bool, int, float, str, "os.PathLike[str]"]
Option = Union[Value, Sequence[Value]]
"""The value of an option: `True` for one without a value, a sequence for one that is repeated."""

# milliseconds between two looks for Ctrl-C
_LOOK = 50
# seconds after which progress is shown
_PATIENCE = 2.0
# seconds that a command which is stopped may take to end
_PATIENCE_OF_STOP = 5.0

_show_progress = True


def show_progress(shown: bool) -> None:
    """Sets whether commands that take more than two seconds show a progress bar.

    The bar needs the package tqdm.
    """
    global _show_progress
    _show_progress = shown


def words(options: Mapping[str, Option]) -> list[str]:
    """Returns options as words of a command line: `mem_latency=400` is `--mem-latency 400`."""
    found: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in values_of(value):
            if one is None or one is False:
                continue
            # one word, so that a value may begin with a dash
            found.append(option if one is True else f"{option}={written(one, name)}")
    return found


def values_of(value: Any) -> list[Any]:
    """Returns the values of an option."""
    if isinstance(value, (str, bytes, os.PathLike, Mapping)) or not isinstance(value, Iterable):
        return [scalar(value)]
    try:
        return [scalar(one) for one in value]
    except (TypeError, ValueError):
        # an array of numpy without a dimension, for example
        return [scalar(value)]


def written(value: Any, place: str) -> str:
    """Returns the value of an option as text; `place` is the option in messages."""
    try:
        if isinstance(value, os.PathLike):
            return os.fsdecode(value)
        if isinstance(value, (str, int, float)):
            return str(value)
    except ValueError:
        # an integer with thousands of digits
        raise Error.of("the number is too large", place=place) from None
    raise Error.of(f"{shown(value)} is no number, text or path", place=place)


def text(command: str, *arguments: str, **options: Option) -> str:
    """Runs a command and returns the text that it prints."""
    code, out, err, _ = _run([command, *words(options), "--", *arguments])
    if code in (0, 3):
        return without_folders(out)
    raise _failed(command, code, err)


def answer(command: str, *arguments: str, **options: Option) -> dict[str, Any]:
    """Runs a command and returns the JSON that it prints.

    Raises [`Error`] if the command has errors, even if some of its work succeeded.
    """
    code, out, err, stopped = _run([command, "--format=json", *words(options), "--", *arguments])
    try:
        found: dict[str, Any] = json.loads(out)
    except json.JSONDecodeError:
        if code == 0:
            raise Error.of(
                f"`{command}` printed a text instead of its result",
                hint="an option such as `help` or `table` is for the command line only",
            ) from None
        raise _failed(command, code, err) from None
    warn(err)
    errors = of_json(found.get("errors", []))
    if found.get("stopped") or (stopped and errors):
        limit = Problem("the time limit passed before the result was complete")
        raise Interrupted([limit, *errors], found)
    if errors:
        raise Error(errors, found)
    if code not in (0, 3):
        # an output that could not be written, for example
        raise _failed(command, code, err, found)
    return found


def _failed(command: str, code: int, err: str, result: Any = None) -> Error:
    text = of_python(err.strip()) or f"`{command}` failed with code {code}"
    return Error(of_text(err) or [Problem(text)], result)


def warn(err: str) -> None:
    """Turns the warnings of a command into warnings of Python."""
    for line in err.splitlines():
        if line.strip().startswith("WARN "):
            warnings.warn(of_python(line.strip().removeprefix("WARN ")), stacklevel=_outside())


def _outside() -> int:
    """Returns the stack level of the caller of this package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    return level


def _run(line: list[str]) -> tuple[int, str, str, bool]:
    """Runs a command line. Returns its exit code, what it printed to stdout and stderr, and whether
    its time limit passed."""
    for word in line:
        checked(word, line[0])
    policies = Running()
    call = _native.Call(line)
    _running.append((call, policies))
    bar: _Bar | None = None
    try:
        began = time.monotonic()
        while not call.ends_within(_LOOK):
            if call.is_stopped():
                policies.stop()
            if bar is None and _show_progress and time.monotonic() - began > _PATIENCE:
                bar = _Bar()
            if bar is not None:
                bar.show(*call.progress())
        stopped = call.is_stopped()
        return *call.answer(), stopped
    except BaseException:
        # Ctrl-C, or an exception that another thread or a signal raises here
        call.stop()
        _end(call, policies, _PATIENCE_OF_STOP)
        raise
    finally:
        if bar is not None:
            bar.close()
        if call.ends_within(0):
            _running.remove((call, policies))


# the calls that have not ended, with the policies that they may call
_running: list[tuple[_native.Call, Running]] = []


def _end(call: _native.Call, policies: Running, patience: float) -> None:
    """Waits for the end of a call that was stopped, at most for a number of seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and not call.ends_within(_LOOK):
        # a method that was called meanwhile, or that caught the exception, is stopped again
        policies.stop()


@atexit.register
def _end_all() -> None:
    """Waits for calls of policies, as Python waits for its own threads: it cannot end before them."""
    for call, policies in list(_running):
        if policies:
            call.stop()
            _end(call, policies, math.inf)


def checked(word: Any, command: str = "") -> str:
    """Returns a word of a command line, or raises an error if it cannot be one."""
    if not isinstance(word, str):
        raise Error.of(f"{shown(word)} is no text")
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        raise Error.of("the text has a character that no name can have", place=shown(word)) from None
    # a command would wait for what somebody types
    between = r"[\s,'\"\\]+" if command in ("diff", "why") else ","
    if any(part in ("-", "replay:-") for part in re.split(between, re.sub(r"^--[\w-]*=", "", word))):
        raise Error.of("`-` is stdin, which can be read on the command line only", hint="give the path of a file", place=shown(word))
    return word


class _Bar:
    """The progress bar of a command, if tqdm is there and somebody can see it."""

    # seconds between two updates
    _PAUSE = 0.25

    def __init__(self) -> None:
        self._bar: Any = None
        self._shown = 0.0
        try:
            # a file, or a notebook without widgets, would keep every state of the bar
            if sys.stderr.isatty():
                from tqdm import tqdm
            elif "ipykernel" in sys.modules and find_spec("ipywidgets"):
                from tqdm.notebook import tqdm
            else:
                return
            self._bar = tqdm(leave=False)
        except Exception:
            # it is not installed, or there is no stderr
            return

    def show(self, what: str, done: int, steps: int | None, unit: str) -> None:
        now = time.monotonic()
        if self._bar is None or now - self._shown < self._PAUSE:
            return
        self._shown = now
        try:
            if self._bar.desc != what:
                # another stage counts from 0
                self._bar.reset(total=steps)
                self._bar.unit = f" {unit}"
                self._bar.set_description(what, refresh=False)
            self._bar.n = done
            self._bar.refresh()
        except Exception:
            # the terminal may be gone, for example; the command goes on
            self._bar = None

    def close(self) -> None:
        if self._bar is not None:
            with suppress(Exception):
                self._bar.close()
