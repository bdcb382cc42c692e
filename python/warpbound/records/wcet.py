"""The output of `wcet`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Answer, BoundPart, Given, Guaranteed, Longest, MadeFrom, Problem

__all__ = ["Answer", "Any", "BoundPart", "ClassVar", "Given", "Guaranteed", "Literal", "Longest", "MadeFrom", "MethodRow", "Problem", "Record", "Report", "Rows", "WcetLaunch", "WcetResult"]


class MethodRow(Record):
    """The value of a method."""
    about: Literal["runs", "paths", "paths-unproved", "paths-under-policy", "estimate", "all"]
    """What the value holds for."""
    name: str
    """The name: `simulated`; the name of a bound on the paths of the runs; `z_warp`, `z_dynamic`, `z_hybrid`,
    `hybrid_blocks`, `hybrid_sections`; `explored`; or `static`."""
    note: str | None
    """A remark: the policy, or why there is no value."""
    overestimation: float | None
    """(value - longest simulated time) / longest simulated time."""
    policy: str | None
    """The only policy that the value holds for, if there is one."""
    seed: int | None
    """The seed of the input from which the value results, if it is a single one."""
    undershoots: bool
    """Whether the value is known to be too small, because a run, or a schedule of the paths of a run, takes
    longer."""
    value: int | None
    """The value; absent if there is none."""
    _nested: ClassVar[dict[str, str]] = {}


class WcetLaunch(Record):
    """A launch of a program. Times are in cycles."""
    entry: str
    """The name of the kernel."""
    launch: int
    """The index of the launch in the program, from 0."""
    line: int
    """The line of its step in the file."""
    simulated: int
    """The longest simulated time."""
    static: int | None
    """The bound over all paths; absent if there is none."""
    _nested: ClassVar[dict[str, str]] = {}


class WcetResult(Record):
    """A kernel. Times are in cycles."""
    answer: Answer | None
    """The smallest proved bound beside the longest run."""
    blocks: int
    """The number of blocks of all launches."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    kernel: str
    """The name of the kernel or program."""
    launches: Rows[WcetLaunch] | None
    """Every launch of a program; absent for a single launch."""
    loop_bounds: Rows[Given] | None
    """The given loop bounds."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    methods: Rows[MethodRow]
    """The value of each method; the first is the longest simulated time."""
    policies: list[str]
    """The policies under which each input was simulated."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    runs: int
    """The number of inputs; consecutive inputs have consecutive seeds."""
    shortest: int
    """The shortest of all simulated times."""
    _nested: ClassVar[dict[str, str]] = {"answer": "Answer", "launches": "WcetLaunch", "loop_bounds": "Given", "methods": "MethodRow"}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[WcetResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "WcetResult"}


_CLASSES: dict[str, type[Record]] = {"Answer": Answer, "BoundPart": BoundPart, "Given": Given, "Guaranteed": Guaranteed, "Longest": Longest, "MadeFrom": MadeFrom, "MethodRow": MethodRow, "Problem": Problem, "WcetLaunch": WcetLaunch, "WcetResult": WcetResult}
MethodRow._classes = _CLASSES
WcetLaunch._classes = _CLASSES
WcetResult._classes = _CLASSES
Report._classes = _CLASSES
