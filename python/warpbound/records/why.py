"""The output of `why`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Cause, MadeFrom, Problem, Side, SourceLine

__all__ = ["Any", "Cause", "ClassVar", "Literal", "MadeFrom", "Problem", "Record", "Report", "Rows", "Side", "SourceLine", "WhyResult"]


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


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[WhyResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "WhyResult"}


_CLASSES: dict[str, type[Record]] = {"Cause": Cause, "MadeFrom": MadeFrom, "Problem": Problem, "Side": Side, "SourceLine": SourceLine, "WhyResult": WhyResult}
WhyResult._classes = _CLASSES
Report._classes = _CLASSES
