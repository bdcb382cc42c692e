"""The output of `explore`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Bound, BoundPart, Problem

__all__ = ["Any", "Bound", "BoundPart", "Choices", "ClassVar", "Decision", "ExploreResult", "Latencies", "Literal", "OneChoice", "PolicyRun", "Problem", "Record", "Report", "Rows", "Schedules", "VariedUnit"]


class Choices(Record):
    """The result over all choices of the arbiters of a launch. Times are in cycles."""
    best: int | None
    """The shortest makespan, if it is known."""
    best_at_most: int
    """An upper bound of the shortest makespan: some run takes this time."""
    best_witness: Rows[OneChoice]
    """The choices of the shortest run that the search found."""
    blocks: int
    """The number of blocks."""
    bounds: Rows[Bound]
    """The verdicts on the bounds, over all choices."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    combinations: int
    """The number of combinations of choices in a cycle that were followed."""
    complete: bool
    """Whether every choice was followed to the end of the launch."""
    kernel: str
    """The name of the kernel."""
    key_bytes: int
    """The size of the keys of all states in bytes."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    policies: Rows[PolicyRun]
    """The launch under policies, with the rules of all other arbiters."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    resident_blocks: int
    """The largest number of blocks that an SM holds at a time."""
    states: int
    """The number of states in which some arbiter has a choice."""
    stopped: Literal["interrupt", "terminated", "time-limit", "max-states", "memory"] | None
    """Why the search was stopped early, if it was."""
    witness: Rows[OneChoice]
    """The choices of the longest run that the search found."""
    worst: int | None
    """The longest makespan, if it is known."""
    worst_at_least: int
    """A lower bound of the longest makespan: some run takes this long."""
    _nested: ClassVar[dict[str, str]] = {"best_witness": "OneChoice", "bounds": "Bound", "policies": "PolicyRun", "witness": "OneChoice"}


class Decision(Record):
    """An issue."""
    lat: int | None
    """The latency of the instruction, if its unit's latency varies."""
    warp: int
    """The index of the warp that issued."""
    _nested: ClassVar[dict[str, str]] = {}


class ExploreResult(Record):
    """The output of `explore`."""
    all_longest: int | None
    """The makespan with every varied latency at its longest."""
    best: int | None
    """The shortest makespan, if it is known."""
    best_witness: list[int]
    """The index of the warp at each issue of a shortest schedule."""
    block: int | None
    """The index of the block in the grid."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    complete: bool
    """Whether every schedule was followed to its end."""
    kernel: str
    """The name of the kernel."""
    launch_blocks: int | None
    """The number of blocks of the launch."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    policy: str | None
    """The policy."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    states: int
    """The number of states visited."""
    stopped: Literal["interrupt", "terminated", "time-limit", "max-states", "memory"] | None
    """Why the search was stopped early, if it was."""
    varied: Rows[VariedUnit] | None
    """The units whose latencies vary."""
    witness: list[int]
    """The index of the warp at each issue of a longest schedule."""
    worst: int | None
    """The longest makespan, if it is known."""
    explored: str
    """Which alternative it is."""
    best_at_most: int | None
    """An upper bound of the shortest makespan: some schedule takes this time."""
    blocks: int | None
    """The number of blocks."""
    bounds: Rows[Bound] | None
    """The verdicts on the bounds, over all schedules."""
    combinations: int | None
    """The number of combinations of choices in a cycle that were followed."""
    key_bytes: int | None
    """The size of the keys of all states in bytes."""
    policies: Rows[PolicyRun] | None
    """The launch under policies, with the rules of all other arbiters."""
    resident_blocks: int | None
    """The largest number of blocks that an SM holds at a time."""
    worst_at_least: int | None
    """A lower bound of the longest makespan: some schedule takes this long."""
    best_at_least: int | None
    """A lower bound of the shortest makespan: no schedule takes less."""
    followed_issues: int | None
    """The number of issues up to which every schedule was followed."""
    worst_at_most: int | None
    """An upper bound of the longest makespan: no schedule takes longer."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound", "policies": "PolicyRun", "varied": "VariedUnit"}


