"""Sweeps: every combination of kernels, machines, settings and policies."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _call, _html
from ._call import Option
from ._commands import Runnable, prepare, report
from ._errors import Error, Interrupted, Problem, mapping, path_text, shown, without_folders
from ._kernels import Folder
from ._launches import Launch, quoted
from ._machines import Machine, Setting
from ._policies import Policy, name_of

Values = Union[Setting, Iterable[Setting]]


class Sweep:
    """The results of a sweep: one row for each point."""

    def __init__(self, folder: Path, keep: Any = None) -> None:
        self.folder = folder
        """The folder with `results.csv`, `results.jsonl` and `manifest.json`."""
        self._keep = keep
        with open(folder / "results.jsonl", encoding="utf-8") as file:
            self.rows: list[dict[str, Any]] = [_row(json.loads(line)) for line in file]
            """The points, as dictionaries with the names of the columns."""

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """Returns a table of pandas."""
        import pandas

        return pandas.DataFrame(self.rows)

    def to_polars(self) -> Any:
        """Returns a table of polars."""
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Copies the folder of the results to a new place, and returns it."""
        try:
            return Path(shutil.copytree(self.folder, path_text(folder, "folder")))
        except OSError as error:
            raise Error.of(error.strerror or "some of its files cannot be copied", place=str(folder)) from None

    def plot(
        self, y: str = "cycles", *, over: str | None = None, by: str | None = None, panels: str | None = None
    ) -> _html.Picture:
        """Draws a column over another one.

        `y` is `cycles`, `ipc`, `slowdown`, `overestimation`, or any column with numbers; `over` is the
        column on the horizontal axis (by default the first setting with several values, or the
        kernel), `by` has a line for each of its values, and `panels` a panel for each.
        """
        axis = f" ~ {over or self._axis(by, panels)}" if not y.startswith("ecdf(") else ""
        formula = f"{y}{axis}" + (f" | {by}" if by else "") + (f" / {panels}" if panels else "")
        folder = Folder()
        path = folder.path / "plot.svg"
        _call.text("report", str(self.folder), plot=formula, out=str(path))
        return _html.Picture(path.read_text(encoding="utf-8"))

    def report(self) -> _html.Page:
        """Returns the report of the sweep as a page."""
        return report(self)

    def _axis(self, *taken: str | None) -> str:
        for name in [*self._settings(), "kernel"]:
            if name not in taken and len({row.get(name) for row in self.rows}) > 1:
                return name
        return "kernel"

    def _repr_html_(self) -> str:
        shown = ("kernel", "machine", "policy", "makespan", "verdict", "lwb", "lwb_overestimation", "error")
        names = list(self.rows[0]) if self.rows else []
        settings = self._settings()
        columns = [name for name in names if name in shown or name in settings]
        columns = [name for name in columns if any(row.get(name) not in (None, "") for row in self.rows)]
        return _html.of_rows(self.rows, columns)

    def _settings(self) -> list[str]:
        """Returns the columns of settings, which stand between the machine and the policy."""
        names = list(self.rows[0]) if self.rows else []
        return names[names.index("machine") + 1 : names.index("policy")] if "policy" in names else []

    def __repr__(self) -> str:
        return f"<Sweep of {len(self):,} points in {self.folder}>"


def sweep(
    kernels: Runnable | Iterable[Runnable] | None = None,
    *,
    machines: Iterable[Machine | str | os.PathLike[str]] | str = ("ecrts25-orin",),
    policies: Iterable[Policy] | str = ("gto", "lrr"),
    settings: Mapping[str, Values] | None = None,
    seeds: Iterable[int] = (0,),
    plan: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    **options: Option,
) -> Sweep:
    """Runs every combination of kernels, machines, settings and policies.

    `settings` are lists of values by the paths of settings, such as `{"mem_latency": range(100, 900,
    100)}`. A plan file or an embedded plan (`plan="table4"`) replaces all of this. The results are
    written to the folder `out`, which can be resumed (`resume=True`), or to a temporary one. A point
    that fails has an `error` in its row.
    """
    folder = Folder()
    if plan is None:
        if kernels is None:
            raise Error.of("there is nothing to run", hint="give kernels, or a plan", place="kernels")
        names = [_named(kernel, folder.path) for kernel in _list(kernels)]
        path = folder.path / "plan.ron"
        text = _plan(names, machines, policies, settings, seeds)
        try:
            path.write_text(text, encoding="utf-8")
        except UnicodeEncodeError:
            raise Error.of("a plan cannot have names with such characters", place=shown(text)) from None
    else:
        path, text = Path(path_text(plan, "plan")), ""
    results = Path(path_text(out, "out")) if out is not None else folder.path / "results"
    try:
        _call.answer("sweep", str(path), **{**options, "out": str(results)})
    except Interrupted as stopped:
        hint = "resume=True goes on with it" if out is not None else "with out=FOLDER, resume=True goes on later"
        raise Interrupted([Problem(stopped.message, hint=hint)], stopped.result) from None
    except Error as error:
        # the errors of points are in their rows
        if not any(answer.get("failed") for answer in (error.result or {}).get("results", [])):
            raise Error([_located(problem, text) for problem in error.problems], error.result) from None
    return Sweep(results, folder)


