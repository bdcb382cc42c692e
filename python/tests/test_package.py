"""The package as a whole: its types, its import, and what is generated."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import PACKAGE, ROOT, environment

import warpbound as wb


def test_the_classes_of_results_are_those_of_the_schemas(tmp_path: Path) -> None:
    if not (ROOT / "schemas").is_dir():
        pytest.skip("the schemas are in the repository only")
    subprocess.run([sys.executable, PACKAGE / "generate_records.py", ROOT / "schemas", tmp_path], check=True)
    records = PACKAGE / "warpbound" / "records"
    assert sorted(path.name for path in tmp_path.glob("*.py")) == sorted(path.name for path in records.glob("*.py") if path.stem != "__init__")
    for path in tmp_path.glob("*.py"):
        assert path.read_text() == (records / path.name).read_text(), f"python generate_records.py ../schemas warpbound/records writes {path.name}"


def _mypy(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    # the cache beside the package makes a second run fast
    cache = PACKAGE / ".mypy_cache"
    command = [sys.executable, "-m", "mypy", "--cache-dir", cache, *words]
    return subprocess.run(command, cwd=cwd, env=environment(MYPYPATH=str(PACKAGE)), capture_output=True, text=True)


def test_the_package_has_strict_types() -> None:
    checked = _mypy(cwd=PACKAGE)
    assert checked.returncode == 0, checked.stdout


PROGRAM = """
from typing import Optional

import warpbound as wb


class Youngest:
    def choose(self, view: wb.View) -> Optional[int]:
        return max(view.ready)


machine: wb.Machine = wb.machine("ecrts25-orin", policy="lrr", settings={"units.gmem.lat": 199}, exit_issues=True)
run: wb.Run = wb.run("saxpy", machine=machine, policy=Youngest, seed=1)
again: wb.Run = wb.run("saxpy", policy=run.schedule(), mem_latency=100)
cycles: int = run.makespan or 0
value: Optional[int] = run.bounds["lwb"].value
names: list[str] = [bound.name for bound in run.bounds]
sweep: wb.Sweep = wb.sweep(["saxpy"], policies=["gto", Youngest], settings={"mem_latency": range(100, 200, 10)})
page: wb.Page = run.timeline()
picture: wb.Picture = sweep.plot("cycles", over="mem_latency")
check: wb.Check = wb.check(["saxpy"], machine=["ecrts25-orin"], policy=["gto", Youngest])
kernels: list[str] = [kernel.name for kernel in wb.kernels("saxpy")]
difference: int = wb.diff(run, again).difference
kernel = wb.Kernel("", names=["a"])
launch: wb.Launch = kernel[(1, 2), 32](1.5)
error: type[Exception] = wb.Error
"""


def test_a_program_that_uses_the_package_has_strict_types(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    checked = _mypy("--strict", "--config-file", PACKAGE / "pyproject.toml", "program.py", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    (tmp_path / "wrong.py").write_text(f"{PROGRAM}\nrun.makespan + 'x'\nwb.run(5)\nrun.bounds['lwb'].valu\n")
    checked = _mypy("--strict", "--config-file", PACKAGE / "pyproject.toml", "wrong.py", cwd=tmp_path)
    assert checked.stdout.count("error:") >= 2, checked.stdout


def test_the_import_is_fast_and_needs_no_other_package() -> None:
    script = """
import sys, time
began = time.perf_counter()
import warpbound
seconds = time.perf_counter() - began
import json
others = sorted({name.split(".")[0] for name in sys.modules} & {"numpy", "pandas", "polars", "triton", "numba", "torch", "tqdm", "ctypes"})
print(json.dumps([seconds, others]))
"""
    found = [json.loads(subprocess.run([sys.executable, "-c", script], env=environment(), check=True, capture_output=True).stdout) for _ in range(3)]
    assert min(seconds for seconds, _ in found) < 0.3
    assert found[0][1] == []


def test_every_public_name_exists_and_is_documented() -> None:
    assert sorted(wb.__all__) == wb.__all__
    for name in wb.__all__:
        assert inspect.getdoc(getattr(wb, name)), name
    assert wb.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="module 'warpbound' has no attribute 'nothing'"):
        wb.nothing
