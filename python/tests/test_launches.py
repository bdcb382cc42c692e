"""Launches as folders that the command line runs, and kernels of every kind of file."""

from __future__ import annotations

import copy
import gc
import gzip
import json
import pickle
from pathlib import Path

import pytest
from support import COPY, GATHER, KERNELS, MACHINE, printed, program, saxpy

import warpbound as wb

np = pytest.importorskip("numpy")


def launch(n: int = 100) -> wb.Launch:
    x, y = np.arange(n, dtype="f4"), np.ones(n, "f4")
    return saxpy()[2, 64](n, 2.0, x, y)


def of_program(path: Path) -> int:
    found = json.loads(printed("run", path, "--machine", MACHINE, "--format", "json"))
    return int(found["results"][0]["makespan"])


def test_a_launch_that_is_saved_runs_on_the_command_line(tmp_path: Path) -> None:
    program()
    path = launch().save(tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "saxpy.ron"
    expected = wb.run(launch(), machine=MACHINE).makespan
    assert of_program(path) == expected == wb.run(path, machine=MACHINE).makespan


def test_a_launch_with_tables_views_and_scalars_runs_on_the_command_line(tmp_path: Path) -> None:
    program()
    out, part = np.zeros(4, "u4"), np.array([7, 8], "u4")
    path = wb.Kernel(GATHER)[1, 4](out, [part, part[1:], part, out[2:]]).save(tmp_path)
    dumped = tmp_path / "out.bytes"
    printed("run", path, "--machine", MACHINE, "--dump", f"out={dumped}")
    assert dumped.read_bytes()[:8] == np.array([7, 8], "u4").tobytes()


def test_a_folder_that_is_not_empty_is_not_written_to(tmp_path: Path) -> None:
    launch().save(tmp_path)
    with pytest.raises(wb.Error, match="the folder is not empty"):
        launch().save(tmp_path)
    launch(50).save(tmp_path, force=True)
    assert (tmp_path / "x.bin").stat().st_size == 200


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside", tmp_path / "a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(wb.Error):
            launch().save(folder)
    with pytest.raises(wb.Error, match="folder: 5 is no path"):
        launch().save(5)  # type: ignore[arg-type]


def test_an_odd_name_of_the_folder_or_the_file_makes_no_difference(tmp_path: Path) -> None:
    expected = wb.run(launch(), machine=MACHINE).makespan
    code = (KERNELS / "saxpy" / "saxpy.ptx").read_bytes()
    for name in ("two words", "new\nline", 'quo"te', "back\\slash", "-dash", "é", "a,b", "$HOME", "warpbound-abcdefgh", "x=y", "\udcff"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.ptx").write_bytes(code)
        # the command line has only paths of UTF-8
        folder = tmp_path / ("plain" if name == "\udcff" else name)
        kernel = wb.kernel(tmp_path / name / f"{name}.ptx", names=["n", "a", "x", "y"])
        x, y = np.arange(100, dtype="f4"), np.ones(100, "f4")
        one = kernel[2, 64](100, 2.0, x, y)
        assert wb.run(one, machine=MACHINE).makespan == expected
        assert wb.run(one.save(folder / "saved"), machine=MACHINE).makespan == expected
        assert wb.sweep([one, one.save(folder / "again")]).rows[0]["makespan"] == expected


def test_a_packed_module_is_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "copy.ptx.gz"
    path.write_bytes(gzip.compress(COPY.encode()))
    to = bytearray(4)
    wb.run(wb.kernel(path)[1, 32](to, bytearray(b"abcd"), 4), machine=MACHINE)
    assert to == b"abcd"


def test_machine_code_is_a_kernel() -> None:
    x, y = np.arange(100, dtype="f4"), np.ones(100, "f4")
    kernel = wb.kernel(KERNELS / "saxpy" / "saxpy.sm_61.cubin")
    wb.run(kernel[2, 64](100, np.float32(2), x, y), machine="jetson-tx2")
    assert y.tolist() == [2 * i + 1 for i in range(100)]


def test_one_of_several_kernels_is_chosen_by_its_name() -> None:
    path = KERNELS / "activation" / "activation.ptx"
    with pytest.raises(wb.Error, match="several kernels") as caught:
        wb.kernel(path)
    names = caught.value.hint.split("kernels: ")[1].split(", ")
    for name in names:
        assert wb.kernel(path, entry=name).shown_name == name
    for wrong in ("nothing", "", 5):
        with pytest.raises(wb.Error):
            wb.kernel(path, entry=wrong)  # type: ignore[arg-type]


def test_what_is_no_kernel_is_an_error_where_it_is_named() -> None:
    for wrong in ("saxpi", "nothing.ptx", "nothing.ron", "", "-", "a\0b", "a\0b.ptx", "\ud800", MACHINE, 5, None, [], b"\xff"):
        with pytest.raises(wb.Error):
            wb.kernel(wrong)  # type: ignore[arg-type]
    for code in ("", "nonsense", b"\x7fELF", b"\0\1\2", 5, None, "\ud800"):
        with pytest.raises(wb.Error):
            wb.Kernel(code)  # type: ignore[arg-type]


def test_a_kernel_with_its_launch_runs_by_its_name() -> None:
    expected = wb.run("saxpy", machine=MACHINE).makespan
    assert wb.run(wb.kernel("saxpy"), machine=MACHINE).makespan == expected
    assert wb.run(KERNELS / "saxpy" / "saxpy.ron", machine=MACHINE).makespan == expected
    with pytest.raises(wb.Error, match="the launch of this kernel is in its file"):
        wb.kernel("saxpy")[1, 1]
    with pytest.raises(wb.Error, match="the kernel has no launch"):
        wb.run(saxpy())


def test_a_result_keeps_the_files_that_it_needs() -> None:
    run = wb.run(launch(), machine=MACHINE)
    gc.collect()
    # neither the kernel nor the launch exists any more
    assert run.explain().makespan == run.makespan
    again = wb.run("saxpy", machine=MACHINE, policy=wb.run("saxpy", machine=MACHINE, policy="lrr").schedule())
    gc.collect()
    assert again.explain().makespan == again.makespan


def test_copies_of_kernels_launches_and_results_need_nothing_of_the_original() -> None:
    x = np.ones(100, "f4")
    one = saxpy()[2, 64](100, 2.0, x, np.ones(100, "f4"))
    kernel, twin = pickle.loads(pickle.dumps((one.kernel, one)))
    run = pickle.loads(pickle.dumps(wb.run(one, machine=MACHINE)))
    swept = pickle.loads(pickle.dumps(wb.sweep(one)))
    schedule = pickle.loads(pickle.dumps(run.schedule()))
    assert len(swept) == 2
    twins = copy.deepcopy(run)
    del one
    gc.collect()
    assert run.explain().makespan == run.makespan == twins.explain().makespan
    assert wb.run(twin, machine=MACHINE, policy=schedule).makespan == run.makespan
    assert [parameter.name for parameter in kernel.parameters] == ["n", "a", "x", "y"]
    assert (x == 1).all()


def test_a_long_name_of_a_kernel_is_no_problem(tmp_path: Path) -> None:
    long = "k" * 600
    kernel = wb.Kernel(COPY.replace("copy(", f"{long}("))
    to = bytearray(4)
    wb.run(kernel[1, 32](to, bytearray(b"abcd"), 4), machine=MACHINE)
    assert to == b"abcd"
    assert len(kernel[1, 32](to, to, 4).save(tmp_path).name) < 200
