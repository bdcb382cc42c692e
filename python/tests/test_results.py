"""What can be asked of results."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from support import MACHINE

import warpbound as wb


@pytest.fixture(scope="module")
def run() -> wb.Run:
    return wb.run("saxpy", machine=MACHINE, policy="gto")


def test_a_result_has_the_fields_of_the_json(run: wb.Run) -> None:
    data = run.to_dict()
    assert (run.kernel, run.machine, run.policy, run.verdict) == ("saxpy", MACHINE, "gto", "holds")
    assert run.makespan == data["makespan"] == run["makespan"]
    assert set(data) <= set(dir(run))
    assert "makespan" in run and "nothing" not in run
    assert run.bounds["lwb"].value == next(b["value"] for b in data["bounds"] if b["name"] == "lwb")
    assert run.stalls["scoreboard"] > 0


def test_a_field_that_the_output_leaves_out_is_none(run: wb.Run) -> None:
    assert run.explanation is None


def test_an_unknown_field_is_an_error_that_suggests_one(run: wb.Run) -> None:
    with pytest.raises(AttributeError, match="Run has no field `makespam`; did you mean `makespan`?"):
        run.makespam
    with pytest.raises(AttributeError, match="it has kernel, machine"):
        run.zzz
    with pytest.raises(KeyError, match="did you mean `makespan`?"):
        run["makespam"]
    assert not hasattr(run, "zzz")
    assert getattr(run, "zzz", 5) == 5


def test_rows_are_found_by_their_numbers_and_names(run: wb.Run) -> None:
    bounds = run.bounds
    assert bounds.names() == [bound.name for bound in bounds]
    assert bounds["lwb"] == bounds[bounds.names().index("lwb")]
    assert bounds[-1] == bounds[len(bounds) - 1]
    assert bounds[1:].names() == bounds.names()[1:]
    assert "lwb" in bounds and bounds[0] in bounds and "nothing" not in bounds
    assert bounds["lwb"].parts["alone"].cycles > 0
    with pytest.raises(KeyError, match="`lwbb`; there are gub"):
        bounds["lwbb"]
    with pytest.raises(IndexError):
        bounds[99]


def test_rows_are_tables(run: wb.Run) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = run.bounds.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert table["value"].tolist() == [bound.value for bound in run.bounds]
    frame = run.bounds.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["value"].to_list() == [bound.value for bound in run.bounds]
    for rows in (run.units, wb.kernels(), wb.machines(), wb.policies(), wb.bounds(), run.bounds[:0]):
        assert len(rows.to_pandas()) == len(rows.to_polars()) == len(rows)


def test_a_result_is_the_same_after_it_was_copied(run: wb.Run) -> None:
    for twin in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert type(twin) is wb.Run and twin == run
        assert twin.explain().makespan == run.makespan
    for rows in (copy.deepcopy(run.bounds), pickle.loads(pickle.dumps(run.bounds))):
        assert rows == run.bounds and rows["lwb"].value == run.bounds["lwb"].value
    changed = run.to_dict()
    changed["bounds"].clear()
    assert len(run.bounds) > 0


def test_a_run_can_be_repeated_for_its_timeline_its_explanation_and_its_text(run: wb.Run) -> None:
    assert "<html" in run.timeline().html
    assert run.explain().makespan == run.makespan
    assert run.text().startswith(f"saxpy on {MACHINE} under gto: makespan {run.makespan:,} cycles, holds")
    assert run.words == f"saxpy --machine={MACHINE} --policy=gto"


def test_options_of_an_iterator_are_there_when_a_run_is_repeated() -> None:
    run = wb.run("saxpy", machine=MACHINE, set=iter(["units.gmem.lat=300"]))
    assert run.explain().makespan == run.makespan != wb.run("saxpy", machine=MACHINE).makespan


def _shown(value: Any) -> None:
    assert repr(value)
    html = value._repr_html_() if hasattr(value, "_repr_html_") else value._repr_svg_()
    assert html.startswith("<") and html.count("<table") == html.count("</table")


def test_every_result_is_shown_as_text_and_html(run: wb.Run) -> None:
    results = [
        run, run.bounds, run.bounds[0], run.explain(), run.timeline(), run.schedule, wb.check("saxpy"), wb.compare("vecadd"),
        wb.static("saxpy"), wb.wcet("saxpy", runs=10), wb.hybrid("saxpy"), wb.cfg("saxpy"), wb.diff("saxpy", "saxpy --policy lrr"),
        wb.why("saxpy", "saxpy --policy lrr"), wb.inspect("saxpy"), wb.inspect(MACHINE), wb.kernels(), wb.machines(), wb.bounds(),
        wb.explore("fig3"), wb.run("sgemm_naive", machine="rtx3070"), wb.run("bfs_program"),
    ]  # fmt: skip
    for result in results:
        if not callable(result):
            _shown(result)


def test_text_in_html_is_escaped() -> None:
    class A(wb.Record):
        """A record with a name that would be a tag."""

    record = A({"name": "<script>", "rows": [{"<b>": "<i>"}], "inner": {"<u>": 1}})
    rows = wb.Rows([{"<b>": "<i>"}])
    for html in (record._repr_html_(), rows._repr_html_()):
        assert not any(tag in html for tag in ("<script>", "<i>", "<u>"))
    assert wb.Page("<p title=\"'\">")._repr_html_().count("<p") == 0


def test_pages_and_pictures_are_saved(tmp_path: Any) -> None:
    run = wb.run("fig3")
    run.timeline().save(tmp_path / "timeline.html")
    assert (tmp_path / "timeline.html").read_text() == run.timeline().html
    graph = wb.cfg("saxpy")
    assert "<svg" in graph.svg
    run.schedule().save(tmp_path / "fig3.replay")
    assert wb.run("fig3", policy=f"replay:{tmp_path / 'fig3.replay'}").makespan == run.makespan
