"""The output of `static`. Generated from its JSON Schema."""

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


class StaticLaunch(Record):
    """A launch of a program. Times are in cycles."""
    block: list[int]
    """The number of threads per block along x, y and z."""
    bounds: Rows[Bound]
    """The bound `static`, then the bounds on the paths of this run."""
    counters: dict[str, Any] | None
    """The values of the counters of the loops around the launch."""
    entry: str
    """The name of the kernel."""
    grid: list[int]
    """The number of blocks along x, y and z."""
    launch: int
    """The index of the launch in the program, from 0."""
    line: int
    """The line of its step in the file."""
    loop_bounds: Rows[Given] | None
    """The loop bounds that apply to the launch."""
    makespan: int
    """The makespan with the data of the seed."""
    of_paths: str | None
    """The bound on the paths of one run that `static` extends to all paths."""
    warps: int | None
    """The number of warps of all blocks; absent if there is no bound."""
    warps_with_one_path: int | None
    """The number of these warps that take the same path for any data."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound", "loop_bounds": "Given"}


class StaticResult(Record):
    """A launch, or a program of several launches. Times are in cycles."""
    answer: Answer
    """The answer: the bound over all paths beside the run, or why there is none."""
    barriers_vary: bool
    """Whether the number of barriers depends on the path. If it does, all sections get the same bound."""
    blocks: int
    """The number of blocks of all launches."""
    bounds: Rows[Bound]
    """The bound `static`, which holds for all paths, then the bounds on the paths of this run."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    kernel: str
    """The name of the kernel or program."""
    launches: Rows[StaticLaunch] | None
    """Every launch of a program; absent for a single launch."""
    loop_bounds: Rows[Given] | None
    """The given loop bounds."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    makespan: int
    """The makespan of the launch or program with the data of the seed."""
    of_paths: str | None
    """The bound on the paths of one run that `static` extends to all paths: `iwb`, `rbb` if blocks are
    resident together, or `plb` on a machine with a pipeline; absent if the launches of a program extend
    different ones."""
    policy: str
    """The policy of the run."""
    warps: int | None
    """The number of warps of all blocks; absent if there is no bound."""
    warps_with_one_path: int | None
    """The number of these warps that take the same path for any data."""
    _nested: ClassVar[dict[str, str]] = {"answer": "Answer", "bounds": "Bound", "launches": "StaticLaunch", "loop_bounds": "Given"}


class Report(Record):
    """The output of `static`."""
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
    results: Rows[StaticResult]
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
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "StaticResult"}


_CLASSES: dict[str, type[Record]] = {"Answer": Answer, "Bound": Bound, "BoundPart": BoundPart, "Given": Given, "Guaranteed": Guaranteed, "Longest": Longest, "MadeFrom": MadeFrom, "Problem": Problem, "StaticLaunch": StaticLaunch, "StaticResult": StaticResult}
Report._classes = _CLASSES
for _class in _CLASSES.values():
    _class._classes = _CLASSES
