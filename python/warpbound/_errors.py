"""The errors of warpbound as exceptions."""

from __future__ import annotations

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
        Problem(
            of_python(problem["message"]),
            hint=of_python(problem.get("hint") or ""),
            file=of_python(problem.get("file") or ""),
            line=problem.get("line") or 0,
            column=problem.get("column") or 0,
        )
        for problem in problems
    ]


_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])")
# the names of files in temporary folders say nothing more
_FOLDER = re.compile(r"(?:/[^\s/:`]+)*/warpbound-[a-z0-9_]{8}/")


def of_python(text: str) -> str:
    """Returns a message with the names of keyword arguments instead of those of options."""
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), without_folders(text))


def without_folders(text: str) -> str:
    """Returns a text without the names of temporary folders."""
    return _FOLDER.sub("", text)
