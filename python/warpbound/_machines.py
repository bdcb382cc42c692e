"""Machines with settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Union

from . import _call
from ._call import Option, Value
from ._policies import Policy, name_of
from .records import inspect as _inspect

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
    def options(self) -> dict[str, Option]:
        """The options that select the machine."""
        return {
            "machine": self.name,
            "policy": None if self.policy is None else name_of(self.policy),
            "mem_latency": self.mem_latency,
            "set": [f"{path}={_written(value)}" for path, value in self.settings.items()],
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
    found = os.fspath(name)
    # an unknown name is an error here, not where the machine is used
    _call.answer("inspect", found)
    return Machine(found, policy if policy is not None else scheduler, mem_latency, {**(settings or {}), **more})


def options_of(
    machine: Machine | str | os.PathLike[str] | None,
    policy: Policy | None,
    mem_latency: int | None,
    settings: Mapping[str, Setting] | None,
) -> dict[str, Option]:
    """Returns the options of a machine with further settings, which take precedence."""
    chosen = machine if isinstance(machine, Machine) else None
    options: dict[str, Option] = chosen.options if chosen else {"machine": machine and os.fspath(machine)}  # type: ignore[arg-type]
    if policy is not None:
        options["policy"] = name_of(policy)
    if mem_latency is not None:
        options["mem_latency"] = mem_latency
    if settings:
        own: list[Value] = list(options.get("set") or [])  # type: ignore[arg-type]
        options["set"] = own + [f"{path}={_written(value)}" for path, value in settings.items()]
    return options


def _written(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
