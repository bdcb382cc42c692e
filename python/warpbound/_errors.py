"""The errors of warpbound as exceptions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any


class Problem:
    """One error: what is wrong, where it is, and what helps."""

    def __init__(self, message: str, *, hint: str = "", file: str = "", line: int = 0, column: int = 0) -> None:
        self.message = message
        """What is wrong."""
        self.hint = hint
        """What helps; it can be empty."""
        self.file = file
        """The file, option or argument that the error is in."""
        self.line = line
        """The line from 1, or 0 if the error concerns no line."""
        self.column = column
        """The column from 1, or 0."""

    def __str__(self) -> str:
        place = ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)])
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  {self.hint}" if self.hint else text

    def __repr__(self) -> str:
        return f"Problem({str(self)!r})"


class Error(Exception):
    """The error of a command or of an argument.

    The attributes `message`, `hint`, `file`, `line` and `column` are those of the first problem;
    `problems` has all of them.
    """

    def __init__(self, problems: Sequence[Problem], result: Any = None) -> None:
        self.problems = list(problems)
        """All problems that were found."""
        self.result = result
        """What the command has established nevertheless, or `None`."""
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        # exceptions are made again from their text otherwise, also when processes pass them on
        return type(self), (self.problems, self.result)

    @classmethod
    def of(cls, message: str, *, hint: str = "", place: str = "") -> Error:
        """Returns an error with one problem, which concerns an argument or option."""
        return cls([Problem(message, hint=hint, file=place)])

    @property
    def message(self) -> str:
        """What is wrong."""
        return self.problems[0].message

    @property
    def hint(self) -> str:
        """What helps; it can be empty."""
        return self.problems[0].hint

    @property
    def file(self) -> str:
        """The file, option or argument that the error is in."""
        return self.problems[0].file

    @property
    def line(self) -> int:
        """The line from 1, or 0 if the error concerns no line."""
        return self.problems[0].line

    @property
    def column(self) -> int:
        """The column from 1, or 0."""
        return self.problems[0].column


class Interrupted(Error):
    """A command stopped at its time limit before its result was complete."""


def of_json(problems: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Returns the problems that the JSON of a command lists."""
    return [
        _problem(
            problem["message"],
            problem.get("hint") or "",
            problem.get("file") or "",
            problem.get("line") or 0,
            problem.get("column") or 0,
        )
        for problem in problems
    ]


def of_text(text: str) -> list[Problem]:
    """Returns the problems that a command prints as text."""
    found = []
    for block in re.split(r"^(?=error: )", text, flags=re.MULTILINE):
        if not block.startswith("error: "):
            continue
        message = re.split(r"\n *(?:-->|= hint:|\|)", block)[0].removeprefix("error: ").strip()
        place = re.search(r"^ *--> (.*?)(?::(\d+):(\d+))?$", block, re.MULTILINE)
        hint = re.search(r"^ *= hint: (.*)", block, re.MULTILINE | re.DOTALL)
        file, line, column = place.groups() if place else ("", None, None)
        found.append(_problem(message, hint[1].strip() if hint else "", file, int(line or 0), int(column or 0)))
    return found


def _problem(message: str, hint: str, file: str, line: int, column: int) -> Problem:
    if file.endswith(".ron") and _FOLDER.search(file) and not file.endswith(_PLAN):
        # the caller has no launch file: the place is the launch of the kernel
        file, line, column = file.removesuffix(".ron"), 0, 0
    hint = "" if hint == "--help lists commands and options" else hint
    place = "options" if file == "command line" else of_python(file)
    return Problem(of_python(message), hint=of_python(hint), file=place, line=line, column=column)


def shown(value: object) -> str:
    """Returns a value as messages show it: not too long, whatever it is."""
    try:
        text = without_folders(repr(value))
    except Exception:
        # a number with too many digits, for example
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def mapping(value: Any, place: str, example: str) -> dict[Any, Any]:
    """Returns a dictionary, which is empty for `None`; `place` is the argument in messages."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Error.of(f"{shown(value)} is no dictionary", hint=f"such as {example}", place=place)
    return dict(value)


def path_text(value: Any, place: str) -> str:
    """Returns a path as text; `place` is the argument in messages."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise Error.of(f"{shown(value)} is no path and no name", place=place) from None
    except UnicodeEncodeError:
        return str(value)


_COMMAND = re.compile(r"`warpbound ([a-z]+)`")
_FUNCTIONS = {"list": "kernels"}
# how to write a command line
_USAGE = re.compile(r"(?:; |^)Usage: warpbound .*", re.DOTALL)
_SETTING = re.compile(r"--set ([\w.]+)=([\w.-]+)")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])")
# the names of files in temporary folders say nothing more
_PLAN = "/plan.ron"
_FOLDER = re.compile(r"(?:/[^\s/:`]+)*/warpbound-[a-z0-9_]{8}/")


def of_python(text: str) -> str:
    """Returns a message with the names of functions and keyword arguments instead of those of
    commands and options."""
    text = _COMMAND.sub(lambda found: f"`warpbound.{_FUNCTIONS.get(found[1], found[1])}()`", without_folders(text))
    text = _SETTING.sub(r'settings={"\1": \2}', _USAGE.sub("", text))
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), text)


def without_folders(text: str) -> str:
    """Returns a text without the names of temporary folders."""
    return _FOLDER.sub("", text)
