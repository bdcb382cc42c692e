"""The output of `list`. Generated from its JSON Schema."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .._record import Record, Rows
from ._shared import AnyReport, Problem

__all__ = ["Any", "ClassVar", "Kernel", "ListedBound", "Listing", "Literal", "Machine", "Named", "Policy", "Problem", "Record", "Report", "Rows"]


class Kernel(Record):
    """A kernel."""
    doc: str
    """A description."""
    file: str
    """The path of its file."""
    kernel: str
    """The name of the kernel."""
    suite: bool
    """Whether it belongs to the suite that `check` runs if no kernel is named."""
    _nested: ClassVar[dict[str, str]] = {}


class ListedBound(Record):
    """A bound."""
    doc: str
    """A description."""
    name: str
    """The name of the bound."""
    standing: str
    """Its standing: whether it is published or proved."""
    _nested: ClassVar[dict[str, str]] = {}


class Listing(Record):
    """Everything that can be named on the command line."""
    bounds: Rows[ListedBound]
    """The bounds."""
    kernels: Rows[Kernel]
    """The embedded kernels, launches and programs."""
    machines: Rows[Machine]
    """The embedded machines."""
    plans: Rows[Named]
    """The embedded plans."""
    policies: Rows[Policy]
    """The policies."""
    _nested: ClassVar[dict[str, str]] = {"bounds": "ListedBound", "kernels": "Kernel", "machines": "Machine", "plans": "Named", "policies": "Policy"}


class Machine(Record):
    """A machine."""
    compared: str
    """What the machine was compared with, and how far off it is."""
    doc: str
    """A description."""
    name: str
    """Its name."""
    _nested: ClassVar[dict[str, str]] = {}


class Named(Record):
    """A plan."""
    doc: str
    """A description."""
    name: str
    """Its name."""
    _nested: ClassVar[dict[str, str]] = {}


class Policy(Record):
    """A policy."""
    doc: str
    """Which warp issues."""
    name: str
    """The name, as `--policy` accepts it."""
    work_conserving: bool | None
    """Whether some warp issues whenever one is ready; absent for a replay, where it depends on the file."""
    _nested: ClassVar[dict[str, str]] = {}


class Report(AnyReport):
    """The output of a command: its results, which are always a list, and facts about the whole command."""
    results: Rows[Listing]
    """One result per kernel, policy or setting, depending on the command."""
    _nested: ClassVar[dict[str, str]] = {"errors": "Problem", "results": "Listing"}


_CLASSES: dict[str, type[Record]] = {"Kernel": Kernel, "ListedBound": ListedBound, "Listing": Listing, "Machine": Machine, "Named": Named, "Policy": Policy, "Problem": Problem}
Kernel._classes = _CLASSES
ListedBound._classes = _CLASSES
Listing._classes = _CLASSES
Machine._classes = _CLASSES
Named._classes = _CLASSES
Policy._classes = _CLASSES
Report._classes = _CLASSES
