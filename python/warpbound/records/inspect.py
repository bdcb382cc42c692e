"""The output of `inspect`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Problem

__all__ = ["Any", "Buffer", "ClassCount", "ClassUse", "ClassVar", "CubinFile", "Entry", "Function", "IdleSetting", "InspectResult", "Instruction", "Kernel", "LaunchFile", "Literal", "Loop", "MachineFile", "MicroFile", "OpClass", "OpcodeCount", "OpcodeUse", "Parameter", "Parameter2", "Problem", "ProgramFile", "PtxFile", "Record", "Report", "Rows", "Step", "TraceFile", "TraceList", "UnitTiming", "Unsupported", "Unsupported2"]


class Buffer(Record):
    """A buffer in device memory."""
    bytes: int
    """Its size."""
    name: str
    """The name of the buffer."""
    _nested: ClassVar[dict[str, str]] = {}


class ClassCount(Record):
    """The number of instructions of an op class."""
    instructions: int
    """The number of instructions."""
    _nested: ClassVar[dict[str, str]] = {}


class ClassUse(Record):
    """The instructions of an op class."""
    instructions: int
    """The number of instructions."""
    warp_instructions: int
    """Their executions, counted once per warp."""
    _nested: ClassVar[dict[str, str]] = {}


class CubinFile(Record):
    """The contents of a file of machine code."""
    kernels: Rows[Kernel]
    """The kernels."""
    target: str
    """The architecture, such as `sm_61`."""
    unsupported: Rows[Unsupported2]
    """The constructs that are not supported, each with its first occurrence."""
    unsupported_left_out: int
    """The number of further unsupported constructs that are not listed."""
    _nested: ClassVar[dict[str, str]] = {"kernels": "Kernel", "unsupported": "Unsupported2"}


class Entry(Record):
    """A kernel."""
    calls: list[str]
    """The functions that it can call, directly or not."""
    const_bytes: int
    """Constant memory of the module, in bytes."""
    demangled: str | None
    """The demangled name, if the name is mangled C++."""
    dynamic_shared: bool
    """Whether it also uses dynamic shared memory, whose size the launch sets."""
    global_bytes: int
    """Variables of the module in global memory, in bytes."""
    instructions: int
    """The number of instructions, including those of functions."""
    kernel: str
    """The name of the kernel."""
    line: int
    """Its first line."""
    local_bytes: int
    """Local memory per thread, in bytes."""
    loops: Rows[Loop]
    """The loops of the kernel and its functions, by line."""
    max_threads: int | None
    """The most threads per block, if the file limits them."""
    notes: list[str]
    """Remarks that concern a run."""
    op_classes: Rows[ClassCount]
    """Instructions by op class, the most frequent first."""
    params: Rows[Parameter]
    """Its parameters."""
    predicate_registers: int
    """The number of predicate registers, including those of functions."""
    registers_by_width: dict[str, Any]
    """The number of other registers by width in bits, including the registers of functions. PTX registers are
    virtual."""
    shared_bytes: int
    """Static shared memory, in bytes."""
    supported: bool
    """Whether it can be simulated."""
    _nested: ClassVar[dict[str, str]] = {"loops": "Loop", "op_classes": "ClassCount", "params": "Parameter"}


class Function(Record):
    """A function that is not a kernel."""
    instructions: int
    """The number of its instructions."""
    line: int
    """Its first line."""
    name: str
    """The name of the function."""
    _nested: ClassVar[dict[str, str]] = {}


class IdleSetting(Record):
    """A setting that has no effect."""
    path: str
    """The setting, as `--set` names it."""
    reason: str
    """The reason."""
    _nested: ClassVar[dict[str, str]] = {}


class InspectResult(Record):
    """A file."""
    copied_bytes: int | None
    """The number of bytes copied."""
    copies: int | None
    """The number of copies from the host to the GPU."""
    kernels: Rows[Kernel] | None
    """The kernels."""
    warp_instructions: list[int] | None
    """The number of instructions of each warp."""
    kind: str
    """Which alternative it is."""
    block: list[int] | None
    """The number of threads per block along x, y and z."""
    demangled: str | None
    """The demangled name, if the name is mangled C++."""
    grid: list[int] | None
    """The number of blocks along x, y and z."""
    instructions: int | None
    """The number of instructions that were executed at least once."""
    kernel: str | None
    """The name of the kernel."""
    notes: list[str] | None
    """Remarks that concern a run."""
    op_classes: Rows[ClassCount] | None
    """Instructions by op class, in the order of their first occurrence."""
    opcode_table: str | None
    """The table of opcodes with which it is read."""
    opcodes: Rows[OpcodeUse] | None
    """Executions by opcode without modifiers, the most frequent first."""
    registers: int | None
    """Registers per thread, if the trace states them."""
    shared_bytes: int | None
    """Shared memory per block."""
    target: str | None
    """The directive `.target`."""
    thread_instructions: int | None
    """The active lanes, summed over all executed instructions."""
    trace: str | None
    """The trace file."""
    tracer_version: int | None
    """The version of the tracer; 0 if the trace does not state it."""
    unknown: Rows[OpcodeUse] | None
    """Unknown opcodes, with modifiers."""
    warps: int | None
    """The number of warps per block."""
    compared_with: str | None
    """What the machine was compared with and how far off it is."""
    dependences: Any | None
    """What enforces the dependences of machine code, in the form of machine files."""
    doc: str | None
    """A description."""
    exit_issues: bool | None
    """Whether the final `ret` takes an issue slot."""
    hazards: list[str] | None
    """The hazards for which an instruction waits."""
    idle_settings: Rows[IdleSetting] | None
    """The settings that have no effect."""
    limits: Any | None
    """The limits of what an SM holds, in the form of machine files."""
    machine_digest: str | None
    """The digest of every setting, in hexadecimal."""
    memory: Any | None
    """Caches and DRAM, in the form of machine files."""
    name: str | None
    """The name of the machine."""
    ops: Rows[OpClass] | None
    """The op classes."""
    pipeline: Any | None
    """The detailed pipeline, in the form of machine files; null for the paper model."""
    policy: str | None
    """The policy that the file names."""
    reconvergence: Any | None
    """The rule for the reconvergence of lanes, in the form of machine files."""
    shared_memory: Any | None
    """The rule for bank conflicts, in the form of machine files."""
    sms: int | None
    """The number of SMs."""
    sub_cores: int | None
    """The number of sub-cores per SM."""
    two_level_active: int | None
    """The number of warps that two-level policies keep active."""
    units: Rows[UnitTiming] | None
    """The functional units."""
    blocks: int | None
    """The number of blocks."""
    machine: str | None
    """The machine that the file names."""
    buffers: Rows[Buffer] | None
    """Its buffers."""
    launches: int | None
    """The number of launches that it makes."""
    program: Any | None
    """The contents of the file."""
    steps: Rows[Step] | None
    """Its `Launch` steps."""
    address_bits: int | None
    """The directive `.address_size`."""
    entries: Rows[Entry] | None
    """The kernels."""
    functions: Rows[Function] | None
    """The other functions with a body."""
    launch: Any | None
    """The contents of the file."""
    ptx_version: str | None
    """The directive `.version`."""
    unsupported: Rows[Unsupported] | None
    """The constructs that are not supported, by line."""
    unsupported_left_out: int | None
    """The number of further unsupported constructs that are not listed."""
    _nested: ClassVar[dict[str, str]] = {"buffers": "Buffer", "entries": "Entry", "functions": "Function", "idle_settings": "IdleSetting", "kernels": "Kernel", "op_classes": "ClassCount", "opcodes": "OpcodeUse", "ops": "OpClass", "steps": "Step", "units": "UnitTiming", "unknown": "OpcodeUse", "unsupported": "Unsupported"}


class Instruction(Record):
    """An instruction."""
    byte: int
    """The offset of its first byte in the code of the kernel."""
    read_barrier: int | None
    """The barrier that is released once its sources are read."""
    reuse: int
    """The sources that stay in the reuse cache, one bit each."""
    stall: int
    """Cycles until the warp may issue its next instruction."""
    text: str | None
    """Its text; null if it cannot be decoded."""
    wait: int
    """The barriers that it waits for, one bit each."""
    word: str
    """Its encoding, in hexadecimal digits."""
    write_barrier: int | None
    """The barrier that is released once its result is written."""
    yields: bool
    """Whether the scheduler may prefer another warp after it."""
    _nested: ClassVar[dict[str, str]] = {}


class Kernel(Record):
    """A kernel."""
    code_bytes: int
    """The code, including control codes and functions, in bytes."""
    const_bytes: int
    """The constants of the compiler, in bytes."""
    demangled: str | None
    """The demangled name, if the name is mangled C++."""
    disassembly: Rows[Instruction] | None
    """The instructions, with `--disasm`."""
    functions: list[str]
    """The functions in its code."""
    instructions: int
    """The number of instructions, including those of functions."""
    kernel: str
    """The name of the kernel."""
    local_bytes: int
    """Local memory per thread, in bytes."""
    max_threads: int | None
    """The most threads per block, if the file limits them."""
    notes: list[str]
    """Remarks that concern a run."""
    op_classes: Rows[ClassCount]
    """Instructions by op class, the most frequent first; `*` stands for the space of a generic access."""
    opcodes: Rows[OpcodeCount]
    """Instructions by mnemonic without modifiers, the most frequent first."""
    params: Rows[Parameter2]
    """Its parameters."""
    registers: int | None
    """Registers per thread."""
    shared_bytes: int
    """Static shared memory, in bytes."""
    supported: bool
    """Whether it can be simulated."""
    _nested: ClassVar[dict[str, str]] = {"disassembly": "Instruction", "op_classes": "ClassCount", "opcodes": "OpcodeCount", "params": "Parameter2"}


class LaunchFile(Record):
    """A launch, and the module of its kernel."""
    address_bits: int
    """The directive `.address_size`."""
    entries: Rows[Entry]
    """The kernels."""
    functions: Rows[Function]
    """The other functions with a body."""
    launch: Any
    """The contents of the file."""
    ptx_version: str
    """The directive `.version`."""
    target: str
    """The directive `.target`."""
    unsupported: Rows[Unsupported]
    """The constructs that are not supported, by line."""
    unsupported_left_out: int
    """The number of further unsupported constructs that are not listed."""
    _nested: ClassVar[dict[str, str]] = {"entries": "Entry", "functions": "Function", "unsupported": "Unsupported"}


class Loop(Record):
    """A loop."""
    depth: int
    """The nesting depth: 1 for an outermost loop."""
    end_line: int
    """Its last line."""
    function: str
    """The function that contains it."""
    line: int
    """Its first line."""
    _nested: ClassVar[dict[str, str]] = {}


class MachineFile(Record):
    """A machine. Times are in cycles."""
    compared_with: str
    """What the machine was compared with and how far off it is."""
    dependences: Any
    """What enforces the dependences of machine code, in the form of machine files."""
    doc: str
    """A description."""
    exit_issues: bool
    """Whether the final `ret` takes an issue slot."""
    hazards: list[str]
    """The hazards for which an instruction waits."""
    idle_settings: Rows[IdleSetting]
    """The settings that have no effect."""
    limits: Any
    """The limits of what an SM holds, in the form of machine files."""
    machine_digest: str
    """The digest of every setting, in hexadecimal."""
    memory: Any
    """Caches and DRAM, in the form of machine files."""
    name: str
    """The name of the machine."""
    ops: Rows[OpClass]
    """The op classes."""
    pipeline: Any
    """The detailed pipeline, in the form of machine files; null for the paper model."""
    policy: str
    """The default policy."""
    reconvergence: Any
    """The rule for the reconvergence of lanes, in the form of machine files."""
    shared_memory: Any
    """The rule for bank conflicts, in the form of machine files."""
    sms: int
    """The number of SMs."""
    sub_cores: int
    """The number of sub-cores per SM."""
    two_level_active: int
    """The number of warps that two-level policies keep active."""
    units: Rows[UnitTiming]
    """The functional units."""
    _nested: ClassVar[dict[str, str]] = {"idle_settings": "IdleSetting", "ops": "OpClass", "units": "UnitTiming"}


class MicroFile(Record):
    """A micro kernel."""
    blocks: int
    """The number of blocks."""
    machine: str | None
    """The machine that the file names."""
    op_classes: Rows[ClassCount]
    """Instructions by op class, in the order of their first occurrence."""
    policy: str | None
    """The policy that the file names."""
    warp_instructions: list[int]
    """The number of instructions of each warp."""
    warps: int
    """The number of warps per block."""
    _nested: ClassVar[dict[str, str]] = {"op_classes": "ClassCount"}


class OpClass(Record):
    """An op class."""
    init: int
    """The initiation interval."""
    lat: int
    """The latency after the initiation."""
    unit: str
    """The unit that executes it."""
    _nested: ClassVar[dict[str, str]] = {}


class OpcodeCount(Record):
    """The number of instructions with an opcode."""
    instructions: int
    """The number of instructions."""
    opcode: str
    """The mnemonic."""
    _nested: ClassVar[dict[str, str]] = {}


class OpcodeUse(Record):
    """The executions of an opcode."""
    opcode: str
    """The opcode."""
    warp_instructions: int
    """Its executions, counted once per warp."""
    _nested: ClassVar[dict[str, str]] = {}


class Parameter(Record):
    """A parameter."""
    name: str
    """The name of the parameter."""
    offset_bytes: int
    """Its offset."""
    size_bytes: int
    """Its size."""
    type: str
    """Its type."""
    _nested: ClassVar[dict[str, str]] = {}


class Parameter2(Record):
    """A parameter."""
    offset_bytes: int
    """Its offset among the parameters."""
    size_bytes: int
    """Its size."""
    _nested: ClassVar[dict[str, str]] = {}


class ProgramFile(Record):
    """A program."""
    buffers: Rows[Buffer]
    """Its buffers."""
    launches: int
    """The number of launches that it makes."""
    program: Any
    """The contents of the file."""
    steps: Rows[Step]
    """Its `Launch` steps."""
    _nested: ClassVar[dict[str, str]] = {"buffers": "Buffer", "steps": "Step"}


class PtxFile(Record):
    """The contents of a PTX file."""
    address_bits: int
    """The directive `.address_size`."""
    entries: Rows[Entry]
    """The kernels."""
    functions: Rows[Function]
    """The other functions with a body."""
    ptx_version: str
    """The directive `.version`."""
    target: str
    """The directive `.target`."""
    unsupported: Rows[Unsupported]
    """The constructs that are not supported, by line."""
    unsupported_left_out: int
    """The number of further unsupported constructs that are not listed."""
    _nested: ClassVar[dict[str, str]] = {"entries": "Entry", "functions": "Function", "unsupported": "Unsupported"}


class Step(Record):
    """A step that launches a kernel."""
    entry: str
    """The name of the kernel."""
    launches: int
    """The number of launches that it makes."""
    line: int
    """The line of the step."""
    module: str
    """The module of the kernel."""
    _nested: ClassVar[dict[str, str]] = {}


class TraceFile(Record):
    """The contents of a trace of one kernel."""
    block: list[int]
    """The number of threads per block along x, y and z."""
    demangled: str | None
    """The demangled name, if the name is mangled C++."""
    grid: list[int]
    """The number of blocks along x, y and z."""
    instructions: int
    """The number of instructions that were executed at least once."""
    kernel: str
    """The name of the kernel."""
    notes: list[str]
    """Remarks that concern a run."""
    op_classes: Rows[ClassUse]
    """Instructions by op class, the most executed first."""
    opcode_table: str
    """The table of opcodes with which it is read."""
    opcodes: Rows[OpcodeUse]
    """Executions by opcode without modifiers, the most frequent first."""
    registers: int | None
    """Registers per thread, if the trace states them."""
    shared_bytes: int
    """Shared memory per block."""
    target: str | None
    """The architecture, such as `sm_86`."""
    thread_instructions: int
    """The active lanes, summed over all executed instructions."""
    trace: str
    """The trace file."""
    tracer_version: int
    """The version of the tracer; 0 if the trace does not state it."""
    unknown: Rows[OpcodeUse]
    """Unknown opcodes, with modifiers."""
    warp_instructions: int
    """Every executed instruction, counted once per warp that executed it."""
    warps: int
    """The number of warps of all blocks."""
    _nested: ClassVar[dict[str, str]] = {"op_classes": "ClassUse", "opcodes": "OpcodeUse", "unknown": "OpcodeUse"}


class TraceList(Record):
    """A list of traces."""
    copied_bytes: int
    """The number of bytes copied."""
    copies: int
    """The number of copies from the host to the GPU."""
    kernels: Rows[TraceFile]
    """The kernels, in order."""
    warp_instructions: int
    """Every executed instruction of all kernels, counted once per warp that executed it."""
    _nested: ClassVar[dict[str, str]] = {"kernels": "TraceFile"}


class UnitTiming(Record):
    """A functional unit."""
    init: int
    """The initiation interval."""
    lat: int
    """The latency after the initiation."""
    name: str
    """The name of the unit."""
    shared: bool
    """Whether the sub-cores share the unit."""
    source: str
    """The source of these numbers."""
    _nested: ClassVar[dict[str, str]] = {}


class Unsupported(Record):
    """A construct that is not supported."""
    construct: str
    """The opcode or other construct."""
    count: int
    """The number of its occurrences in kernels and in functions that kernels can call."""
    hint: str
    """How to avoid it."""
    line: int
    """The line of its first occurrence."""
    message: str
    """Why it is not supported."""
    _nested: ClassVar[dict[str, str]] = {}


class Unsupported2(Record):
    """An instruction that cannot be simulated."""
    byte: int
    """The offset of its first byte in the code of the kernel."""
    construct: str
    """Its text, as far as it can be decoded."""
    count: int
    """The number of occurrences with the same message."""
    hint: str
    """How to avoid it."""
    kernel: str
    """The kernel."""
    message: str
    """Why it is not supported."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[InspectResult]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "InspectResult"}