class Latencies(Record):
    """The result over all latencies in intervals, under one policy. Times are in cycles."""
    all_longest: int
    """The makespan with every varied latency at its longest."""
    best: int | None
    """The shortest makespan, if it is known."""
    best_witness: Rows[Decision]
    """A shortest run, issue by issue."""
    block: int
    """The index of the block in the grid."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    complete: bool
    """Whether all latencies were followed to their end."""
    kernel: str
    """The name of the kernel."""
    launch_blocks: int
    """The number of blocks of the launch."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    policy: str
    """The policy."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    states: int
    """The number of states visited."""
    stopped: Literal["interrupt", "terminated", "time-limit", "max-states", "memory"] | None
    """Why the search was stopped early, if it was."""
    varied: Rows[VariedUnit]
    """The units whose latencies vary."""
    witness: Rows[Decision]
    """A longest run, issue by issue."""
    worst: int | None
    """The longest makespan, if it is known."""
    _nested: ClassVar[dict[str, str]] = {"best_witness": "Decision", "varied": "VariedUnit", "witness": "Decision"}


class OneChoice(Record):
    """A choice of an arbiter that had several candidates."""
    arbiter: str
    """The arbiter."""
    by_rule: int
    """The index of the candidate that the rule of the arbiter serves."""
    candidates: int
    """The number of candidates."""
    cycle: int
    """The cycle."""
    served: int
    """The index of the candidate that was served."""
    _nested: ClassVar[dict[str, str]] = {}


class PolicyRun(Record):
    """A launch under a policy."""
    makespan: int
    """The makespan in cycles."""
    policy: str
    """The policy."""
    _nested: ClassVar[dict[str, str]] = {}


class Schedules(Record):
    """The result over all work-conserving schedules. Times are in cycles."""
    best: int | None
    """The shortest makespan, if it is known."""
    best_at_least: int
    """A lower bound of the shortest makespan: no schedule takes less."""
    best_at_most: int
    """An upper bound of the shortest makespan: some schedule takes this time."""
    best_witness: list[int]
    """The index of the warp at each issue of a shortest schedule."""
    block: int
    """The index of the block in the grid."""
    bounds: Rows[Bound]
    """The verdicts on the bounds, over all schedules."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    complete: bool
    """Whether every schedule was followed to its end."""
    followed_issues: int
    """The number of issues up to which every schedule was followed."""
    kernel: str
    """The name of the kernel."""
    launch_blocks: int
    """The number of blocks of the launch."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    states: int
    """The number of states visited."""
    stopped: Literal["interrupt", "terminated", "time-limit", "max-states", "memory"] | None
    """Why the search was stopped early, if it was."""
    witness: list[int]
    """The index of the warp at each issue of a longest schedule."""
    worst: int | None
    """The longest makespan, if it is known."""
    worst_at_least: int
    """A lower bound of the longest makespan: some schedule takes this long."""
    worst_at_most: int
    """An upper bound of the longest makespan: no schedule takes longer."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound"}


class VariedUnit(Record):
    """A unit whose latency varies in an interval."""
    lat_from: int
    """The shortest latency."""
    lat_to: int
    """The longest latency."""
    unit: str
    """Its name in the machine."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[ExploreResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "ExploreResult"}


_CLASSES: dict[str, type[Record]] = {"Bound": Bound, "BoundPart": BoundPart, "Choices": Choices, "Decision": Decision, "ExploreResult": ExploreResult, "Latencies": Latencies, "OneChoice": OneChoice, "PolicyRun": PolicyRun, "Problem": Problem, "Schedules": Schedules, "VariedUnit": VariedUnit}
Choices._classes = _CLASSES
Decision._classes = _CLASSES
ExploreResult._classes = _CLASSES
Latencies._classes = _CLASSES
OneChoice._classes = _CLASSES
PolicyRun._classes = _CLASSES
Schedules._classes = _CLASSES
VariedUnit._classes = _CLASSES
Report._classes = _CLASSES
