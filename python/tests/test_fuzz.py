"""Wrong values in every argument give errors of warpbound, and change nothing.

WARPBOUND_FUZZ=SECONDS tries more values than the default, and WARPBOUND_FUZZ_SEED=N other ones.
"""

from __future__ import annotations

import faulthandler
import os
import random
import re
import time
import warnings
from pathlib import Path
from typing import Any, Callable

import pytest

np = pytest.importorskip("numpy")

from support import COPY, GATHER, MACHINE, STRUCT, keeping, saxpy  # noqa: E402
from wrong_values import TEXTS, an_array, value  # noqa: E402

import warpbound as wb  # noqa: E402

SECONDS = float(os.environ.get("WARPBOUND_FUZZ", 4))
SEED = int(os.environ.get("WARPBOUND_FUZZ_SEED", 0))
# seconds after which a call hangs
PATIENCE = 100

# options of commands; those that are limits are never left out, so that nothing takes long
OPTIONS = (
    "seed", "set", "explain", "trace", "html", "dump", "force", "grid", "block", "arg", "entry", "launch", "sm_threads", "timings", "bound",
    "over", "loop_bound", "gantt", "resume", "checkpoint", "verbose", "quiet", "color", "table", "format", "out", "help", "max_memory",
)  # fmt: skip
LIMITS: dict[str, Any] = {"time_limit": 1, "max_instructions": 100_000}


def chosen(r: random.Random, right: dict[str, Any], wrong: int) -> dict[str, Any]:
    """Returns arguments of which about this number is wrong, and the others right or left out."""
    found = {name: one for name, one in right.items() if r.random() < 0.5}
    for _ in range(wrong):
        found[r.choice(list(right))] = value(r)
    return found


def options(r: random.Random) -> dict[str, Any]:
    found = dict(LIMITS)
    if r.random() < 0.3:
        found[r.choice(OPTIONS)] = value(r)
    return found


def common(r: random.Random) -> dict[str, Any]:
    return {
        "machine": r.choice((MACHINE, "ecrts25-orin-4sub", "rtx3070")),
        "policy": r.choice(("gto", "lrr")),
        "mem_latency": r.choice((5, 100)),
        "settings": {r.choice(("units.gmem.lat", "mem_latency", "hazards", "exit_issues", "limits.blocks")): r.choice((5, True, "Raw", 0))},
    }


def a_launch(r: random.Random) -> wb.Launch:
    kernels = [saxpy(), wb.Kernel(COPY), wb.Kernel(GATHER), wb.Kernel(STRUCT), wb.Kernel(keeping("s32")), wb.Kernel(keeping("f64"))]
    kernel = r.choice(kernels)
    grid = value(r) if r.random() < 0.1 else r.choice((1, 2, (1, 2, 1)))
    block = value(r) if r.random() < 0.1 else r.choice((1, 32, 100, (8, 4)))
    given = [an_array(r) if p.size == 8 and r.random() < 0.7 else r.choice((1, 2.5, 8, value(r))) for p in kernel.parameters]
    if r.random() < 0.2:
        # some of them may share memory
        whole = np.zeros(64, "u1")
        given = [whole[r.randrange(32) :][: r.randrange(33)] if isinstance(one, np.ndarray) else one for one in given]
    return kernel[grid, block](*given[: len(given) - (r.random() < 0.05)])  # type: ignore[no-any-return]


def runs_a_launch(r: random.Random) -> None:
    launch = a_launch(r)
    before = [(one, bytes(one.bytes)) for one in launch.arrays.values()]
    try:
        wb.run(launch, **chosen(r, common(r), r.random() < 0.3), **options(r))
    except wb.Error:
        assert all(bytes(one.bytes) == content for one, content in before), "an array was changed"
        raise


def uses_a_result(r: random.Random) -> None:
    run = wb.run("fig3", policy=r.choice(("gto", "lrr")))
    call = r.choice((run.explain, run.timeline, run.schedule, run.text, run._repr_html_, run.to_dict))
    call()


def makes_a_kernel(r: random.Random) -> None:
    code = bytearray(r.choice((COPY, GATHER, STRUCT)).encode())
    for _ in range(r.randrange(4)):
        code[r.randrange(len(code))] = r.randrange(256)
    right = {"code": bytes(code), "file": r.choice(TEXTS), "entry": "copy", "names": ["a", "b"], "sources": {}}
    kernel = wb.Kernel(**{"code": COPY, **chosen(r, right, r.randrange(3))})
    assert len({parameter.name for parameter in kernel.parameters}) == len(kernel.parameters)
    repr(kernel)


