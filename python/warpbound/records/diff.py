"""The output of `diff`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, MadeFrom, Problem, Side, SourceLine

__all__ = ["Any", "ClassVar", "DiffResult", "Difference", "KindDifference", "LineDifference", "Literal", "MadeFrom", "Problem", "Record", "Report", "Rows", "Side", "SourceLine"]


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


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[DiffResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "DiffResult"}


_CLASSES: dict[str, type[Record]] = {"DiffResult": DiffResult, "Difference": Difference, "KindDifference": KindDifference, "LineDifference": LineDifference, "MadeFrom": MadeFrom, "Problem": Problem, "Side": Side, "SourceLine": SourceLine}
DiffResult._classes = _CLASSES
Difference._classes = _CLASSES
KindDifference._classes = _CLASSES
LineDifference._classes = _CLASSES
Report._classes = _CLASSES
