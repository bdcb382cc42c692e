"""What the outputs of several commands have. Generated from their JSON Schemas."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows


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


class Given(Record):
    """A bound on the iterations of a loop."""
    entry: str | None
    """The kernel of the loop, for a program with several launches."""
    launches: list[int] | None
    """The first and the last launch that the bound is for, if it is not for all launches."""
    line: int
    """The line at which the loop begins."""
    most: int
    """The greatest number of times that a thread returns to the beginning of the loop after it has entered it
    from outside."""
    source: MadeFrom | None
    """The line of CUDA C++ from which a compiler made that line, if the PTX states it."""
    _nested: ClassVar[dict[str, str]] = {"source": "MadeFrom"}


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


class AnyReport(Record):
    """What the reports of all commands have."""
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
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem"}


_CLASSES: dict[str, type[Record]] = {"Answer": Answer, "Bound": Bound, "BoundPart": BoundPart, "Cause": Cause, "Given": Given, "Guaranteed": Guaranteed, "LaunchResult": LaunchResult, "Longest": Longest, "MadeFrom": MadeFrom, "Problem": Problem, "Race": Race, "RaceParty": RaceParty, "Side": Side, "SourceLine": SourceLine, "Warp": Warp}
Answer._classes = _CLASSES
Bound._classes = _CLASSES
BoundPart._classes = _CLASSES
Cause._classes = _CLASSES
Given._classes = _CLASSES
Guaranteed._classes = _CLASSES
LaunchResult._classes = _CLASSES
Longest._classes = _CLASSES
MadeFrom._classes = _CLASSES
Problem._classes = _CLASSES
Race._classes = _CLASSES
RaceParty._classes = _CLASSES
Side._classes = _CLASSES
SourceLine._classes = _CLASSES
Warp._classes = _CLASSES
AnyReport._classes = _CLASSES