_CLASSES: dict[str, type[Record]] = {"Buffer": Buffer, "ClassCount": ClassCount, "ClassUse": ClassUse, "CubinFile": CubinFile, "Entry": Entry, "Function": Function, "IdleSetting": IdleSetting, "InspectResult": InspectResult, "Instruction": Instruction, "Kernel": Kernel, "LaunchFile": LaunchFile, "Loop": Loop, "MachineFile": MachineFile, "MicroFile": MicroFile, "OpClass": OpClass, "OpcodeCount": OpcodeCount, "OpcodeUse": OpcodeUse, "Parameter": Parameter, "Parameter2": Parameter2, "Problem": Problem, "ProgramFile": ProgramFile, "PtxFile": PtxFile, "Step": Step, "TraceFile": TraceFile, "TraceList": TraceList, "UnitTiming": UnitTiming, "Unsupported": Unsupported, "Unsupported2": Unsupported2}
Buffer._classes = _CLASSES
ClassCount._classes = _CLASSES
ClassUse._classes = _CLASSES
CubinFile._classes = _CLASSES
Entry._classes = _CLASSES
Function._classes = _CLASSES
IdleSetting._classes = _CLASSES
InspectResult._classes = _CLASSES
Instruction._classes = _CLASSES
Kernel._classes = _CLASSES
LaunchFile._classes = _CLASSES
Loop._classes = _CLASSES
MachineFile._classes = _CLASSES
MicroFile._classes = _CLASSES
OpClass._classes = _CLASSES
OpcodeCount._classes = _CLASSES
OpcodeUse._classes = _CLASSES
Parameter._classes = _CLASSES
Parameter2._classes = _CLASSES
ProgramFile._classes = _CLASSES
PtxFile._classes = _CLASSES
Step._classes = _CLASSES
TraceFile._classes = _CLASSES
TraceList._classes = _CLASSES
UnitTiming._classes = _CLASSES
Unsupported._classes = _CLASSES
Unsupported2._classes = _CLASSES
Report._classes = _CLASSES
