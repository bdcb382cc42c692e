"""Calls can be stopped, leave other threads alone, and warn where they are made."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import MACHINE, environment

import warpbound as wb

LONG = "sgemm_naive_large"


def _interrupted(code: str, after: float = 1.0, signals: int = 1) -> tuple[int, str, float]:
    """Runs Python code and sends it Ctrl-C. Returns its exit code, what it printed, and the seconds
    until its end."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    time.sleep(after)
    began = time.monotonic()
    for _ in range(signals):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    try:
        printed, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    return process.returncode, printed, time.monotonic() - began


BEGIN = "import warpbound as wb\nprint('begins', flush=True)\n"


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_stops_a_run() -> None:
    code, printed, seconds = _interrupted(f"{BEGIN}wb.run('{LONG}')")
    assert "KeyboardInterrupt" in printed and code != 0
    assert seconds < 6


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_program_goes_on_after_ctrl_c() -> None:
    code, printed, _ = _interrupted(
        f"{BEGIN}try:\n    wb.sweep('{LONG}')\nexcept KeyboardInterrupt:\n    print(wb.run('fig3').makespan)", 0.5
    )
    assert (code, printed) == (0, f"{wb.run('fig3').makespan}\n")


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_stops_a_policy_in_python() -> None:
    policy = "class P:\n    def choose(self, view): return view.ready[0]\n"
    code, printed, seconds = _interrupted(f"{policy}{BEGIN}wb.run('voronoi_64_waves', policy=P)")
    assert "KeyboardInterrupt" in printed and code != 0
    assert seconds < 6


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("catches", [0, 140])
def test_ctrl_c_stops_a_policy_that_does_not_return(catches: int) -> None:
    # with 140 it takes longer than the run waits, so that Python waits when it ends
    policy = f"""
def spin():
    while True: pass
class P:
    def choose(self, view):
        for _ in range({catches}):
            try:
                spin()
            except KeyboardInterrupt:
                pass
        spin()
"""
    code, printed, seconds = _interrupted(f"{policy}{BEGIN}wb.run('fig3', policy=P)")
    assert "KeyboardInterrupt" in printed and code in (1, -signal.SIGINT), (code, printed)
    assert (seconds > 5) == (catches == 140)


def test_a_time_limit_stops_a_run() -> None:
    began = time.monotonic()
    with pytest.raises(wb.Interrupted, match="the time limit passed before the result was complete") as caught:
        wb.run(LONG, time_limit=0.3)
    assert time.monotonic() - began < 5
    assert caught.value.result["complete"] is False


def test_the_interpreter_is_free_during_a_run() -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(wb.Interrupted):
        wb.run(LONG, time_limit=0.5)
    done.set()
    thread.join()
    assert counted > 20


def test_several_threads_have_the_results_of_one() -> None:
    kernels = ["saxpy", "vecadd", "bfs_expand", "fig3", "saxpi", "bitonic_shared"] * 4

    def result(kernel: str) -> Any:
        try:
            return wb.run(kernel).to_dict()
        except wb.Error as error:
            return str(error)

    expected = [result(kernel) for kernel in kernels]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(result, kernels)) == expected


def test_a_warning_is_one_of_python_at_the_line_of_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _warning_call()
    assert [str(warning.message) for warning in caught] == ["saxpy.ron: the 3 inputs are equal, because no buffer has random contents"]
    assert caught[0].filename == __file__


def _warning_call() -> None:
    from support import saxpy

    launch = saxpy()[1, 32](1, 1.0, bytearray(4), bytearray(4))
    wb.wcet(launch, runs=3)


