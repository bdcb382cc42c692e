"""Sweeps have a row for each combination, as on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from support import COPY, MACHINE, printed, program, saxpy

import warpbound as wb

np = pytest.importorskip("numpy")

PLAN = f"""Sweep(
    kernels: [Kernel("saxpy"), Kernel("vecadd")], machines: ["{MACHINE}"],
    settings: {{ "mem_latency": [100, 200], "hazards": ["Raw,Waw", "Raw"] }},
    policies: ["gto", "random:3"], seeds: [0, 7],
)
"""


def swept(**options: Any) -> wb.Sweep:
    settings = {"mem_latency": range(100, 201, 100), "hazards": ["Raw,Waw", "Raw"]}
    return wb.sweep(["saxpy", "vecadd"], settings=settings, policies=["gto", "random:3"], seeds=[0, 7], **options)


def test_the_rows_are_those_of_the_command_line(tmp_path: Path) -> None:
    program()
    (tmp_path / "plan.ron").write_text(PLAN)
    printed("sweep", tmp_path / "plan.ron", "--out", tmp_path / "results")
    with open(tmp_path / "results" / "results.csv", newline="") as file:
        expected = [{name: value for name, value in row.items() if name != "checksum"} for row in csv.DictReader(file)]
    rows = swept().rows
    assert len(rows) == 32
    assert [{name: _written(value) for name, value in row.items()} for row in rows] == expected


def _written(value: Any) -> str:
    return "" if value is None else str(value)


def test_a_sweep_is_a_table() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    sweep = swept()
    assert len(sweep) == len(sweep.to_pandas()) == len(sweep.to_polars()) == 32
    assert sweep.to_pandas()["makespan"].tolist() == sweep.to_polars()["makespan"].to_list()
    assert "32 points" in repr(sweep) and "<table" in sweep._repr_html_()


def test_a_plan_can_be_a_file_or_embedded(tmp_path: Path) -> None:
    (tmp_path / "plan.ron").write_text(PLAN)
    assert wb.sweep(plan=tmp_path / "plan.ron").rows == swept().rows
    with pytest.raises(wb.Interrupted):
        wb.sweep(plan="table4", time_limit=0.01)


def test_one_value_needs_no_list() -> None:
    sweep = wb.sweep("saxpy", machines=MACHINE, policies="gto", settings={"mem_latency": np.int64(100)}, seeds=3)
    assert [(row["mem_latency"], row["policy"], row["seed"]) for row in sweep.rows] == [(100, "gto", 3)]
    assert len(wb.sweep("saxpy", machines=wb.machine(MACHINE), policies=("gto", "lrr"), settings={"mem_latency": np.arange(100, 300, 100)})) == 4


def test_launches_can_be_swept() -> None:
    x, y = np.ones(100, "f4"), np.ones(100, "f4")
    launches = [saxpy()[1, 32 * n](100, 2.0, x, y) for n in (1, 2)] + [wb.Kernel(COPY, file="saxpy.ptx")[1, 32](x, y, 4)]
    sweep = wb.sweep([*launches, "vecadd"], policies="gto")
    assert [row["kernel"] for row in sweep.rows] == ["saxpy.ron", "saxpy-2.ron", "copy.ron", "vecadd"]
    assert [row["makespan"] for row in sweep.rows[:3]] == [wb.run(one, machine=MACHINE).makespan for one in launches]


def test_a_point_that_fails_has_an_error_in_its_row() -> None:
    launch = saxpy()[1, 128](100, 2.0, np.ones(50, "f4"), np.ones(100, "f4"))
    rows = wb.sweep([launch, "vecadd"], policies="gto").rows
    assert rows[0]["error"].startswith("saxpy.ptx:38:") and "buffer `x`" in rows[0]["error"]
    assert (rows[0]["makespan"], rows[1]["error"]) == (None, None)


def test_a_sweep_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = swept(out=out).rows
    lines = (out / "results.jsonl").read_text().splitlines(keepends=True)
    (out / "results.jsonl").write_text("".join(lines[:10]))
    assert swept(out=out, resume=True).rows == rows
    assert wb.load_sweep(out).rows == rows


def test_a_sweep_of_a_launch_can_be_resumed_in_another_process(tmp_path: Path) -> None:
    def one() -> wb.Launch:
        return saxpy()[1, 128](100, 2.0, np.ones(100, "f4"), np.ones(100, "f4"))

    rows = wb.sweep(one(), out=tmp_path / "out").rows
    # another object has another temporary folder
    assert wb.sweep(one(), out=tmp_path / "out", resume=True).rows == rows


def test_a_folder_with_other_results_is_an_error(tmp_path: Path) -> None:
    wb.sweep("saxpy", out=tmp_path / "out")
    for options in ({}, {"resume": True}):
        with pytest.raises(wb.Error, match="the folder has other results"):
            wb.sweep("vecadd", out=tmp_path / "out", **options)


def test_a_sweep_that_stops_at_its_time_limit_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(wb.Interrupted, match="resume=True goes on"):
        wb.sweep("sgemm_naive_large", out=tmp_path / "out", time_limit=0.1)
    assert (tmp_path / "out" / "manifest.json").exists()


def test_a_sweep_is_saved(tmp_path: Path) -> None:
    sweep = swept()
    assert wb.load_sweep(sweep.save(tmp_path / "saved")).rows == sweep.rows
    assert len(json.loads((tmp_path / "saved" / "manifest.json").read_text())) > 0
    with pytest.raises(wb.Error, match="File exists"):
        sweep.save(tmp_path / "saved")


def test_what_is_no_folder_of_results_is_an_error(tmp_path: Path) -> None:
    for name, content in (("a", b"nonsense"), ("b", b"\xff"), ("c", b"5\n"), ("d", b"[]\n"), ("e", b"{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.jsonl").write_bytes(content)
    for folder in [tmp_path / name for name in "abcde"] + [tmp_path, "nothing", "a\0b", "\ud800", 5]:
        with pytest.raises(wb.Error):
            wb.load_sweep(folder)  # type: ignore[arg-type]


def test_a_sweep_is_plotted_and_reported(tmp_path: Path) -> None:
    sweep = swept()
    for picture in (
        sweep.plot(), sweep.plot("ipc", by="policy"), sweep.plot("slowdown", over="mem_latency", by="policy", panels="kernel"),
        sweep.plot("lwb_overestimation", over="kernel"), sweep.plot("ecdf(cycles)"),
    ):  # fmt: skip
        assert picture._repr_svg_().startswith("<svg")
    picture.save(str(tmp_path / "plot.svg"))
    assert (tmp_path / "plot.svg").read_text() == picture.svg
    assert "<html" in sweep.report().html
    assert "<html" in wb.report([sweep, sweep.save(tmp_path / "two")]).html
    with pytest.raises(wb.Error, match="`nonsense` is no column of the results"):
        sweep.plot("nonsense")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"kernels": "saxpi"}, "saxpi: no embedded kernel of this name"),
        ({"kernels": None}, "kernels: there is nothing to run"),
        ({"kernels": []}, "`kernels` is empty"),
        ({"kernels": 5}, "5 is no kernel"),
        ({"machines": "orin"}, "orin: no embedded machine of this name"),
        ({"machines": []}, "`machines` is empty"),
        ({"machines": 5}, "machines: 5 is no path and no name"),
        ({"machines": wb.machine(MACHINE, mem_latency=5)}, "machine `ecrts25-orin`: machines of a sweep have no settings"),
        ({"policies": "gtx"}, "unknown policy `gtx`"),
        ({"policies": 5}, "policy: 5 is no policy"),
        ({"settings": {"zzz": 1}}, "no machine setting `zzz`"),
        ({"settings": {"mem_latency": []}}, "`mem_latency` has no values"),
        ({"settings": {"mem_latency": None}}, "mem_latency: None is no number, text or path"),
        ({"settings": 5}, "settings: 5 is no dictionary"),
        ({"seeds": "a"}, "seeds: 'a' is no whole number"),
        ({"seeds": -1}, "seeds: -1 is no whole number"),
        ({"seeds": 1.5}, "seeds: 1.5 is no whole number"),
        ({"plan": "nothing.ron"}, "nothing.ron: "),
        ({"out": 5}, "out: 5 is no path"),
        ({"outt": 5}, "unexpected argument 'outt' found"),
    ],
)
def test_a_wrong_sweep_is_an_error_that_says_what_is_wrong(options: dict[str, Any], shown: str) -> None:
    with pytest.raises(wb.Error) as caught:
        wb.sweep(**{"kernels": "saxpy", **options})
    assert shown in str(caught.value)
    assert "plan.ron" not in str(caught.value)
