"""Machines with settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

from . import _call
from ._call import Option
from ._errors import Error, mapping, path_text
from ._numbers import scalar
from ._policies import Policy, name_of
from .records import inspect as _inspect

_EXAMPLE = '{"units.gmem.lat": 199}'

Setting = Union[bool, int, float, str]


class Machine:
    """A machine, with a policy and settings."""

    def __init__(
        self, name: str, policy: Policy | None, mem_latency: int | None, settings: Mapping[str, Setting]
    ) -> None:
        self.name = name
        """The name of an embedded machine, or the path of a file."""
        self.policy = policy
        """The policy, or `None` for that of the machine."""
        self.mem_latency = mem_latency
        """The total latency of a global load in cycles, or `None` for that of the machine."""
        self.settings = dict(settings)
        """The other settings, by their paths."""

    @property
    def is_changed(self) -> bool:
        """Whether it has a policy or settings of its own."""
        return bool(self.settings) or self.policy is not None or self.mem_latency is not None

    @property
    def options(self) -> dict[str, Option]:
        """The options that select the machine."""
        return {
            "machine": self.name,
            "policy": None if self.policy is None else name_of(self.policy),
            "mem_latency": self.mem_latency,
            "set": _set(self.settings),
        }

    def inspect(self) -> _inspect.InspectResult:
        """Returns what the machine is, without the settings: its units, limits and premises."""
        return _inspect.InspectResult(_call.answer("inspect", self.name)["results"][0])

    def __repr__(self) -> str:
        policy = f", policy={name_of(self.policy)!r}" if self.policy is not None else ""
        latency = f", mem_latency={self.mem_latency}" if self.mem_latency is not None else ""
        settings = f", settings={self.settings}" if self.settings else ""
        return f"machine({self.name!r}{policy}{latency}{settings})"


def machine(
    name: str | os.PathLike[str],
    *,
    policy: Policy | None = None,
    scheduler: Policy | None = None,
    mem_latency: int | None = None,
    settings: Mapping[str, Setting] | None = None,
    **more: Setting,
) -> Machine:
    """Finds a machine by its embedded name or its file.

    `scheduler` is another word for `policy`. `settings` are those of `--set`, by their paths, such as
    `{"units.gmem.lat": 199}`; settings whose path is an identifier can be arguments, such as
    `sub_cores=4`.
    """
    found = path_text(name, "name")
    # an unknown name is an error here, not where the machine is used
    kind = _call.answer("inspect", found)["results"][0].get("kind")
    if kind != "machine":
        raise Error.of(f"this is no machine, but a {kind}", hint="machines() lists the embedded machines", place=found)
    chosen = policy if policy is not None else scheduler
    if chosen is not None:
        name_of(chosen)
    # so is a wrong value
    _set(settings)
    _set(more)
    return Machine(found, chosen, mem_latency, {**(settings or {}), **more})


def options_of(
    machine: Machine | str | os.PathLike[str] | None,
    policy: Policy | None,
    mem_latency: int | None,
    settings: Mapping[str, Setting] | None,
) -> dict[str, Option]:
    """Returns the options of a machine with further settings, which take precedence."""
    chosen = machine if isinstance(machine, Machine) else None
    options: dict[str, Option] = chosen.options if chosen else {"machine": _name(machine)}
    if policy is not None:
        options["policy"] = name_of(policy)
    if mem_latency is not None:
        options["mem_latency"] = mem_latency
    # what is stated twice counts once
    both = mapping(settings, "settings", _EXAMPLE)
    own = {path: value for path, value in (chosen.settings if chosen else {}).items() if path not in both}
    options["set"] = [*_set(own), *_set(both)]
    return options


def _name(machine: Any) -> str | None:
    return None if machine is None else path_text(machine, "machine")


def _set(settings: Any) -> list[str]:
    """Returns settings as the values of `--set`."""
    return [f"{path}={_written(value, str(path))}" for path, value in mapping(settings, "settings", _EXAMPLE).items()]


def _written(value: Any, path: str) -> str:
    plain = scalar(value)
    return str(plain).lower() if isinstance(plain, bool) else _call.written(plain, path)