def test_each_thread_has_the_warnings_of_its_own_calls() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(4) as pool:
            others = [pool.submit(wb.run, "saxpy") for _ in range(20)]
            warns = [pool.submit(_warning_call) for _ in range(3)]
            for future in [*others, *warns]:
                future.result()
    assert len(caught) == 3
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_was_forked_can_run_and_removes_nothing() -> None:
    from support import saxpy

    kernel = saxpy()
    run = wb.run(kernel[1, 32](1, 1.0, bytearray(4), bytearray(4)), machine=MACHINE)
    script = f"""
import os, sys
{BEGIN}
kernel = wb.kernel({str(kernel.path)!r})
run = wb.run(kernel[1, 32](1, 1.0, bytearray(4), bytearray(4)))
child = os.fork()
if child == 0:
    assert wb.run("saxpy").makespan and len(wb.sweep(["saxpy", "vecadd"])) == 4
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert run.explain().makespan == run.makespan and kernel.path.exists()
"""
    subprocess.run([sys.executable, "-c", script], env=environment(), check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert run.explain().makespan == run.makespan


def test_processes_of_a_pool_return_results_and_errors(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(
        """
import multiprocessing, sys
import warpbound as wb

def job(kernel):
    return wb.run(kernel)

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            runs = pool.map(job, ["saxpy", "vecadd", "fig3"])
            assert runs == [wb.run(run.kernel) for run in runs]
            assert runs[0].explain().makespan == runs[0].makespan
            try:
                pool.map(job, ["saxpi"])
            except wb.Error as error:
                assert error.file == "saxpi", error
            else:
                raise AssertionError
"""
    )
    subprocess.run([sys.executable, tmp_path / "jobs.py"], env=environment(), check=True, timeout=60)


def test_temporary_folders_are_removed(tmp_path: Path) -> None:
    script = f"""{BEGIN}
kernel = wb.Kernel(open({str(Path(__file__).parent.parent.parent / "kernels/saxpy/saxpy.ptx")!r}).read())
run = wb.run(kernel[1, 32](1, 1.0, bytearray(4), bytearray(4)))
sweep, schedule = wb.sweep(["saxpy"]), run.schedule()
run.timeline()
"""
    subprocess.run(
        [sys.executable, "-c", script], env=environment(TMPDIR=str(tmp_path)), check=True, timeout=60, stdout=subprocess.DEVNULL
    )
    assert list(tmp_path.iterdir()) == []


def test_many_results_can_be_alive_and_collected_during_runs() -> None:
    from support import saxpy

    kernel = saxpy()
    runs = [wb.run(kernel[1, 32](1, 1.0, bytearray(4), bytearray(4)), machine=MACHINE) for _ in range(100)]
    done = threading.Event()

    def collect() -> None:
        while not done.is_set():
            if runs:
                runs.pop()
            gc.collect()

    thread = threading.Thread(target=collect)
    thread.start()
    found = {wb.run(kernel[1, 32](1, 1.0, bytearray(4), bytearray(4)), machine=MACHINE).makespan for _ in range(50)}
    done.set()
    thread.join()
    assert len(found) == 1


def test_a_folder_for_temporary_files_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(wb.Error, match="no temporary folder can be made"):
        wb.sweep("saxpy")


def test_the_package_can_be_imported_again() -> None:
    script = f"""{BEGIN}
import importlib, sys
class P:
    def choose(self, view): return view.ready[0]
first = wb.run("fig3", policy=P).makespan
importlib.reload(wb)
assert wb.run("fig3", policy=P).makespan == first
for name in [name for name in sys.modules if name.startswith("warpbound")]:
    del sys.modules[name]
import warpbound as wb
assert wb.run("fig3", policy=P).makespan == first
"""
    subprocess.run([sys.executable, "-c", script], env=environment(), check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert importlib.reload(wb) is wb


def test_a_deleted_working_folder_is_no_problem(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f"""{BEGIN}
import os
os.chdir({str(folder)!r})
os.rmdir({str(folder)!r})
assert wb.run("saxpy").makespan and len(wb.sweep("saxpy")) == 2
try:
    wb.run("nothing.ptx")
except wb.Error:
    pass
"""
    subprocess.run([sys.executable, "-c", script], env=environment(), check=True, timeout=60, stdout=subprocess.DEVNULL)


def test_a_progress_bar_that_fails_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    from warpbound import _call

    class Fails:
        desc = ""

        def __getattr__(self, name: str) -> Any:
            raise OSError("the terminal is gone")

    def fails(bar: Any) -> None:
        bar._bar, bar._shown = Fails(), 0.0

    monkeypatch.setattr(_call, "_PATIENCE", 0.0)
    monkeypatch.setattr(_call._Bar, "__init__", fails)
    with pytest.raises(wb.Interrupted):
        wb.run(LONG, time_limit=0.5)


@pytest.mark.parametrize("stream", ["None", "open(os.devnull)", "object()"])
def test_a_long_run_needs_no_stderr(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from warpbound import _call

    monkeypatch.setattr(_call, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", eval(stream))
    with pytest.raises(wb.Interrupted):
        wb.run(LONG, time_limit=0.3)


def test_any_exception_while_waiting_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from warpbound import _call

    calls: list[Any] = []

    class Fails:
        def __init__(self) -> None:
            raise SystemExit

    native = type("native", (), {"Call": _call._native.Call})
    monkeypatch.setattr(_call, "_native", native)
    real = native.Call

    def kept(words: Any) -> Any:
        calls.append(real(words))
        return calls[-1]

    monkeypatch.setattr(native, "Call", staticmethod(kept))
    monkeypatch.setattr(_call, "_PATIENCE", 0.0)
    monkeypatch.setattr(_call, "_Bar", Fails)
    with pytest.raises(SystemExit):
        wb.run(LONG)
    assert calls[0].ends_within(5000)
