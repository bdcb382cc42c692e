"""The output of `run`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Bound, BoundPart, LaunchResult, MadeFrom, Problem, Race, RaceParty, SourceLine, Warp

__all__ = ["Any", "BankLine", "Barrier", "Block", "Bound", "BoundOfRun", "BoundPart", "Branch", "Busy", "Cache", "ClassVar", "DivergenceReport", "Explained", "Instance", "Instead", "LaunchResult", "Literal", "Lost", "MadeFrom", "Memory", "OfKind", "OfLine", "Problem", "Race", "RaceParty", "Record", "Report", "Rows", "RunResult", "SourceLine", "Step", "Stretch", "Stretches", "SubCore", "Unit", "Warp"]


class BankLine(Record):
    """The accesses to shared memory by one source line."""
    accesses: int
    """Accesses, counted once per warp."""
    average_transactions: float
    """Transactions per access, on average."""
    line: int
    """Line in the kernel's source file."""
    source: MadeFrom | None
    """The line of CUDA C++ from which a compiler made it, if the PTX states it."""
    text: str
    """The text of the line, or of its first access."""
    transactions: int
    """Transactions that the accesses took."""
    transactions_without_conflicts: int
    """Transactions that they would have taken without conflicts."""
    worst_transactions: int
    """The most transactions of one access."""
    _nested: ClassVar[dict[str, str]] = {"source": "MadeFrom"}


class Barrier(Record):
    """A barrier on the path."""
    first_arrival_to_release: int
    """Cycles from the issue of the first arrival to the release, summed over these passes."""
    instruction: SourceLine
    """The barrier instruction."""
    releases: int
    """How often the path passes through the barrier."""
    _nested: ClassVar[dict[str, str]] = {"instruction": "SourceLine"}


class Block(Record):
    """One of several blocks."""
    block: int
    """The index of the block in the grid, x fastest."""
    bounds: Rows[Bound]
    """The bounds that apply to single blocks."""
    makespan: int
    """Cycles from its start to its end."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "Bound"}


class BoundOfRun(Record):
    """The smallest proved bound of a run."""
    cycles: int
    """The value in cycles: the sum of `parts`."""
    name: str
    """The name of the bound."""
    parts: Rows[BoundPart]
    """The parts that the value consists of."""
    _nested: ClassVar[dict[str, str]] = {"parts": "BoundPart"}


class Branch(Record):
    """A branch."""
    active_lanes: list[int]
    """Executions with 0, 1, .. 32 active lanes."""
    diverged: int
    """Executions in which the lanes diverged."""
    executions: int
    """Executions, counted once per warp."""
    line: int
    """Its line in the source."""
    not_taken_lanes: int
    """Lanes that did not take it, summed over executions."""
    pc: int
    """Its index in the program."""
    source: MadeFrom | None
    """The line of CUDA C++ from which a compiler made the branch, if the PTX states it."""
    taken_lanes: int
    """Lanes that took the branch, summed over executions."""
    text: str
    """The text of the line."""
    _nested: ClassVar[dict[str, str]] = {"source": "MadeFrom"}


class Busy(Record):
    """The use of a functional unit."""
    busy_cycles: int
    """Cycles in which an instance was initiating an instruction, summed over the instances."""
    instances: int
    """The number of its instances on all SMs."""
    instructions: int
    """Instructions that the instances executed."""
    unit: str
    """Its name in the machine."""
    _nested: ClassVar[dict[str, str]] = {}


class Cache(Record):
    """A cache, or all caches of a kind together."""
    accesses: int
    """Transactions that accessed it."""
    hits: int
    """Transactions that hit."""
    merged: int
    """Transactions that were merged with a miss in flight."""
    misses: int
    """Transactions that missed and were sent to the next level."""
    stalls: int
    """Attempts that were rejected because a resource was full."""
    write_backs: int
    """Lines written back to the next level."""
    _nested: ClassVar[dict[str, str]] = {}


class DivergenceReport(Record):
    """The divergence of a launch."""
    active_lanes: list[int]
    """Warp instructions with 0, 1, .. 32 active lanes."""
    branches: Rows[Branch]
    """The executed conditional branches and branch tables, in program order."""
    simd_efficiency: float
    """Thread instructions divided by 32 times warp instructions."""
    _nested: ClassVar[dict[str, str]] = {"branches": "Branch"}


class Explained(Record):
    """The cause of the makespan of a run."""
    barriers: Rows[Barrier] | None
    """The barriers on the path."""
    blocks: int
    """The number of blocks of the launch."""
    bound: BoundOfRun | None
    """The smallest proved bound of the run, if its parts are known."""
    issued_instead: Rows[Instead] | None
    """The instructions that were issued while an instruction on the path was ready, the most frequent first.
    Their cycles are those of the kind `issue-slot`."""
    kernel: str
    """The name of the kernel."""
    kernel_digest: str
    """The digest of its code, in hexadecimal; runs with the same digest can be compared line by line."""
    kinds: Rows[OfKind]
    """The path by kind, the longest first."""
    lines: Rows[OfLine]
    """The path by kind and instruction, the longest first."""
    machine: str
    """The machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    makespan: int
    """The makespan of the launch in cycles: the sum of `kinds`, and the sum of `lines`."""
    path: Stretches | None
    """The path link by link, if it was requested."""
    policy: str
    """The policy."""
    seed: int
    """The seed of buffer contents."""
    sm: int
    """The SM of the path, which is the SM that ends last."""
    sms: int
    """The number of SMs of the machine."""
    stalls: dict[str, int]
    """Idle issue slots of all sub-cores of all SMs, by reason."""
    threads: int
    """The number of threads per block."""
    units: Rows[Busy]
    """Each functional unit that executed an instruction."""
    _nested: ClassVar[dict[str, str]] = {"barriers": "Barrier", "bound": "BoundOfRun", "issued_instead": "Instead", "kinds": "OfKind", "lines": "OfLine", "path": "Stretches", "units": "Busy"}


