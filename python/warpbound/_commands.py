"""The commands, as functions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

from . import _call
from ._call import Option
from ._errors import Error, mapping, path_text, shown
from ._html import Page
from ._kernels import Folder, Kernel, KernelFile
from ._launches import Launch
from ._machines import Machine, Setting, options_of
from ._policies import Policy, name_of
from ._record import Rows
from ._results import Check, Graph, Prepared, Run, Why
from .records import cfg as _cfg
from .records import compare as _compare
from .records import diff as _diff
from .records import explore as _explore
from .records import hybrid as _hybrid
from .records import inspect as _inspect
from .records import list as _list
from .records import pwcet as _pwcet
from .records import static as _static
from .records import wcet as _wcet

Runnable = Union[str, "os.PathLike[str]", Launch, KernelFile]
"""What can be run: a [`Launch`], a [`KernelFile`], a path, or the name of an embedded kernel."""
Machines = Union[Machine, str, "os.PathLike[str]", None]
Settings = Union[Mapping[str, Setting], None]


def run(
    kernel: Runnable,
    *,
    machine: Machines = None,
    policy: Policy | None = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    **options: Option,
) -> Run:
    """Simulates a kernel and checks every bound against the run.

    The arrays of a [`Launch`] hold what the kernel wrote afterwards. `options` are the options of
    `warpbound run`, such as `seed=1`, `grid="4"`, `time_limit=10` or `max_instructions=1000`.
    """
    # the run can be repeated, so that an iterator has to be kept as a list
    options = {name: list(value) if isinstance(value, Iterator) else value for name, value in options.items()}
    chosen = {**options_of(machine, policy, mem_latency, settings), **options}
    prepared = prepare(kernel)
    if not isinstance(kernel, Launch) or prepared.folder is None:
        return Run(_first(_call.answer("run", prepared.argument, **chosen)), prepared, chosen)
    folder = prepared.folder.path
    found = _call.answer("run", prepared.argument, **chosen, dump=kernel.dumps(folder))
    kernel.read_back(folder)
    return Run(_first(found), prepared, chosen)


def check(
    kernels: Runnable | Iterable[Runnable] = (),
    *,
    machine: Machines | Sequence[str] = None,
    policy: Policy | Sequence[Policy] | None = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    **options: Option,
) -> Check:
    """Checks that no bound is exceeded, and states the smallest proved bound of each kernel.

    Without kernels it checks the embedded suite. `machine` and `policy` can be lists.
    """
    prepared = _all(kernels)
    chosen = _several(machine, policy, mem_latency, settings, options)
    return Check(_call.answer("check", *(p.argument for p in prepared), **chosen))


def compare(
    kernels: Runnable | Iterable[Runnable],
    *,
    machine: Machines | Sequence[str] = None,
    policy: Policy | Sequence[Policy] | None = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    **options: Option,
) -> _compare.Report:
    """Compares policies on kernels.

    `over="mem_latency=100,400"` states which policy is the fastest for which values of a setting.
    """
    prepared = _all(kernels)
    chosen = _several(machine, policy, mem_latency, settings, options)
    return _compare.Report(_call.answer("compare", *(p.argument for p in prepared), **chosen))


def explore(
    kernel: Runnable,
    *,
    machine: Machines = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    **options: Option,
) -> _explore.ExploreResult:
    """Searches all schedules of a block for the worst and the best one."""
    prepared = prepare(kernel)
    chosen = {**options_of(machine, None, mem_latency, settings), **options}
    return _explore.ExploreResult(_first(_call.answer("explore", prepared.argument, **chosen)))


def static(
    kernel: Runnable,
    *,
    machine: Machines = None,
    policy: Policy | None = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    loop_bounds: Mapping[Union[int, str], int] | None = None,
    **options: Option,
) -> _static.StaticResult:
    """Bounds the execution time for every content of the arrays.

    `loop_bounds` are the most iterations of loops by the lines of the code.
    """
    prepared = prepare(kernel)
    chosen = {**options_of(machine, policy, mem_latency, settings), **_loops(loop_bounds), **options}
    return _static.StaticResult(_first(_call.answer("static", prepared.argument, **chosen)))


def wcet(
    kernel: Runnable,
    *,
    machine: Machines = None,
    policy: Policy | Sequence[Policy] | None = None,
    runs: int | None = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    loop_bounds: Mapping[Union[int, str], int] | None = None,
    **options: Option,
) -> _wcet.WcetResult:
    """Estimates and bounds the worst-case execution time by all methods that apply."""
    prepared = prepare(kernel)
    chosen = _several(machine, policy, mem_latency, settings, {**_loops(loop_bounds), "runs": runs, **options})
    return _wcet.WcetResult(_first(_call.answer("wcet", prepared.argument, **chosen)))


def hybrid(
    kernel: Runnable | None = None,
    *,
    machine: Machines = None,
    traces: Sequence[str | os.PathLike[str]] = (),
    mem_latency: int | None = None,
    settings: Settings = None,
    loop_bounds: Mapping[Union[int, str], int] | None = None,
    **options: Option,
) -> _hybrid.HybridResult:
    """Estimates the worst-case execution time from the times between points of the code."""
    prepared = None if kernel is None else prepare(kernel)
    chosen = {**options_of(machine, None, mem_latency, settings), **_loops(loop_bounds), **options}
    several = [traces] if isinstance(traces, (str, bytes, os.PathLike)) else _list_of(traces, "traces")
    if several:
        chosen["traces"] = [path_text(trace, "traces") for trace in several]
    arguments = () if prepared is None else (prepared.argument,)
    return _hybrid.HybridResult(_first(_call.answer("hybrid", *arguments, **chosen)))


def pwcet(
    source: Runnable,
    *,
    machine: Machines = None,
    policy: Policy | None = None,
    runs: int | None = None,
    mem_latency: int | None = None,
    settings: Settings = None,
    loop_bounds: Mapping[Union[int, str], int] | None = None,
    **options: Option,
) -> _pwcet.PwcetResult:
    """Fits the tail of execution times: those of random runs of a kernel, or measured ones in a file.

    With `html=PATH`, it also writes a page.
    """
    prepared = prepare(source)
    chosen = {**options_of(machine, policy, mem_latency, settings), **_loops(loop_bounds), "runs": runs, **options}
    return _pwcet.PwcetResult(_first(_call.answer("pwcet", prepared.argument, **chosen)))


def cfg(kernel: Runnable, **options: Option) -> Graph:
    """Returns the control flow graph of a kernel; notebooks show it as a picture."""
    prepared, folder = prepare(kernel), Folder()
    path = folder.path / "cfg.svg"
    found = _call.answer("cfg", prepared.argument, **{**options, "out": str(path)})
    return Graph(_first(found), path.read_text(encoding="utf-8"))


def diff(a: Run | str, b: Run | str) -> _diff.DiffResult:
    """Compares two runs line by line; they are repeated.

    A run is the result of [`run`], or its command line, such as `"saxpy --policy lrr"`.
    """
    return _diff.DiffResult(_first(_call.answer("diff", _words(a), _words(b))))


def why(a: Run | str, b: Run | str) -> Why:
    """Explains why one run takes longer than another; see [`diff`]."""
    runs = (_words(a), _words(b))
    return Why(_first(_call.answer("why", *runs)), runs)


def inspect(
    file: str | os.PathLike[str] | Launch | Kernel | KernelFile | Machine, **options: Option
) -> _inspect.InspectResult:
    """Shows what is in a file of any kind, or in an embedded kernel or machine."""
    if isinstance(file, Machine):
        return file.inspect()
    if isinstance(file, (Launch, KernelFile)):
        prepared = prepare(file)
    else:
        prepared = Prepared(path_text(file.path if isinstance(file, Kernel) else file, "file"))
    return _inspect.InspectResult(_first(_call.answer("inspect", prepared.argument, **options)))


def report(results: Any, **options: Option) -> Page:
    """Makes a page of the results of sweeps: a [`Sweep`], a folder, or a list of them."""
    several = results if isinstance(results, (list, tuple)) else [results]
    folders = [path_text(getattr(one, "folder", one), "results") for one in several]
    folder = Folder()
    path = folder.path / "report.html"
    _call.text("report", *folders, **{**options, "html": str(path)})
    return Page(path.read_text(encoding="utf-8"), 900)


def kernels(*words: str) -> Rows[_list.Kernel]:
    """Lists the embedded kernels, or those with these words in the name or the description."""
    return _listed("kernels", words).kernels


def machines(*words: str) -> Rows[_list.Machine]:
    """Lists the embedded machines."""
    return _listed("machines", words).machines


def policies(*words: str) -> Rows[_list.Policy]:
    """Lists the scheduling policies."""
    return _listed("policies", words).policies


def bounds(*words: str) -> Rows[_list.ListedBound]:
    """Lists the bounds."""
    return _listed("bounds", words).bounds


def explain(term: str = "") -> str:
    """Explains a term: a bound, a policy, a reason for an idle slot, a unit, or a setting; without a
    term, it lists all of them."""
    return _call.text("explain", term)


def prepare(kernel: Any) -> Prepared:
    """Returns a kernel as commands take it."""
    if isinstance(kernel, Launch):
        path, folder = kernel.prepare()
        return Prepared(path.name, folder)
    if isinstance(kernel, Kernel):
        raise Error.of(
            "the kernel has no launch",
            hint=f"{kernel.shown_name}[blocks, threads](..) makes one",
            place=kernel.shown_name,
        )
    if isinstance(kernel, KernelFile):
        return Prepared(kernel.argument)
    if isinstance(kernel, (str, os.PathLike)):
        return Prepared(path_text(kernel, "kernel"))
    raise Error.of(f"{shown(kernel)} is no kernel", hint="a launch, a path, or the name of an embedded kernel")


def _all(kernels: Any) -> list[Prepared]:
    single = isinstance(kernels, (str, bytes, os.PathLike, Launch, Kernel, KernelFile))
    return [prepare(kernel) for kernel in ([kernels] if single else _list_of(kernels, "kernels"))]


def _list_of(values: Any, place: str) -> list[Any]:
    # what has items only by number, as a kernel, could be without an end
    try:
        if isinstance(values, Iterable):
            return list(values)
    except (TypeError, ValueError):
        pass
    raise Error.of(f"{shown(values)} is no list", place=place)


def _several(
    machine: Any, policy: Any, mem_latency: int | None, settings: Settings, options: Mapping[str, Option]
) -> dict[str, Option]:
    if isinstance(machine, (list, tuple)):
        names = [one.name if isinstance(one, Machine) else path_text(one, "machine") for one in machine]
        if any(isinstance(one, Machine) and one.is_changed for one in machine):
            raise Error.of(
                "machines of a list have no settings of their own", hint="give `settings` for all of them", place="machine"
            )
        machine = ",".join(names)
    policies = ",".join(map(name_of, policy)) if isinstance(policy, (list, tuple)) else policy
    return {**options_of(machine, policies, mem_latency, settings), **options}


def _loops(loop_bounds: Mapping[Union[int, str], int] | None) -> dict[str, Option]:
    bounds = mapping(loop_bounds, "loop_bounds", "{12: 100}")
    return {"loop_bound": [f"{line}={_call.written(most, 'loop_bounds')}" for line, most in bounds.items()]}


def _words(run: Run | str) -> str:
    if isinstance(run, Run):
        return run.words
    if isinstance(run, str):
        return run
    raise Error.of(f"{shown(run)} is no run", hint='the result of run(), or text such as "saxpy --policy lrr"')


def _first(found: Mapping[str, Any]) -> Mapping[str, Any]:
    results = found["results"]
    if not results:
        raise Error.of("the command has no result")
    return results[0]  # type: ignore[no-any-return]


def _listed(kind: str, words: Sequence[str]) -> _list.Listing:
    for word in words:
        _call.checked(word)
    try:
        return _list.Listing(_first(_call.answer("list", kind, *words)))
    except Error:
        if not words:
            raise
        # nothing has all of these words
        return _list.Listing({"kernels": [], "machines": [], "policies": [], "bounds": [], "plans": []})
