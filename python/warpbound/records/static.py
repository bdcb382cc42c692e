"""The output of `static`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Answer, Bound, BoundPart, Given, Guaranteed, Longest, MadeFrom, Problem

__all__ = ["Answer", "Any", "Bound", "BoundPart", "ClassVar", "Given", "Guaranteed", "Literal", "Longest", "MadeFrom", "Problem", "Record", "Report", "Rows", "StaticLaunch", "StaticResult"]


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


class Report(AnyReport):
    """The output of `static`."""
    results: Rows[StaticResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "StaticResult"}


_CLASSES: dict[str, type[Record]] = {"Answer": Answer, "Bound": Bound, "BoundPart": BoundPart, "Given": Given, "Guaranteed": Guaranteed, "Longest": Longest, "MadeFrom": MadeFrom, "Problem": Problem, "StaticLaunch": StaticLaunch, "StaticResult": StaticResult}
StaticLaunch._classes = _CLASSES
StaticResult._classes = _CLASSES
Report._classes = _CLASSES
