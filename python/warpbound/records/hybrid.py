"""The output of `hybrid`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Problem

__all__ = ["Any", "ClassVar", "EstimateRow", "HybridResult", "Literal", "LoopRow", "Problem", "Record", "Report", "Rows", "TransitionRow", "Waves"]


class EstimateRow(Record):
    """An estimate."""
    below_high_water: bool | None
    """Whether a run took longer; if so, the estimate is no upper bound."""
    missing: str | None
    """Why there is no value."""
    name: str
    """The name: `z_warp`, `z_warp_tree`, `z_dynamic` and `z_hybrid` as published, or `hybrid_blocks` and
    `hybrid_sections`, which are our own."""
    overestimation: float | None
    """(value - high-water mark) / high-water mark."""
    value: int | None
    """The value; absent if the estimate could not be computed."""
    _nested: ClassVar[dict[str, str]] = {}


class HybridResult(Record):
    """The analysis of a kernel or graph. Times are in cycles."""
    estimates: Rows[EstimateRow]
    """The estimates."""
    events: int
    """The number of events: each is the passage of a warp through an ipoint."""
    high_water: int
    """The time of the longest run, from the first start to the last end: the high-water mark."""
    high_water_run: int
    """The number of the longest run, from 1."""
    ipoints: int
    """The number of ipoints (instrumentation points)."""
    ipoints_at: str
    """What is instrumented besides the entry and the end: `blocks` or `loops`, or `nodes` for a given
    graph."""
    kernel: str
    """The name of the kernel, or the file of the graph."""
    limits: str
    """What limits the counts of transitions: `loops` for the loop bounds alone, or `counts` for the loop
    bounds and the counts that were observed for warps."""
    longest_warp: int
    """The longest time of a single warp."""
    loops: Rows[LoopRow]
    """The loops, each after the loops that contain it."""
    never_observed: int
    """The number of transitions that no warp took; no estimate accounts for them."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    runs: int
    """The number of runs."""
    shortest_run: int
    """The time of the shortest run."""
    transitions: Rows[TransitionRow]
    """The transitions."""
    warps: int
    """The number of warps in all runs."""
    waves: Waves
    """The times at which warps start."""
    _nested: ClassVar[dict[str, str]] = {"estimates": "EstimateRow", "loops": "LoopRow", "transitions": "TransitionRow", "waves": "Waves"}


class LoopRow(Record):
    """A loop."""
    given: int | None
    """The given bound on this number."""
    header: str | None
    """The ipoint at its header; absent if the header has none."""
    line: int | None
    """The source line of its header."""
    observed: int
    """The largest observed number of iterations between two entries."""
    _nested: ClassVar[dict[str, str]] = {}


class TransitionRow(Record):
    """A transition from one ipoint to the next."""
    divergent: bool
    """Whether it exists only because of divergence."""
    longest: int | None
    """The longest time; absent if no warp took it."""
    longest_at: list[int] | None
    """Run, SM and warp of the first occurrence of the longest time."""
    observed: int
    """The largest number of times that a warp took it."""
    to: str
    """The ipoint at its end."""
    worst: int
    """The number of times that it is taken on the longest path."""
    _nested: ClassVar[dict[str, str]] = {}


class Waves(Record):
    """The times at which warps start."""
    block_jitter: int | None
    """The longest time from the end of a block until the last warp of the next block in its slot starts;
    absent for traces."""
    block_path: int | None
    """The longest path of a block from the start of its last warp, made of the parts that do not wait at
    barriers; absent if these are not known."""
    block_waves: int | None
    """The largest number of blocks that one CTA slot of an SM held one after the other; absent for traces."""
    delta: int
    """The longest time between consecutive starts of a wave."""
    jitter: int
    """The longest time from the start of a run until the last warp of an SM starts."""
    warps_per_wave: int
    """The largest number of warps in a wave."""
    waves: int
    """The largest number of waves; a wave is a series of starts on an SM without an end between them."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[HybridResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "HybridResult"}


_CLASSES: dict[str, type[Record]] = {"EstimateRow": EstimateRow, "HybridResult": HybridResult, "LoopRow": LoopRow, "Problem": Problem, "TransitionRow": TransitionRow, "Waves": Waves}
EstimateRow._classes = _CLASSES
HybridResult._classes = _CLASSES
LoopRow._classes = _CLASSES
TransitionRow._classes = _CLASSES
Waves._classes = _CLASSES
Report._classes = _CLASSES
