"""The output of `cfg`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Problem

__all__ = ["Added", "Any", "Block", "CfgResult", "ClassVar", "Literal", "LoopRow", "Problem", "Record", "Report", "Rows"]


class Added(Record):
    """An edge that divergence adds."""
    branch: int
    """The block that ends with the branch."""
    to: int
    """The block at which another side begins."""
    _nested: ClassVar[dict[str, str]] = {}


class Block(Record):
    """A basic block."""
    depth: int
    """The number of loops that contain it."""
    diverges: bool
    """Whether lanes of a warp may diverge at its end."""
    function: str
    """The function that contains it."""
    instructions: int
    """The number of its instructions."""
    leaves: bool
    """Whether lanes may exit, or return, after it."""
    lines: list[int]
    """The lines of its first and last instruction."""
    post_dominator: int | None
    """The block at which lanes that diverge at its end reconverge; absent if they reconverge only at the end
    of the function."""
    _nested: ClassVar[dict[str, str]] = {}


class CfgResult(Record):
    """The control flow graph of a kernel."""
    added: Rows[Added]
    """The additional edges that warps can take because their lanes diverge."""
    blocks: Rows[Block]
    """The basic blocks; those of the kernel itself come first."""
    divergence: str
    """Which edges represent divergence: `sides` or `published`. Machine code whose threads are scheduled
    independently has none (`threads take turns`)."""
    edges: list[list[int]]
    """The edges that lanes can take, including calls, as pairs of indices of blocks."""
    file: str
    """Its source file."""
    kernel: str
    """The name of the kernel."""
    loops: Rows[LoopRow]
    """The loops, each after the loops that contain it."""
    _nested: ClassVar[dict[str, str]] = {"added": "Added", "blocks": "Block", "loops": "LoopRow"}


class LoopRow(Record):
    """A loop."""
    blocks: list[int]
    """The blocks of the loop."""
    depth: int
    """The nesting depth: 1 for an outermost loop."""
    header: int
    """The block that is its only entry."""
    line: int
    """The line of the first instruction of the header."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[CfgResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "CfgResult"}


_CLASSES: dict[str, type[Record]] = {"Added": Added, "Block": Block, "CfgResult": CfgResult, "LoopRow": LoopRow, "Problem": Problem}
Added._classes = _CLASSES
Block._classes = _CLASSES
CfgResult._classes = _CLASSES
LoopRow._classes = _CLASSES
Report._classes = _CLASSES
