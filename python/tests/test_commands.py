"""Every command of the package answers as the command line does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import pytest
from support import MACHINE, printed, program, saxpy

import warpbound as wb

np = pytest.importorskip("numpy")

# a call, and the command line with the same answer
CALLS: list[tuple[str, Callable[[], Any]]] = [
    ("run saxpy --policy lrr --mem-latency 300", lambda: wb.run("saxpy", policy="lrr", mem_latency=300)),
    ("run saxpy --set units.gmem.lat=99", lambda: wb.run("saxpy", settings={"units.gmem.lat": 99})),
    ("run bfs_program", lambda: wb.run("bfs_program")),
    ("explore fig3", lambda: wb.explore("fig3")),
    ("static saxpy", lambda: wb.static("saxpy")),
    ("static loopbreak --loop-bound 14=9", lambda: wb.static("loopbreak", loop_bounds={14: 9})),
    ("wcet saxpy --runs 5 --policy gto,lrr", lambda: wb.wcet("saxpy", runs=5, policy=["gto", "lrr"])),
    ("hybrid bfs_expand", lambda: wb.hybrid("bfs_expand")),
    ("pwcet bfs_expand --runs 200", lambda: wb.pwcet("bfs_expand", runs=200)),
    ("cfg saxpy", lambda: wb.cfg("saxpy")),
    ("inspect saxpy", lambda: wb.inspect("saxpy")),
    (f"inspect {MACHINE}", lambda: wb.inspect(MACHINE)),
]


@pytest.mark.parametrize("case", range(len(CALLS)))
def test_a_command_answers_as_the_command_line_does(case: int) -> None:
    line, call = CALLS[case]
    program()
    try:
        result = call().to_dict()
    except wb.Error as error:
        # the same errors, too
        result = None
        found = json.loads(_failing(line))
        assert [problem.message for problem in error.problems] == [p["message"] for p in found["errors"]]
    if result is not None:
        assert result == json.loads(printed(*line.split(), "--format", "json"))["results"][0]


def _failing(line: str) -> str:
    import subprocess

    return subprocess.run([program(), *line.split(), "--format", "json"], capture_output=True, text=True).stdout


def test_diff_and_why_compare_two_runs() -> None:
    a, b = wb.run("saxpy", machine=MACHINE, policy="lrr"), wb.run("saxpy", machine=MACHINE)
    assert wb.diff(a, b).difference == b.makespan - a.makespan
    assert wb.diff("saxpy --policy lrr", b).lines == wb.diff(a, b).lines
    why = wb.why(a, b)
    assert why.difference == a.makespan - b.makespan
    assert why.sentence.startswith("lrr takes") and why.sentence in str(why)


def test_diff_compares_runs_of_launches() -> None:
    launch = saxpy()[2, 128](1000, 2.0, np.ones(1000, "f4"), np.ones(1000, "f4"))
    a, b = wb.run(launch, machine=MACHINE, policy="lrr"), wb.run(launch, machine=MACHINE, mem_latency=400)
    assert wb.diff(a, b).difference == b.makespan - a.makespan


def test_check_judges_several_kernels_machines_and_policies() -> None:
    check = wb.check(["saxpy", "vecadd"], machine=[MACHINE, "ecrts25-orin-4sub"], policy=["gto", "lrr"])
    assert len(check.results) == 8
    assert all(result.verdict == "holds" for result in check.results)
    assert check.answers is not None and len(check.answers) == 4


def test_compare_states_which_policy_is_the_fastest() -> None:
    found = wb.compare("saxpy", policy=["gto", "lrr"], over="mem_latency=100,400")
    assert found.results


def test_commands_take_launches() -> None:
    launch = saxpy()[1, 64](100, 2.0, np.ones(100, "f4"), np.ones(100, "f4"))
    for call in (wb.check, wb.compare, wb.explore, wb.static, wb.cfg, wb.inspect):
        assert "saxpy" in repr(call(launch).to_dict()), call.__name__
    assert wb.wcet(launch, runs=1).kernel == "saxpy"


def test_a_machine_has_a_policy_and_settings() -> None:
    plain = wb.run("saxpy", machine=MACHINE, policy="lrr", mem_latency=300, settings={"exit_issues": False})
    machine = wb.machine(MACHINE, policy="lrr", mem_latency=300, exit_issues=False)
    assert wb.run("saxpy", machine=machine) == plain
    # what is stated at the call takes precedence
    other = wb.run("saxpy", machine=machine, policy="gto", mem_latency=100, settings={"exit_issues": True})
    assert other == wb.run("saxpy", machine=MACHINE, policy="gto", mem_latency=100, settings={"exit_issues": True})
    assert wb.machine(MACHINE, scheduler="lrr").policy == "lrr"
    assert machine.inspect().name == MACHINE == wb.inspect(machine).name
    assert repr(machine) == "machine('ecrts25-orin', policy='lrr', mem_latency=300, settings={'exit_issues': False})"
    with pytest.raises(wb.Error, match="machines of a list have no settings of their own"):
        wb.check("saxpy", machine=[wb.machine(MACHINE, mem_latency=0)])


def test_what_is_no_machine_is_an_error_where_it_is_named() -> None:
    for wrong in ("orin", "saxpy", "nothing.ron", "", "-", 5, None, b"\xff"):
        with pytest.raises(wb.Error):
            wb.machine(wrong)  # type: ignore[arg-type]
    for options in ({"policy": 5}, {"settings": 5}, {"settings": {"x": None}}, {"x": object}):
        with pytest.raises(wb.Error):
            wb.machine(MACHINE, **options)


def test_lists_can_be_searched() -> None:
    assert wb.kernels()["saxpy"].suite is True
    assert "saxpy" in wb.kernels("saxpy") and len(wb.kernels("saxpy")) < len(wb.kernels())
    assert len(wb.kernels("no", "such", "kernel")) == 0
    assert MACHINE in wb.machines() and "gto" in wb.policies() and "lwb" in wb.bounds()
    with pytest.raises(wb.Error, match="5 is no text"):
        wb.kernels(5)  # type: ignore[arg-type]


def test_terms_are_explained() -> None:
    assert "scoreboard" in wb.explain("scoreboard")
    assert "scoreboard" in wb.explain()
    with pytest.raises(wb.Error, match="no term `nonsense`") as caught:
        wb.explain("nonsense")
    assert caught.value.hint == "`warpbound.explain()` lists all terms"


def test_measured_times_are_fitted(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    values = np.random.default_rng(1).gumbel(1000, 10, 1000).round(1)
    path.write_text("cycles\n" + "\n".join(map(str, values)) + "\n")
    try:
        found = wb.pwcet(path, html=str(tmp_path / "page.html"))
    except wb.Error as error:
        # whether a curve fits is the matter of the command; what it has found is there
        assert error.result["results"]
    else:
        assert found.unit
        assert "<html" in (tmp_path / "page.html").read_text()


def test_traces_of_runs_are_read(tmp_path: Path) -> None:
    wb.run("bfs_expand", trace=tmp_path / "a.ipoints")
    simulated = wb.hybrid("bfs_expand", runs=1)
    assert wb.hybrid("bfs_expand", traces=[tmp_path / "a.ipoints"]).high_water == simulated.high_water
    assert wb.hybrid("bfs_expand", traces=tmp_path / "a.ipoints").high_water == simulated.high_water  # type: ignore[arg-type]


def test_a_file_that_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    wb.run("fig3", trace=path)
    with pytest.raises(wb.Error, match="exists"):
        wb.run("fig3", trace=path)
    wb.run("fig3", trace=path, force=True)
