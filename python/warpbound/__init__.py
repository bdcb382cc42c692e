"""warpbound: a cycle-level timing simulator of a GPU streaming multiprocessor.

It checks analytic bounds on execution times against every run.

    import warpbound as wb
    k = wb.kernel("scale.ptx")
    r = wb.run(k[4, 256](x, 2.5, n), machine="ecrts25-orin")
    r.makespan, r.bounds["lwb"].value, r.stalls
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from . import _native
from ._call import show_progress
from ._commands import (
    bounds,
    cfg,
    check,
    compare,
    diff,
    explain,
    explore,
    hybrid,
    inspect,
    kernels,
    machines,
    policies,
    pwcet,
    report,
    run,
    static,
    wcet,
    why,
)
from ._errors import Error, Interrupted, Problem
from ._html import Page, Picture
from ._kernels import Kernel, KernelFile, Parameter, kernel
from ._launches import Launch
from ._machines import Machine, machine
from ._native import View
from ._policies import ChoosesWarps, Schedule
from ._record import Record, Rows
from ._results import Check, Graph, Run, Why
from ._sweeps import Sweep, load_sweep, sweep

__version__ = _native.version

__all__ = [
    "Check",
    "ChoosesWarps",
    "Error",
    "Graph",
    "Interrupted",
    "Kernel",
    "KernelFile",
    "Launch",
    "Machine",
    "Page",
    "Parameter",
    "Picture",
    "Problem",
    "Record",
    "Rows",
    "Run",
    "Schedule",
    "Sweep",
    "View",
    "Why",
    "bounds",
    "cfg",
    "check",
    "compare",
    "diff",
    "explain",
    "explore",
    "hybrid",
    "inspect",
    "kernel",
    "kernels",
    "load_sweep",
    "machine",
    "machines",
    "policies",
    "pwcet",
    "report",
    "run",
    "show_progress",
    "static",
    "sweep",
    "wcet",
    "why",
]


def __getattr__(name: str) -> ModuleType:
    # what captures kernels of other packages is imported where it is used
    if name in ("cuda", "numba", "triton"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
