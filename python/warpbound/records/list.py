"""The output of `list`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows

__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]


class Kernel(Record):
    """A kernel."""
    doc: str
    """A description."""
    file: str
    """The path of its file."""
    kernel: str
    """The name of the kernel."""
    suite: bool
    """Whether it belongs to the suite that `check` runs if no kernel is named."""
    _nested: ClassVar[dict[str, str]] = {}


class ListedBound(Record):
    """A bound."""
    doc: str
    """A description."""
    name: str
    """The name of the bound."""
    standing: str
    """Its standing: whether it is published or proved."""
    _nested: ClassVar[dict[str, str]] = {}


class Listing(Record):
    """Everything that can be named on the command line."""
    bounds: Rows[ListedBound]
    """The bounds."""
    kernels: Rows[Kernel]
    """The embedded kernels, launches and programs."""
    machines: Rows[Machine]
    """The embedded machines."""
    plans: Rows[Named]
    """The embedded plans."""
    policies: Rows[Policy]
    """The policies."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "ListedBound", "kernels": "Kernel", "machines": "Machine", "plans": "Named", "policies": "Policy"}


class Machine(Record):
    """A machine."""
    compared: str
    """What the machine was compared with, and how far off it is."""
    doc: str
    """A description."""
    name: str
    """Its name."""
    _nested: ClassVar[dict[str, str]] = {}


class Named(Record):
    """A plan."""
    doc: str
    """A description."""
    name: str
    """Its name."""
    _nested: ClassVar[dict[str, str]] = {}


class Policy(Record):
    """A policy."""
    doc: str
    """Which warp issues."""
    name: str
    """The name, as `--policy` accepts it."""
    work_conserving: bool | None
    """Whether some warp issues whenever one is ready; absent for a replay, where it depends on the file."""
    _nested: ClassVar[dict[str, str]] = {}


class Problem(Record):
    """An error."""
    column: int
    """The column, from 1; 0 if the error has no column."""
    file: str
    """The file or option that has the error."""
    hint: str
    """How to correct it; may be empty."""
    kernels: list[str] | None
    """The kernels that have this error, as the command line named them, if the command was given several."""
    line: int
    """The line, from 1; 0 if the error has no line."""
    message: str
    """What is wrong."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(Record):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    command: str
    """The name of the command."""
    complete: bool
    """Whether all work was completed: nothing failed and nothing stopped the command."""
    errors: Rows[Problem] | None
    """The errors of the failed kernels, or of the command itself."""
    failed: list[str] | None
    """The kernels that failed, if the command was given several."""
    judged: int | None
    """The number of results with a verdict, that is, to which some gating bound applied."""
    more_errors: int | None
    """The number of further errors that are not listed."""
    not_reached: list[str] | None
    """The inputs that were not started because the command was stopped, as the command line named them."""
    results: Rows[Listing]
    """One result per kernel, policy or setting, depending on the command."""
    schema: int
    """The version of this JSON format."""
    seed: int | None
    """The seed of all random choices, if the command makes any."""
    stopped: Literal["interrupt", "terminated", "time-limit", "max-states", "memory"] | None
    """Why the command was stopped early, if it was."""
    tool_version: str
    """The version of the tool."""
    verdict: Literal["holds", "violated", "not-applicable", "undecided"] | None
    """The verdict over all results, if the command judges bounds."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "Listing"}


_CLASSES: dict[str, type[Record]] = {"Kernel": Kernel, "ListedBound": ListedBound, "Listing": Listing, "Machine": Machine, "Named": Named, "Policy": Policy, "Problem": Problem}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
