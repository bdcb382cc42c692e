"""Results of runs, with what can be asked of them afterwards."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _call, _html
from ._call import Option
from ._policies import Schedule
from .records import cfg as _cfg, check as _check, run as _run, why as _why

if TYPE_CHECKING:
    from ._kernels import Folder


class Prepared:
    """A kernel as a command line calls it, with the files that it needs."""

    def __init__(self, name: str, folder: Folder | None = None) -> None:
        self._name = name
        self.folder = folder
        """Has the file of this name, and exists as long as this object."""

    @property
    def argument(self) -> str:
        """What a command line calls it."""
        # a copy in another process has another folder
        return self._name if self.folder is None else str(self.folder.path / self._name)


class Run(_run.RunResult):
    """The result of a run of one kernel on one machine under one policy."""

    def __init__(self, data: Mapping[str, Any], prepared: Prepared, options: Mapping[str, Option]) -> None:
        super().__init__(data)
        self._prepared = prepared
        self._options = dict(options)

    def timeline(self, *, height: int = 620) -> _html.Page:
        """Returns the timeline of the run as a page.

        The run is repeated, with the contents that the arrays had.
        """
        from ._kernels import Folder

        folder = Folder()
        path = folder.path / "timeline.html"
        _call.answer("run", self._prepared.argument, **{**self._options, "html": str(path), "dump": None})
        return _html.Page(path.read_text(encoding="utf-8"), height)

    def explain(self) -> _run.Explained:
        """Returns the critical path: the cause of each cycle of the makespan. The run is repeated."""
        again = {**self._options, "explain": True, "dump": None}
        found = _call.answer("run", self._prepared.argument, **again)
        return _run.Explained(found["results"][0]["explanation"])

    def schedule(self) -> Schedule:
        """Returns the schedule of the run, which can be the policy of another one. The run is
        repeated."""
        from ._kernels import Folder

        folder = Folder()
        path = folder.path / "schedule.replay"
        _call.answer("run", self._prepared.argument, **{**self._options, "trace": str(path), "dump": None})
        return Schedule(path, folder)

    def text(self) -> str:
        """Returns the report that the command line prints. The run is repeated."""
        return _call.text("run", self._prepared.argument, **{**self._options, "dump": None})

    @property
    def words(self) -> str:
        """The run as an argument of `diff` and `why`."""
        options = {**self._options, "dump": None}
        return shlex.join([self._prepared.argument, *_call.words(options)])

    def _repr_html_(self) -> str:
        cycles = f"{self.makespan:,} cycles"
        parts = [f"<p><b>{escape(self.kernel)}</b> on {escape(self.machine)} under {escape(self.policy)}: {cycles}, {self.verdict}</p>"]
        rows = [
            (b.name, b.value, None if b.overestimation is None else f"{100 * b.overestimation:+.1f} %", b.status)
            for b in self.bounds
            if b.value is not None
        ]
        if rows:
            parts.append(_html.table(["bound", "cycles", "overestimation", "status"], rows))
        else:
            reasons = sorted({b.reason for b in self.bounds if b.reason})
            parts.append(f"<p>No bound applies: {escape('; '.join(reasons))}</p>")
        stalls = self._data.get("stalls") or {}
        issues = self._data.get("issues")
        if isinstance(stalls, Mapping) and stalls:
            slots = {str(reason): int(cycles) for reason, cycles in stalls.items() if cycles}
            total = sum(slots.values()) + int(issues or 0)
            parts.append(_html.bars("idle issue slots", slots, total))
        return "".join(parts)



class Check(_check.Report):
    """The results of `check`: every kernel on every machine under every policy."""

    def _repr_html_(self) -> str:
        sentences = "".join(
            f"<p><b>{escape(answer.kernel)}</b> on {escape(answer.machine)}: {escape(answer.sentence)}</p>"
            for answer in self.answers or []
        )
        rows = [(r.kernel, r.machine, r.policy, r.makespan, r.verdict) for r in self.results]
        return sentences + _html.table(["kernel", "machine", "policy", "makespan", "verdict"], rows)


class Graph(_cfg.CfgResult):
    """The control flow graph of a kernel."""

    def __init__(self, data: Mapping[str, Any], svg: str) -> None:
        super().__init__(data)
        self.svg = svg
        """The graph as a picture in SVG."""

    def _repr_svg_(self) -> str:
        return self.svg


class Why(_why.WhyResult):
    """Why one run takes longer than another."""

    def __init__(self, data: Mapping[str, Any], runs: tuple[str, str]) -> None:
        super().__init__(data)
        self._runs = runs

    def __str__(self) -> str:
        return _call.text("why", *self._runs).rstrip()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap">{escape(str(self))}</pre>'
