"""The output of `diff`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows

__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]


class DiffResult(Record):
    """The comparison of two runs of a kernel."""
    a: Side
    """The first run."""
    b: Side
    """The second run."""
    difference: int
    """Cycles of B minus cycles of A: the sum of the differences in `kinds`, and the sum of those in
    `lines`."""
    kernel: str
    """The kernel of both runs."""
    kinds: Rows[KindDifference]
    """The critical paths by kind, the largest difference first."""
    lines: Rows[LineDifference]
    """The critical paths by instruction, the largest difference first."""
    reasons: list[str]
    """The reasons for the difference, as sentences."""
    settings: list[str]
    """The settings in which the runs differ."""
    stalls: Rows[Difference]
    """Idle issue slots by reason, the largest difference first."""
    units: Rows[Difference]
    """Cycles in which functional units initiated an instruction, the largest difference first."""
    _nested: ClassVar[dict[str, str]] = {"a": "Side", "b": "Side", "kinds": "KindDifference", "lines": "LineDifference", "stalls": "Difference", "units": "Difference"}


class Difference(Record):
    """A number counted in both runs."""
    a: int
    """The number in A."""
    b: int
    """The number in B."""
    difference: int
    """B minus A."""
    name: str
    """The name of what is counted."""
    _nested: ClassVar[dict[str, str]] = {}


class KindDifference(Record):
    """The cycles of a kind on both critical paths."""
    a: int
    """The cycles on the critical path of A."""
    b: int
    """The cycles on the critical path of B."""
    difference: int
    """B minus A."""
    kind: Literal["latency", "memory", "initiation", "unit-busy", "issue", "issue-slot", "turn", "barrier", "dispatch", "unit-full", "held", "fetch", "launch"]
    """The kind."""
    _nested: ClassVar[dict[str, str]] = {}


class LineDifference(Record):
    """The cycles that an instruction caused on both critical paths."""
    a: int
    """The cycles on the critical path of A."""
    b: int
    """The cycles on the critical path of B."""
    difference: int
    """B minus A: the sum of the differences in `kinds`."""
    instruction: SourceLine | None
    """The instruction; absent for the placement of blocks."""
    kinds: Rows[KindDifference]
    """The cycles by kind, the largest difference first."""
    _nested: ClassVar[dict[str, str]] = {"instruction": "SourceLine", "kinds": "KindDifference"}


class MadeFrom(Record):
    """A line of a source file from which a compiler made an instruction."""
    file: str
    """The name of the file in the PTX."""
    line: int
    """The line."""
    text: str | None
    """The text of the line; absent if the file was not found."""
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


class Side(Record):
    """One of two runs."""
    blocks: int
    """The number of blocks of the launch."""
    given: str
    """The run, as the command line named it."""
    machine: str
    """The machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    makespan: int
    """The makespan in cycles."""
    name: str
    """The short name of the run in `reasons`."""
    policy: str
    """The policy."""
    seed: int
    """The seed of buffer contents."""
    _nested: ClassVar[dict[str, str]] = {}


class SourceLine(Record):
    """The place of an instruction in the code: in PTX, for example."""
    line: int
    """The line in the source."""
    pc: int
    """The index of the instruction in the program."""
    source: MadeFrom | None
    """The line of CUDA C++ from which a compiler made the instruction, if the PTX states it (`.loc`)."""
    text: str
    """The text of the line."""
    _nested: ClassVar[dict[str, str]] = {"source": "MadeFrom"}


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
    results: Rows[DiffResult]
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
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "DiffResult"}


_CLASSES: dict[str, type[Record]] = {"DiffResult": DiffResult, "Difference": Difference, "KindDifference": KindDifference, "LineDifference": LineDifference, "MadeFrom": MadeFrom, "Problem": Problem, "Side": Side, "SourceLine": SourceLine}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
