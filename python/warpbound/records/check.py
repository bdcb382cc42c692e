"""The output of `check`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows

__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]


class Answer(Record):
    """The answer for one kernel or application on one machine."""
    blockers: list[str] | None
    """The reasons why no bound is proved, for the bound that has the fewest; empty if one is proved."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    guaranteed: Guaranteed | None
    """The smallest proved bound; absent if there is none."""
    kernel: str
    """The name of the kernel or application."""
    longest: Longest | None
    """The longest run; absent if no run came to its end."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    policies: list[str]
    """The policies of the runs that the answer is about."""
    ratio: float | None
    """The bound divided by the longest run."""
    sentence: str
    """The whole answer as a sentence."""
    _nested: ClassVar[dict[str, str]] = {"guaranteed": "Guaranteed", "longest": "Longest"}


class Block(Record):
    """One of several blocks."""
    block: int
    """The index of the block in the grid, x fastest."""
    bounds: Rows[Bound]
    """The bounds that apply to single blocks."""
    makespan: int
    """Cycles from its start to its end."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound"}


class Blocker(Record):
    """A reason why no bound is proved."""
    kernels: int
    """The number of kernels."""
    reason: str
    """The reason."""
    _nested: ClassVar[dict[str, str]] = {}


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


class CheckResult(Record):
    """A run of a kernel or application under one policy, with its verdicts."""
    blocks: Rows[Block] | None
    """Each block that completed, for a launch of several."""
    bounds: Rows[Bound]
    """Every bound on the whole run."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    complete: bool
    """Whether every block was simulated to its end; if not, the report covers only the simulated part of the
    run."""
    kernel: str
    """The name of the kernel or application."""
    launch_blocks: int | None
    """The number of blocks of the launch, if not all of them were simulated."""
    launches: Rows[LaunchResult] | None
    """Every launch that completed."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    makespan: int
    """Cycles of the launch; the sum over blocks or launches that run one after the other."""
    notes: list[str] | None
    """Remarks on the result."""
    policy: str
    """The policy."""
    races: Rows[Race] | None
    """Memory races, that is, accesses whose order affects the result; if there are any, no bound is
    judged."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    replay_command: str | None
    """A command that reproduces a violation."""
    self_checked_warps: int | None
    """The number of warps on which the analyser and the simulator were compared event by event. Each of them
    ran alone."""
    steps: Rows[Step] | None
    """The `Launch` steps of a program, or the kernels of a list, that were launched, in the order of the
    file."""
    thread_instructions: int
    """Lanes that were active and not predicated off, summed over all executed instructions."""
    verdict: Literal["holds", "violated", "not-applicable", "undecided"]
    """The verdict over all gating bounds."""
    warp_instructions: int
    """Every executed instruction, including `ret`, counted once per warp that executed it."""
    warps: Rows[Warp] | None
    """Each warp, for a launch of one block."""
    _nested: ClassVar[dict[str, str]] = {"blocks": "Block", "bounds": "Bound", "launches": "LaunchResult", "races": "Race", "steps": "Step", "warps": "Warp"}


class Guaranteed(Record):
    """A proved bound with what it covers."""
    assumes: list[str] | None
    """What the bound assumes and the command did not check, as clauses."""
    bound: str
    """The name of the bound; `static` for the bound over all paths."""
    cycles: int
    """The number of cycles."""
    inputs: Literal["this-input", "these-inputs", "every-input"]
    """The inputs for which it holds."""
    parts: Rows[BoundPart] | None
    """The parts that the value consists of; absent if they are not known."""
    policy: str | None
    """The only policy for which it holds; absent if it holds for every work-conserving schedule."""
    _nested: ClassVar[dict[str, str]] = {"parts": "BoundPart"}


class LaunchResult(Record):
    """A launch."""
    block: list[int]
    """The number of threads per block along x, y and z."""
    bounds: Rows[Bound]
    """Every bound on the launch."""
    counters: dict[str, Any] | None
    """The values of the counters of the loops around the launch."""
    entry: str
    """The name of the kernel."""
    grid: list[int]
    """The number of blocks along x, y and z."""
    launch: int
    """The index of the launch in the application, from 0."""
    line: int
    """The line of its step in the file."""
    makespan: int
    """The makespan in cycles."""
    warp_instructions: int
    """Every executed instruction, counted once per warp that executed it."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound"}


