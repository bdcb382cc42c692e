"""The output of `why`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows

__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]


class Cause(Record):
    """A cause: cycles on the critical path that the slower run has and the faster one has not."""
    cycles: int
    """The number of cycles."""
    instruction: SourceLine | None
    """The instruction that waits or executes in most of these cycles; absent for the placement of blocks."""
    kind: Literal["latency", "memory", "initiation", "unit-busy", "issue", "issue-slot", "turn", "barrier", "dispatch", "unit-full", "held", "fetch", "launch"]
    """The kind of the cycles."""
    neighbours: list[int] | None
    """The lines of neighbouring instructions that have the other cycles, in ascending order."""
    unit: str | None
    """The functional unit of the instruction, if the cycles are those of its unit."""
    _nested: ClassVar[dict[str, str]] = {"instruction": "SourceLine"}


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


class WhyResult(Record):
    """The causes of the difference between two runs."""
    causes: Rows[Cause]
    """The largest causes, the largest one first."""
    difference: int
    """Cycles of the slower run minus cycles of the faster one."""
    faster: Side
    """The other run."""
    issued_instead: SourceLine | None
    """The instruction that the slower run issues most often while a warp on the critical path is ready, if a
    cause is such a wait for an issue slot."""
    not_my_turn: int | None
    """The issue slots that the slower run leaves unused more often than the faster one because the policy
    keeps them for a warp that is not ready."""
    sentence: str
    """The answer in one sentence."""
    settings: list[str]
    """The settings in which the runs differ; A is the first run."""
    share: float
    """The difference over the makespan of the faster run."""
    slower: Side
    """The run that takes longer; the first one if both take the same time."""
    spent_less: int
    """The cycles that it spends less, wherever it does."""
    spent_more: int
    """The cycles that the slower run spends more than the faster one, wherever it does: those of all
    causes."""
    _nested: ClassVar[dict[str, str]] = {"causes": "Cause", "faster": "Side", "issued_instead": "SourceLine", "slower": "Side"}


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
    results: Rows[WhyResult]
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
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "WhyResult"}


_CLASSES: dict[str, type[Record]] = {"Cause": Cause, "MadeFrom": MadeFrom, "Problem": Problem, "Side": Side, "SourceLine": SourceLine, "WhyResult": WhyResult}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
