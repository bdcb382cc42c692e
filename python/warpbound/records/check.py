"""The output of `check`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Answer, Bound, BoundPart, Guaranteed, LaunchResult, Longest, Problem, Race, RaceParty, Warp

__all__ = ["Answer", "Any", "Block", "Blocker", "Bound", "BoundPart", "CheckResult", "ClassVar", "Guaranteed", "LaunchResult", "Literal", "Longest", "MeanPart", "OfMachine", "Problem", "Race", "RaceParty", "Record", "Report", "Rows", "Step", "Warp"]


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


class Report(AnyReport):
    """The output of `check`."""
    answers: Rows[Answer] | None
    """The answer for each kernel on each machine: the smallest proved bound beside the longest run. Runs that
    different bounds cover have an answer each."""
    by_machine: Rows[OfMachine] | None
    """The answers on each machine, combined."""
    results: Rows[CheckResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"answers": "Answer", "by_machine": "OfMachine", "errors": "Problem", "results": "CheckResult"}


_CLASSES: dict[str, type[Record]] = {"Answer": Answer, "Block": Block, "Blocker": Blocker, "Bound": Bound, "BoundPart": BoundPart, "CheckResult": CheckResult, "Guaranteed": Guaranteed, "LaunchResult": LaunchResult, "Longest": Longest, "MeanPart": MeanPart, "OfMachine": OfMachine, "Problem": Problem, "Race": Race, "RaceParty": RaceParty, "Step": Step, "Warp": Warp}
Block._classes = _CLASSES
Blocker._classes = _CLASSES
CheckResult._classes = _CLASSES
MeanPart._classes = _CLASSES
OfMachine._classes = _CLASSES
Step._classes = _CLASSES
Report._classes = _CLASSES