class Longest(Record):
    """The longest of the runs."""
    cycles: int
    """The number of cycles."""
    policy: str
    """The policy of the run."""
    seed: int | None
    """The seed of its input, if the runs had several inputs."""
    _nested: ClassVar[dict[str, str]] = {}


class MeanPart(Record):
    """The mean share of a part of bounds."""
    part: str
    """The name of the part."""
    share: float
    """The mean of its share in the bounds."""
    _nested: ClassVar[dict[str, str]] = {}


class OfMachine(Record):
    """The answers of several kernels on one machine, combined."""
    blockers: Rows[Blocker] | None
    """The reasons why kernels have no proved bound, each with the number of kernels."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    guaranteed: int
    """The number of these that have a proved bound, under some policy of their runs at least."""
    kernels: int
    """The number of kernels and applications."""
    largest_of: str | None
    """The kernel with the largest ratio."""
    largest_ratio: float | None
    """The largest bound divided by its longest run."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    mean_ratio: float | None
    """The mean of the bounds divided by the longest runs."""
    parts: Rows[MeanPart] | None
    """The mean share of each part, over the bounds whose parts are known."""
    unproved_under: list[str] | None
    """The policies under which a kernel has no proved bound, although it has one under another."""
    with_parts: int
    """The number of bounds whose parts are known."""
    _nested: ClassVar[dict[str, str]] = {"blockers": "Blocker", "parts": "MeanPart"}


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


class Race(Record):
    """Two unordered accesses to the same bytes."""
    address: int
    """The address in this space."""
    first: RaceParty
    """The access that came first in the functional run."""
    place: str
    """The buffer or variable at this address."""
    second: RaceParty
    """The other access."""
    space: str
    """The state space, `shared` or `global`."""
    _nested: ClassVar[dict[str, str]] = {"first": "RaceParty", "second": "RaceParty"}


class RaceParty(Record):
    """One of the two accesses of a race."""
    access: str
    """The kind of access: `load`, `store`, `atomic` or `async-copy`."""
    block: int | None
    """Index of the block in launch order; null if it is not known which of the earlier blocks made the
    access."""
    line: int
    """Line in the source."""
    others: bool
    """Whether other warps made the same access."""
    warp: int
    """Index of the warp in its block."""
    _nested: ClassVar[dict[str, str]] = {}


class Step(Record):
    """The launches of one step, summed up. Times are in cycles."""
    bounds: Rows[Bound]
    """The sum of each bound. Its overestimation compares this sum with the sum of the makespans."""
    entry: str
    """The name of the kernel."""
    launches: int
    """The number of launches."""
    line: int
    """The line of the step in the file."""
    makespan: int
    """The sum of the makespans."""
    makespan_max: int
    """The longest makespan."""
    makespan_min: int
    """The shortest makespan."""
    module: str
    """The module of the kernel, or its trace."""
    verdict: Literal["holds", "violated", "not-applicable", "undecided"]
    """The verdict over all gating bounds."""
    warp_instructions: int
    """Every executed instruction, counted once per warp that executed it."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound"}


class Warp(Record):
    """A warp. Times are in cycles."""
    exec: int
    """Its time in exec phases when it runs alone, summed over sections."""
    finish: int
    """The cycle at which its last instruction completed."""
    idle: int
    """Its time in idle phases when it runs alone, summed over sections."""
    isolated: int
    """Its time when it runs alone, summed over sections."""
    warp: int
    """The index of the warp in its block."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(Record):
    """The output of `check`."""
    answers: Rows[Answer] | None
    """The answer for each kernel on each machine: the smallest proved bound beside the longest run. Runs that
    different bounds cover have an answer each."""
    by_machine: Rows[OfMachine] | None
    """The answers on each machine, combined."""
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
    results: Rows[CheckResult]
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
    _nested: ClassVar[dict[str, str]] = {"answers": "Answer", "by_machine": "OfMachine", "errors": "Problem", "results": "CheckResult"}


_CLASSES: dict[str, type[Record]] = {"Answer": Answer, "Block": Block, "Blocker": Blocker, "Bound": Bound, "BoundPart": BoundPart, "CheckResult": CheckResult, "Guaranteed": Guaranteed, "LaunchResult": LaunchResult, "Longest": Longest, "MeanPart": MeanPart, "OfMachine": OfMachine, "Problem": Problem, "Race": Race, "RaceParty": RaceParty, "Step": Step, "Warp": Warp}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
