"""The output of `explore`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows

__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]


class Bound(Record):
    """A bound and its verdict."""
    gates: bool | None
    """Whether the bound decides the exit code; absent if it does."""
    name: str
    """The name of the bound."""
    overestimation: float | None
    """(bound - makespan) / makespan."""
    parts: Rows[BoundPart] | None
    """The parts that the value consists of; absent if they are not known."""
    reason: str | None
    """Why the bound has no value or no verdict. Only the bounds on the whole run state the reason."""
    status: Literal["holds", "violated", "not-applicable", "undecided"]
    """The verdict."""
    value: int | None
    """The value in cycles; absent if the bound does not apply."""
    _nested: ClassVar[dict[str, str]] = {"parts": "BoundPart"}


class BoundPart(Record):
    """A part of a bound."""
    cycles: int
    """The number of cycles."""
    part: str
    """What the cycles are counted for: `alone` (the time that the warps which decide the bound take alone),
    `units` (initiations in functional units; beside `alone`, those of other warps), `slots` (issue slots of
    other warps), `exec-phases` (of other warps), `sub-cores` (changes of the sub-core), `latency` (latencies
    of the longest path of each block; beside `alone`, those of the blocks that were on the SM before),
    `last-blocks` (the initiations of the blocks that an SM receives last), `launch` (costs of launching),
    `load-store` (transactions), `memory` (crossbar and slices), `dram`, `misses` (waits until a cache can
    track another fetch), `operands` (reads of the operand collector), `results` (results that leave
    together), `fetch`, or `instruction-cache` (cold misses)."""
    unit: str | None
    """The unit of the initiations, if they are listed by unit."""
    _nested: ClassVar[dict[str, str]] = {}


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
    results: Rows[ExploreResult]
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
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "ExploreResult"}


_CLASSES: dict[str, type[Record]] = {"Bound": Bound, "BoundPart": BoundPart, "Choices": Choices, "Decision": Decision, "ExploreResult": ExploreResult, "Latencies": Latencies, "OneChoice": OneChoice, "PolicyRun": PolicyRun, "Problem": Problem, "Schedules": Schedules, "VariedUnit": VariedUnit}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