def load_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """Reads the results of a sweep from its folder."""
    path = Path(path_text(folder, "folder"))
    try:
        return Sweep(path)
    except OSError as error:
        raise Error.of(error.strerror or str(error), place=str(error.filename or folder)) from None
    except (ValueError, AttributeError, TypeError):
        # no text, no JSON, or JSON that is no object
        raise Error.of("these are no results of a sweep", place=str(path / "results.jsonl")) from None


def _located(problem: Problem, plan: str) -> Problem:
    """Returns a problem of a plan that the caller has not written, with the text that it is about
    instead of a line."""
    if problem.file != "plan.ron" or not plan:
        return problem
    lines = plan.splitlines()
    rest = lines[problem.line - 1][problem.column - 1 :] if 0 < problem.line <= len(lines) else ""
    # the column is that of the text inside of the quotes
    before = lines[problem.line - 1][: problem.column - 1] if rest else ""
    found = re.match(r'([^"]+)"', rest) if before.endswith('"') else None
    hint = "" if "docs/sweeps.md" in problem.hint else problem.hint
    return Problem(problem.message, hint=hint, file=found[1] if found else "sweep")


def _named(kernel: Any, folder: Path) -> str:
    """Returns the name of a kernel in a plan that is in this folder."""
    if isinstance(kernel, Launch):
        # its name is in every row, so it is short
        return kernel.write_beside(folder).name
    return _location(prepare(kernel).argument)


def _plan(
    kernels: Sequence[str],
    machines: Any,
    policies: Any,
    settings: Any,
    seeds: Any,
) -> str:
    written = []
    for machine in _list(machines):
        if isinstance(machine, Machine):
            if machine.is_changed:
                raise Error.of(
                    "machines of a sweep have no settings of their own",
                    hint="give `settings` and `policies` for all of them",
                    place=f"machine `{machine.name}`",
                )
            machine = machine.name
        written.append(quoted(_location(path_text(machine, "machines"))))
    axes = [
        f"{quoted(_call.checked(path))}: [{', '.join(_value(value, path) for value in _list(values))}]"
        for path, values in mapping(settings, "settings", '{"mem_latency": [100, 200]}').items()
    ]
    chosen = [quoted(_call.checked(name_of(policy))) for policy in _list(policies)]
    return (
        f"Sweep(\n    kernels: [{', '.join(f'Kernel({quoted(kernel)})' for kernel in kernels)}],\n"
        f"    machines: [{', '.join(written)}],\n    settings: {{ {', '.join(axes)} }},\n"
        f"    policies: [{', '.join(chosen)}],\n    seeds: [{', '.join(map(_seed, _list(seeds)))}],\n)\n"
    )


def _list(values: Any) -> list[Any]:
    """Returns several values as a list, also if there is only one."""
    # a class is a policy, even if its objects can be counted
    return [values] if isinstance(values, type) else _call.values_of(values)


def _value(value: Any, path: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(_call.checked(value)) if isinstance(value, str) else _call.written(value, path)


def _seed(seed: Any) -> str:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise Error.of(f"{shown(seed)} is no whole number from 0 to 2**64 - 1", place="seeds")
    return _call.written(seed, "seeds")


def _location(name: str) -> str:
    """Returns the name of something embedded, or the absolute path of a file."""
    _call.checked(name)
    try:
        return os.path.abspath(name) if os.path.exists(name) else name
    except ValueError:
        # it has a character that no name of a file can have
        return name


def _row(row: dict[str, Any]) -> dict[str, Any]:
    # it protects the line of the file against changes, and is no result
    row.pop("checksum", None)
    if row.get("error"):
        row["error"] = without_folders(row["error"])
    return row