def saves_a_launch(r: random.Random) -> None:
    a_launch(r).save(value(r) if r.random() < 0.5 else r.choice(("out", "out2", Path("out3"))), force=True)


def sweeps(r: random.Random) -> None:
    right = {
        "machines": [MACHINE], "policies": ["gto", "lrr"], "settings": {"mem_latency": [5, 10]}, "seeds": [1], "out": f"sweep{r.random()}",
        "kernels": ["saxpy"], "plan": "plan.ron", "resume": True,
    }  # fmt: skip
    found = wb.sweep(**{"kernels": "saxpy", **chosen(r, right, 1 + r.randrange(2))}, time_limit=1)
    repr(found), found._repr_html_()


# the name of each call, for messages, is that of its function
CALLS: list[Callable[[random.Random], object]] = [
    runs_a_launch, runs_a_launch, runs_a_launch, uses_a_result, makes_a_kernel, saves_a_launch, sweeps, sweeps,
    lambda r: wb.run(r.choice((value(r), "saxpy", "fig3")), **chosen(r, common(r), 1), **options(r)),
    lambda r: wb.run("saxpy", **{r.choice(TEXTS): value(r)}, **LIMITS),
    lambda r: wb.machine(r.choice((value(r), MACHINE)), **chosen(r, {"policy": "gto", "scheduler": "lrr", "mem_latency": 5, "settings": {}, "sub_cores": 4}, 1)),
    lambda r: wb.run("saxpy", machine=wb.machine(MACHINE, **chosen(r, {"policy": "gto", "mem_latency": 5, "settings": {}, "x": 4}, 1)), **LIMITS),
    lambda r: wb.kernel(value(r), **chosen(r, {"entry": "copy", "names": ["a"]}, r.randrange(2))),
    lambda r: wb.kernel(value(r))[value(r)](value(r)),
    lambda r: saxpy()[value(r), value(r), value(r)],
    lambda r: wb.check(r.choice((value(r), "fig3", ["fig3", "saxpy"])), **chosen(r, common(r), 1), **options(r)),
    lambda r: wb.compare(r.choice((value(r), "fig3")), **chosen(r, common(r), 1), **options(r)),
    lambda r: wb.static(r.choice((value(r), "saxpy")), **chosen(r, {**common(r), "loop_bounds": {1: 2}}, 1), **options(r)),
    lambda r: wb.wcet(r.choice((value(r), "saxpy")), **chosen(r, {**common(r), "loop_bounds": {1: 2}, "runs": 3}, 1), time_limit=1),
    lambda r: wb.explore(r.choice((value(r), "fig3")), **chosen(r, {"machine": "paper-fig2", "settings": {}}, 1), **options(r)),
    lambda r: wb.hybrid(r.choice((value(r), "saxpy")), **chosen(r, {"traces": [], "loop_bounds": {1: 2}, "machine": MACHINE}, 1), time_limit=1),
    lambda r: wb.pwcet(r.choice((value(r), "saxpy")), **chosen(r, {"runs": 3, "machine": MACHINE, "policy": "gto"}, 1), time_limit=1),
    lambda r: wb.cfg(r.choice((value(r), "saxpy")), **chosen(r, {"out": "x.svg", "entry": "x"}, 1)),
    lambda r: r.choice((wb.diff, wb.why))(value(r), r.choice((value(r), "saxpy"))),
    lambda r: wb.inspect(value(r), **chosen(r, {"verbose": True}, r.randrange(2))),
    lambda r: r.choice((wb.kernels, wb.machines, wb.policies, wb.bounds, wb.explain))(value(r)),
    lambda r: wb.report(value(r)),
    lambda r: wb.load_sweep(value(r)),
]  # fmt: skip


def test_wrong_values_are_errors_of_warpbound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    end, number = time.monotonic() + SECONDS, 0
    # values are shown, and some are warned about
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() < end:
            seed = f"{SEED}-{number}"
            number += 1
            try:
                faulthandler.dump_traceback_later(PATIENCE, exit=True)
                _once(random.Random(seed))
            except Exception as error:
                raise AssertionError(f"the call with the seed {seed!r}") from error
            finally:
                faulthandler.cancel_dump_traceback_later()
    print(f"{number} calls")


def _once(r: random.Random) -> None:
    try:
        r.choice(CALLS)(r)
    except wb.Error as error:
        assert error.problems and all(problem.message for problem in error.problems)
        assert "fault of warpbound" not in str(error), str(error)
        assert "/warpbound-" not in str(error), str(error)
    except TypeError as error:
        # a keyword argument that a function has itself is given twice
        if not re.search("keyword argument|multiple values for argument", str(error)):
            raise