class Instance(Record):
    """An instruction that a warp executed."""
    block: int
    """The index of the block."""
    index: int
    """The index in the path of the warp."""
    line: int
    """The line in the source."""
    source: MadeFrom | None
    """The line of CUDA C++ from which a compiler made the instruction, if the PTX states it."""
    text: str
    """The text of the line."""
    warp: int
    """The index of the warp in its block."""
    _nested: ClassVar[dict[str, str]] = {"source": "MadeFrom"}


class Instead(Record):
    """The cycles in which an instruction was issued while an instruction on the path was ready."""
    cycles: int
    """The number of cycles."""
    instruction: SourceLine
    """The instruction that was issued."""
    _nested: ClassVar[dict[str, str]] = {"instruction": "SourceLine"}


class Lost(Record):
    """Idle issue slots with the same cause."""
    cycles: int
    """The number of slots, in cycles."""
    producer: SourceLine | None
    """The instruction whose result it waited for."""
    reason: str
    """The reason for the stall."""
    share: float
    """Their share of all issue slots."""
    waiting: SourceLine | None
    """The instruction that could not issue."""
    _nested: ClassVar[dict[str, str]] = {"producer": "SourceLine", "waiting": "SourceLine"}


class Memory(Record):
    """Counts of memory transactions and DRAM commands."""
    constant: Cache
    """The constant caches."""
    dram_activations: int
    """DRAM rows that were activated."""
    dram_reads: int
    """DRAM column reads."""
    dram_writes: int
    """DRAM column writes."""
    l1: Cache
    """The first-level data caches."""
    l2: Cache
    """The slices of the second-level cache."""
    _nested: ClassVar[dict[str, str]] = {"constant": "Cache", "l1": "Cache", "l2": "Cache"}


class OfKind(Record):
    """The cycles of one kind."""
    cycles: int
    """The number of cycles."""
    kind: Literal["latency", "memory", "initiation", "unit-busy", "issue", "issue-slot", "turn", "barrier", "dispatch", "unit-full", "held", "fetch", "launch"]
    """The kind."""
    links: int
    """The number of links of the path with these cycles."""
    share: float
    """Their share of the makespan."""
    _nested: ClassVar[dict[str, str]] = {}


class OfLine(Record):
    """The cycles of one kind that an instruction caused."""
    cycles: int
    """The number of cycles."""
    instruction: SourceLine | None
    """The instruction that caused them; absent for the placement of blocks."""
    kind: Literal["latency", "memory", "initiation", "unit-busy", "issue", "issue-slot", "turn", "barrier", "dispatch", "unit-full", "held", "fetch", "launch"]
    """The kind."""
    links: int
    """The number of links of the path with these cycles."""
    share: float
    """Their share of the makespan."""
    unit: str | None
    """The functional unit of the instruction, if the cycles are those of its unit."""
    _nested: ClassVar[dict[str, str]] = {"instruction": "SourceLine"}


