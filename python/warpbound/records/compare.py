"""The output of `compare`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Cause, MadeFrom, Problem, SourceLine

__all__ = ["Any", "Cause", "ClassVar", "CompareResult", "CompareStep", "Compared", "FastestResult", "Lead", "Literal", "MadeFrom", "Makespan", "PointOfSetting", "Problem", "Range", "Record", "Report", "Rows", "SourceLine", "Tightest", "Value"]


class CompareResult(Record):
    """A kernel, or a program with its launches summed up. Times are in cycles."""
    blocks: int
    """The number of blocks; for a program, the number of launches."""
    bounds: Rows[Value]
    """Every bound."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    explored_reason: str | None
    """Why nothing is known of this worst case."""
    explored_worst: int | None
    """The worst case over all work-conserving schedules, if it is known."""
    explored_worst_at_least: int | None
    """A lower bound of this worst case, if it is not known exactly."""
    kernel: str
    """The name of the kernel or program."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    makespans: Rows[Makespan]
    """The makespans under the compared policies."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    steps: Rows[CompareStep] | None
    """The statements of an application, each with the sums over its launches."""
    tightest_by_policy: Rows[Tightest] | None
    """If no proved bound holds under all compared policies, the one with the smallest value for each policy
    that has one."""
    tightest_proved: str | None
    """The proved bound with the smallest value, among those that hold under all compared policies."""
    warp_instructions: int
    """Every executed instruction, counted once per warp that executed it."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Value", "makespans": "Makespan", "steps": "CompareStep", "tightest_by_policy": "Tightest"}


class CompareStep(Record):
    """The launches of one statement of an application, summed up. Times are in cycles."""
    bounds: Rows[Value]
    """Every bound."""
    entry: str
    """The name of the kernel."""
    explored_worst: int | None
    """The worst case over all work-conserving schedules, if it is known."""
    explored_worst_at_least: int | None
    """A lower bound of this worst case, if it is not known exactly."""
    launches: int
    """The number of launches."""
    line: int
    """The line of the statement in the file."""
    makespans: Rows[Makespan]
    """The makespans under the compared policies."""
    warp_instructions: int
    """Every executed instruction, counted once per warp that executed it."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Value", "makespans": "Makespan"}


class Compared(Record):
    """A result of `compare`, without or with `--over`."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    kernel: str
    """The name of the kernel or program."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    points: Rows[PointOfSetting] | None
    """The makespans at each value, in the order of the values."""
    ranges: Rows[Range] | None
    """The ranges of consecutive values with the same fastest policies."""
    setting: str | None
    """The setting, as `--over` names it."""
    blocks: int | None
    """The number of blocks; for a program, the number of launches."""
    bounds: Rows[Value] | None
    """Every bound."""
    explored_reason: str | None
    """Why nothing is known of this worst case."""
    explored_worst: int | None
    """The worst case over all work-conserving schedules, if it is known."""
    explored_worst_at_least: int | None
    """A lower bound of this worst case, if it is not known exactly."""
    makespans: Rows[Makespan] | None
    """The makespans under the compared policies."""
    races_not_looked_for: str | None
    """Why the run did not look for races; absent if it did. If it did not, the report holds only for the
    paths of one order of accesses."""
    steps: Rows[CompareStep] | None
    """The statements of an application, each with the sums over its launches."""
    tightest_by_policy: Rows[Tightest] | None
    """If no proved bound holds under all compared policies, the one with the smallest value for each policy
    that has one."""
    tightest_proved: str | None
    """The proved bound with the smallest value, among those that hold under all compared policies."""
    warp_instructions: int | None
    """Every executed instruction, counted once per warp that executed it."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Value", "makespans": "Makespan", "points": "PointOfSetting", "ranges": "Range", "steps": "CompareStep", "tightest_by_policy": "Tightest"}


class FastestResult(Record):
    """A kernel under several policies, for several values of a setting."""
    clock_khz: int | None
    """The frequency of the SMs' clock in kHz, by which cycles become times: cycles * 1000 / this is a time in
    microseconds. Absent if the machine states none."""
    kernel: str
    """The name of the kernel or program."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    points: Rows[PointOfSetting]
    """The makespans at each value, in the order of the values."""
    ranges: Rows[Range]
    """The ranges of consecutive values with the same fastest policies."""
    setting: str
    """The setting, as `--over` names it."""
    _nested: ClassVar[dict[str, str]] = {"points": "PointOfSetting", "ranges": "Range"}


class Lead(Record):
    """The lead of the fastest policy over the next one."""
    causes: Rows[Cause] | None
    """The largest causes of the difference; empty for a program, whose runs have no single critical path."""
    command: str | None
    """The command that states them in full."""
    cycles: int
    """Its makespan minus the smallest one, in cycles."""
    next: str
    """The policy that is next."""
    share: float
    """This difference over the smallest makespan."""
    spent_less: int | None
    """The cycles that the slower policy spends less elsewhere."""
    value: str
    """The value of the setting."""
    _nested: ClassVar[dict[str, str]] = {"causes": "Cause"}


class Makespan(Record):
    """A makespan under a policy."""
    makespan: int
    """The makespan in cycles."""
    policy: str
    """The policy."""
    _nested: ClassVar[dict[str, str]] = {}


class PointOfSetting(Record):
    """The makespans at a value of the setting."""
    fastest: list[str]
    """The policies with the smallest makespan."""
    makespans: Rows[Makespan]
    """The makespan under each policy, in cycles."""
    value: str
    """The value."""
    _nested: ClassVar[dict[str, str]] = {"makespans": "Makespan"}


class Range(Record):
    """Consecutive values of the setting with the same fastest policies."""
    fastest: list[str]
    """The policies with the smallest makespan."""
    first: str
    """The first value."""
    last: str
    """The last value."""
    lead: Lead | None
    """Where the fastest policy leads most; absent if all policies take the same time."""
    _nested: ClassVar[dict[str, str]] = {"lead": "Lead"}


class Tightest(Record):
    """The tightest bound under some policies."""
    bound: str
    """The name of the bound."""
    policies: list[str]
    """The policies."""
    _nested: ClassVar[dict[str, str]] = {}


class Value(Record):
    """The value of a bound."""
    name: str
    """The name of the bound."""
    reason: str | None
    """Why the bound does not apply. If it does not apply under several of the compared policies, this is the
    reason under the first of them. For an application, only the totals state the reason."""
    value: int | None
    """The value in cycles, if the bound applies."""
    violated: bool | None
    """Whether a run under a compared policy, within the premises of the bound, took longer."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[Compared]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "Compared"}


_CLASSES: dict[str, type[Record]] = {"Cause": Cause, "CompareResult": CompareResult, "CompareStep": CompareStep, "Compared": Compared, "FastestResult": FastestResult, "Lead": Lead, "MadeFrom": MadeFrom, "Makespan": Makespan, "PointOfSetting": PointOfSetting, "Problem": Problem, "Range": Range, "SourceLine": SourceLine, "Tightest": Tightest, "Value": Value}
CompareResult._classes = _CLASSES
CompareStep._classes = _CLASSES
Compared._classes = _CLASSES
FastestResult._classes = _CLASSES
Lead._classes = _CLASSES
Makespan._classes = _CLASSES
PointOfSetting._classes = _CLASSES
Range._classes = _CLASSES
Tightest._classes = _CLASSES
Value._classes = _CLASSES
Report._classes = _CLASSES
