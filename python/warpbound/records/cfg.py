"""The output of `cfg`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows

__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]


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
    """Which edges represent divergence: `sides` or `published`."""
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
    results: Rows[CfgResult]
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
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "CfgResult"}


_CLASSES: dict[str, type[Record]] = {"Added": Added, "Block": Block, "CfgResult": CfgResult, "LoopRow": LoopRow, "Problem": Problem}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
