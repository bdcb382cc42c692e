"""Policies that are written in Python."""

from __future__ import annotations

import threading
import time
from typing import Any, Optional

import pytest
from support import MACHINE, saxpy

import warpbound as wb

np = pytest.importorskip("numpy")


class Gto:
    """Greedy, then oldest, as the built-in policy."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.greedy: int | None = None

    def placed(self, block: int, slots: list[int], cycle: int) -> None:
        if self.greedy in slots:
            # that warp has ended
            self.greedy = None

    def choose(self, view: wb.View) -> Optional[int]:
        if self.greedy not in view.ready:
            self.greedy = next(slot for block in view.by_age for slot in block if slot in view.ready)
        return self.greedy


class Youngest:
    def choose(self, view: wb.View) -> Optional[int]:
        return max(view.ready)


def same(a: wb.Run, b: wb.Run) -> bool:
    found, other = a.to_dict(), b.to_dict()
    return all(found[name] == other[name] for name in ("makespan", "stalls", "issues", "units"))


@pytest.mark.parametrize("kernel", ["saxpy", "bitonic_shared", "bfs_expand", "histogram", "reduce5", "fig3", "atomics_mix", "scan_padded"])
@pytest.mark.parametrize("machine", [MACHINE, "ecrts25-orin-4sub"])
def test_gto_in_python_schedules_as_the_built_in_policy(kernel: str, machine: str) -> None:
    try:
        expected = wb.run(kernel, machine=machine, policy="gto")
    except wb.Error:
        pytest.skip("the kernel does not run on this machine")
    assert same(wb.run(kernel, machine=machine, policy=Gto), expected)


def test_a_schedule_is_replayed_without_the_policy() -> None:
    run = wb.run("bitonic_shared", machine=MACHINE, policy=Youngest)
    assert run.policy == "called:Youngest"
    assert same(wb.run("bitonic_shared", machine=MACHINE, policy=run.schedule()), run)
    assert not same(wb.run("bitonic_shared", machine=MACHINE, policy="gto"), run)


def test_a_policy_can_let_cycles_pass() -> None:
    class Slow(Gto):
        def choose(self, view: wb.View) -> Optional[int]:
            return None if view.now % 3 else super().choose(view)

    run = wb.run("saxpy", machine=MACHINE, policy=Slow)
    assert run.makespan > wb.run("saxpy", machine=MACHINE, policy="gto").makespan
    assert same(wb.run("saxpy", machine=MACHINE, policy=run.schedule()), run)


def test_what_a_policy_is_shown_is_consistent() -> None:
    events: list[Any] = []

    class Watches:
        def restart(self) -> None:
            events.append("restart")

        def placed(self, block: int, slots: list[int], cycle: int) -> None:
            events.append(("placed", block, len(slots)))

        def ended(self, block: int) -> None:
            events.append(("ended", block))

        def choose(self, view: wb.View) -> Optional[int]:
            assert view.ready and set(view.ready) <= set(view.live)
            assert not set(view.ready) & set(view.at_barrier) and set(view.at_barrier) <= set(view.live)
            assert set(view.live) <= {slot for block in view.by_age for slot in block}
            return view.ready[0]

    wb.run("bitonic_shared", machine=MACHINE, policy=Watches)
    assert ("placed", 0, 8) in events and ("ended", 0) in events


@pytest.mark.parametrize("choice", [64, -1, 10**30, "0", 1.5, object(), [0]])
def test_a_wrong_choice_is_an_error(choice: Any) -> None:
    class Wrong:
        def choose(self, view: wb.View) -> Any:
            return choice

    with pytest.raises(wb.Error, match="which is no ready warp"):
        wb.run("saxpy", machine=MACHINE, policy=Wrong)


@pytest.mark.parametrize("method", ["__init__", "restart", "placed", "choose", "ended"])
def test_an_exception_of_a_policy_is_an_error_with_its_line(method: str) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("as it should")

    policy = type("Fails", (Gto,), {method: fails})
    x, y = np.ones(100, "f4"), np.ones(100, "f4")
    with pytest.raises(wb.Error, match=r"RuntimeError: as it should \(.*test_policies.py, line \d+\)"):
        wb.run(saxpy()[1, 128](100, 2.0, x, y), machine=MACHINE, policy=policy)
    assert (y == 1).all()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, RecursionError, MemoryError, StopIteration])
def test_every_exception_ends_only_the_run(error: type[BaseException]) -> None:
    class Fails:
        def choose(self, view: wb.View) -> Optional[int]:
            raise error

    with pytest.raises(wb.Error, match=error.__name__):
        wb.run("saxpy", machine=MACHINE, policy=Fails)


def test_a_policy_that_never_chooses_is_an_error() -> None:
    class Waits:
        def choose(self, view: wb.View) -> Optional[int]:
            return None

    with pytest.raises(wb.Error, match="choose returned None 100000 times in a row"):
        wb.run("fig3", policy=Waits)


def test_what_is_no_policy_is_an_error() -> None:
    for wrong in (5, Gto(), [], b"gto", None if False else 1.5):
        with pytest.raises(wb.Error, match="is no policy"):
            wb.run("saxpy", policy=wrong)  # type: ignore[arg-type]
    for wrong in (object, print, lambda: None, lambda x: x, dict):
        with pytest.raises(wb.Error, match="the policy cannot be"):
            wb.run("saxpy", policy=wrong)  # type: ignore[arg-type]


def test_classes_of_the_same_name_are_told_apart() -> None:
    def defined(last: bool) -> Any:
        class Policy:
            def choose(self, view: wb.View) -> Optional[int]:
                return max(view.ready) if last else min(view.ready)

        return Policy

    first, last = defined(False), defined(True)
    runs = [wb.run("bitonic_shared", machine=MACHINE, policy=policy) for policy in (first, last, first)]
    assert [run.policy for run in runs] == ["called:Policy", "called:Policy-2", "called:Policy"]
    assert same(runs[0], runs[2]) and not same(runs[0], runs[1])


def test_policies_work_in_every_command_that_takes_some() -> None:
    gto = wb.run("fig3", policy="gto").makespan
    assert wb.check("fig3", policy=[Gto, "gto"]).results[0].makespan == gto
    assert [row["makespan"] for row in wb.sweep("fig3", machines="paper-fig2", policies=[Gto, "gto"]).rows] == [gto, gto]
    assert wb.run("fig3", machine=wb.machine("paper-fig2", policy=Gto)).makespan == gto
    assert wb.diff(wb.run("fig3", policy=Gto), wb.run("fig3", policy="gto")).difference == 0
    assert wb.run("fig3", policy=Gto).explain().makespan == gto


def test_a_policy_may_run_commands_itself() -> None:
    class Asks(Gto):
        def choose(self, view: wb.View) -> Optional[int]:
            if view.now == 0:
                assert wb.run("fig3", policy=Gto).makespan > 0
            return super().choose(view)

    assert same(wb.run("fig3", policy=Asks), wb.run("fig3", policy="gto"))


def test_a_policy_runs_in_several_threads_at_once() -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(wb.run("saxpy", machine=MACHINE, policy=Gto).makespan)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wb.run("saxpy", machine=MACHINE, policy="gto").makespan] * 4


class Endless:
    def choose(self, view: wb.View) -> Optional[int]:
        while True:
            pass


class Slow(Gto):
    def choose(self, view: wb.View) -> Optional[int]:
        time.sleep(0.001)
        return super().choose(view)


@pytest.mark.parametrize("policy", [Endless, Slow])
def test_a_time_limit_ends_a_policy(policy: Any) -> None:
    began = time.monotonic()
    with pytest.raises(wb.Interrupted) as caught:
        wb.run("saxpy", machine=MACHINE, policy=policy, time_limit=0.2)
    assert time.monotonic() - began < 3
    assert "time limit" in str(caught.value)
    # another run with the same policy is not stopped
    assert same(wb.run("fig3", policy=Gto), wb.run("fig3", policy="gto"))