class RunResult(Record):
    """A run of a kernel or program under one policy, judged and explained."""
    analysis_seconds: float | None
    """The time of the analysis of blocks for the bounds."""
    bank_conflicts: Rows[BankLine] | None
    """Bank conflicts in shared memory by source line."""
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
    divergence: DivergenceReport | None
    """The divergence of branches."""
    exec_seconds: float | None
    """The time of the functional run."""
    explanation: Explained | None
    """The critical path, with `--explain`."""
    issue_utilisation: float
    """Issues divided by issue slots; there are as many issue slots as cycles of the makespan, on each
    sub-core."""
    issues: int
    """Instructions that took an issue slot."""
    kernel: str
    """The name of the kernel or application."""
    launch_blocks: int | None
    """The number of blocks of the launch, if not all of them were simulated."""
    launches: Rows[LaunchResult] | None
    """Every launch that completed."""
    lost_cycles: Rows[Lost] | None
    """Idle issue slots by cause, the most costly first."""
    machine: str
    """The name of the machine."""
    machine_digest: str
    """The digest of all machine settings, in hexadecimal."""
    makespan: int
    """Cycles of the launch; the sum over blocks or launches that run one after the other."""
    memory: Memory | None
    """Counts of memory transactions and DRAM commands, on machines with a memory system."""
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
    seconds: float | None
    """The total time."""
    self_checked_warps: int | None
    """The number of warps on which the analyser and the simulator were compared event by event. Each of them
    ran alone."""
    sim_seconds: float | None
    """The time of the simulation."""
    sms: int
    """The number of SMs of the machine."""
    stalls: dict[str, int]
    """Idle issue slots by reason. Together with the slots that issued, they add up to the makespan times the
    number of sub-cores of all SMs."""
    steps: Rows[Step] | None
    """The `Launch` steps of a program, or the kernels of a list, that were launched, in the order of the
    file."""
    sub_cores: Rows[SubCore] | None
    """Each sub-core, SM by SM, if there are several."""
    thread_instructions: int
    """Lanes that were active and not predicated off, summed over all executed instructions."""
    units: Rows[Unit] | None
    """Each functional unit that executed an instruction."""
    verdict: Literal["holds", "violated", "not-applicable", "undecided"]
    """The verdict over all gating bounds."""
    warp_instructions: int
    """Every executed instruction, including `ret`, counted once per warp that executed it."""
    warps: Rows[Warp] | None
    """Each warp, for a launch of one block."""
    _nested: ClassVar[dict[str, str]] = {"bank_conflicts": "BankLine", "blocks": "Block", "bounds": "Bound", "divergence": "DivergenceReport", "explanation": "Explained", "launches": "LaunchResult", "lost_cycles": "Lost", "memory": "Memory", "races": "Race", "steps": "Step", "sub_cores": "SubCore", "units": "Unit", "warps": "Warp"}


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


class Stretch(Record):
    """One or more consecutive links of the path, of one kind and warp."""
    kind: Literal["latency", "memory", "initiation", "unit-busy", "issue", "issue-slot", "turn", "barrier", "dispatch", "unit-full", "held", "fetch", "launch"]
    """The kind."""
    links: int
    """The number of links."""
    of: Instance | None
    """The instruction that caused the cycles, or the first of several; absent for the placement of blocks."""
    to: int
    """The cycle after the last."""
    until: Instance | None
    """The last instruction, if there are several."""
    waiting: Instance | None
    """The instruction that was delayed, if it is not the one that caused the cycles; absent at the end of a
    block."""
    _nested: ClassVar[dict[str, str]] = {"of": "Instance", "until": "Instance", "waiting": "Instance"}


class Stretches(Record):
    """The path, with similar consecutive links combined into stretches."""
    more_links: int
    """The number of links after these stretches, which are only included in the sums."""
    stretches: Rows[Stretch]
    """The stretches in the order of time, without gaps, from cycle 0."""
    _nested: ClassVar[dict[str, str]] = {"stretches": "Stretch"}


class SubCore(Record):
    """One of several sub-cores."""
    issue_utilisation: float
    """Its issues divided by the makespan."""
    issues: int
    """Instructions that it issued."""
    stalls: dict[str, int]
    """Its idle issue slots by reason. Together with the slots that issued, they add up to the makespan."""
    sub_core: int
    """Its number; the sub-cores of an SM have consecutive numbers."""
    _nested: ClassVar[dict[str, str]] = {}


class Unit(Record):
    """A functional unit."""
    busy_cycles: int
    """Cycles in which an instance was initiating an instruction, summed over the instances."""
    instances: int
    """The number of its instances on all SMs."""
    instructions: int
    """Instructions that the instances executed."""
    unit: str
    """Its name in the machine."""
    utilisation: float
    """Busy cycles divided by the makespan times the number of instances."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[RunResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "RunResult"}


_CLASSES: dict[str, type[Record]] = {"BankLine": BankLine, "Barrier": Barrier, "Block": Block, "Bound": Bound, "BoundOfRun": BoundOfRun, "BoundPart": BoundPart, "Branch": Branch, "Busy": Busy, "Cache": Cache, "DivergenceReport": DivergenceReport, "Explained": Explained, "Instance": Instance, "Instead": Instead, "LaunchResult": LaunchResult, "Lost": Lost, "MadeFrom": MadeFrom, "Memory": Memory, "OfKind": OfKind, "OfLine": OfLine, "Problem": Problem, "Race": Race, "RaceParty": RaceParty, "RunResult": RunResult, "SourceLine": SourceLine, "Step": Step, "Stretch": Stretch, "Stretches": Stretches, "SubCore": SubCore, "Unit": Unit, "Warp": Warp}
BankLine._classes = _CLASSES
Barrier._classes = _CLASSES
Block._classes = _CLASSES
BoundOfRun._classes = _CLASSES
Branch._classes = _CLASSES
Busy._classes = _CLASSES
Cache._classes = _CLASSES
DivergenceReport._classes = _CLASSES
Explained._classes = _CLASSES
Instance._classes = _CLASSES
Instead._classes = _CLASSES
Lost._classes = _CLASSES
Memory._classes = _CLASSES
OfKind._classes = _CLASSES
OfLine._classes = _CLASSES
RunResult._classes = _CLASSES
Step._classes = _CLASSES
Stretch._classes = _CLASSES
Stretches._classes = _CLASSES
SubCore._classes = _CLASSES
Unit._classes = _CLASSES
Report._classes = _CLASSES
