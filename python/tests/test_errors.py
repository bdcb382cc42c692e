"""Errors name the argument or the line, and say what helps."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Callable

import pytest
from support import COPY, MACHINE, saxpy

import warpbound as wb

np = pytest.importorskip("numpy")

X, Y = np.arange(100, dtype="f4"), np.ones(100, "f4")

# what is called, and the message and the place of its error
LAUNCHES: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda k: k(100, 2.0, X), "the kernel has 4 parameters, 3 arguments given", "saxpy"),
    (lambda k: k(100, 2.0, X, Y, 1), "the kernel has 4 parameters, 5 arguments given", "saxpy"),
    (lambda k: k(1.5, 2.0, X, Y), "is an integer, and a floating-point number is given", "argument `n`"),
    (lambda k: k(X, 2.0, X, Y), "is no pointer, and an array is given", "argument `n`"),
    (lambda k: k(100, X, X, Y), "is no pointer, and an array is given", "argument `a`"),
    (lambda k: k(1 << 32, 2.0, X, Y), "has 32 bits, and the number does not fit", "argument `n`"),
    (lambda k: k(100, 2.0, X.astype(object), Y), "an array of Python objects", "argument `x`"),
    (lambda k: k(100, 2.0, np.array(["a"]), Y), "", ""),
    (lambda k: k(100, 2.0, X[::2], Y), "the array is not contiguous", "argument `x`"),
    (lambda k: k(100, 2.0, X.reshape(10, 10)[:, :5], Y), "the array is not contiguous", "argument `x`"),
    (lambda k: k(100, 2.0, X.astype(">f4"), Y), "the array has the byte order of other machines", "argument `x`"),
    (lambda k: k(100, 2.0, "x", Y), "cannot take a str", "argument `x`"),
    (lambda k: k(100, 2.0, [1, 2], Y), "cannot take a list", "argument `x`"),
    (lambda k: k(100, 2.0, {}, Y), "cannot take a dict", "argument `x`"),
    (lambda k: k(100, None, X, Y), "is not a pointer", "argument `a`"),
    (lambda k: k(100, 2.0, [X[::2]], Y), "the array is not contiguous", "argument `x[0]`"),
]


@pytest.mark.parametrize("case", range(len(LAUNCHES)))
def test_a_wrong_argument_is_an_error_that_names_it(case: int) -> None:
    call, message, place = LAUNCHES[case]
    kernel = saxpy()[1, 128]
    if not message:
        # text has four bytes for each character, which a kernel may read
        call(kernel)
        return
    with pytest.raises(wb.Error) as caught:
        call(kernel)
    assert message in caught.value.message
    assert (caught.value.file, caught.value.line, caught.value.column) == (place, 0, 0)
    assert caught.value.hint
    assert str(caught.value) == f"{place}: {caught.value.message}\n  {caught.value.hint}"


def test_an_access_outside_of_an_array_names_it_and_the_line() -> None:
    y = np.ones(100, "f4")
    with pytest.raises(wb.Error) as caught:
        wb.run(saxpy()[1, 128](100, 2.0, X, y[:50]), machine=MACHINE)
    error = caught.value
    assert "out-of-bounds" in error.message and "buffer `y`, which has 200 bytes" in error.message
    assert (error.file, error.column > 0) == ("saxpy.ptx", True)
    assert "ld.global" in saxpy().code.decode().splitlines()[error.line - 1]
    assert "make the buffer larger" in error.hint
    assert (y == 1).all()


def test_an_access_through_a_null_pointer_is_an_error() -> None:
    with pytest.raises(wb.Error, match="this looks like a null pointer"):
        wb.run(saxpy()[1, 128](100, 2.0, None, Y), machine=MACHINE)


def test_an_error_in_the_code_has_its_line_and_column() -> None:
    lines = COPY.splitlines()
    wrong = next(i for i, line in enumerate(lines) if "cvt.u64" in line)
    lines[wrong] = lines[wrong].replace("%d3", "%nothing")
    with pytest.raises(wb.Error) as caught:
        wb.run(wb.Kernel("\n".join(lines), file="mine.ptx")[1, 1](bytearray(4), bytearray(4), 4))
    assert (caught.value.file, caught.value.line, caught.value.column > 0) == ("mine.ptx", wrong + 1, True)


def test_an_error_has_all_problems_of_a_file() -> None:
    with pytest.raises(wb.Error) as caught:
        wb.run(wb.Kernel(COPY.replace("add.u64", "bdd.u64"))[1, 1](bytearray(4), bytearray(4), 4))
    assert len(caught.value.problems) > 1
    assert str(caught.value).count("kernel.ptx:") == len(caught.value.problems)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"machine": "orin"}, "orin: no embedded machine of this name\n  did you mean `ecrts25-orin`?"),
        ({"machine": 5}, "machine: 5 is no path and no name"),
        ({"policy": "gtx"}, "unknown policy `gtx`\n  did you mean `gto`?"),
        ({"policy": 5}, "policy: 5 is no policy"),
        ({"polcy": "gto"}, "unexpected argument 'polcy' found\n  tip: a similar argument exists: 'policy'"),
        ({"mem_latency": -1}, "invalid value '-1' for 'mem_latency <L>'"),
        ({"seed": "x"}, "invalid value 'x' for 'seed <N>'"),
        ({"seed": 10**5000}, "seed: the number is too large"),
        ({"seed": object}, "seed: <class 'object'> is no number, text or path"),
        ({"settings": {"units.gmem.latt": 1}}, "there is no field `latt`"),
        ({"settings": {"units.gmem.lat": "x"}}, "a whole number is expected here"),
        ({"settings": [1]}, "settings: [1] is no dictionary"),
        ({"settings": {"x": object}}, "x: <class 'object'> is no number, text or path"),
        ({"help": True}, "printed a text instead of its result"),
        ({"trace": "/no/such/folder/x.csv"}, "trace /no/such/folder/x.csv: cannot create the file"),
        ({"max_instructions": 10}, "max_instructions"),
        ({"": 1}, ""),
        ({"a b": 1}, ""),
    ],
)
def test_a_wrong_option_is_an_error_that_names_it(options: dict[str, Any], shown: str) -> None:
    with pytest.raises(wb.Error) as caught:
        wb.run("saxpy", **options)
    assert shown in str(caught.value)
    assert "Usage" not in str(caught.value)


def test_an_error_speaks_of_no_temporary_file() -> None:
    for block in (2000, (1, 1, 100)):
        with pytest.raises(wb.Error) as caught:
            wb.run(saxpy()[1, block](100, 2.0, X, Y))
        assert str(caught.value).startswith("saxpy: block of ")


def test_standard_input_is_never_read() -> None:
    calls = [
        lambda: wb.run("-"), lambda: wb.run("saxpy", machine="-"), lambda: wb.run("saxpy", policy="replay:-"),
        lambda: wb.check(["saxpy", "-"]), lambda: wb.check("saxpy", machine="ecrts25-orin,-"), lambda: wb.inspect("-"),
        lambda: wb.kernel("-"), lambda: wb.machine("-"), lambda: wb.sweep("-"), lambda: wb.sweep("saxpy", machines="-"),
        lambda: wb.sweep("saxpy", policies="replay:-"), lambda: wb.sweep(plan="-"), lambda: wb.pwcet("-"),
        lambda: wb.diff("- --policy lrr", "saxpy"), lambda: wb.why("saxpy", "saxpy --machine '-'"), lambda: wb.report("-"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(wb.Error, match="stdin"):
            call()


def test_text_that_no_name_can_have_is_an_error() -> None:
    for text in ("\ud800", "\udcff", "a\0b", "a\nb", "", " ", "'", '"', "\\", "x" * 100_000, "--help", "-h", "%s{}"):
        for call in (
            lambda: wb.run(text), lambda: wb.run("saxpy", machine=text), lambda: wb.run("saxpy", policy=text),
            lambda: wb.run("saxpy", settings={text: 1}), lambda: wb.run("saxpy", seed=text), lambda: wb.machine(text),
            lambda: wb.sweep(text), lambda: wb.sweep("saxpy", machines=text), lambda: wb.sweep("saxpy", policies=text),
            lambda: wb.sweep("saxpy", settings={text: 1}), lambda: wb.diff(text, "saxpy"), lambda: wb.inspect(text),
        ):  # fmt: skip
            with pytest.raises(wb.Error):
                call()


def test_an_error_can_be_copied_and_pickled() -> None:
    with pytest.raises(wb.Error) as caught:
        wb.run("saxpi")
    for twin in (copy.copy(caught.value), copy.deepcopy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert str(twin) == str(caught.value)
        assert (twin.hint, twin.file) == (caught.value.hint, "saxpi")


def test_an_error_has_what_the_command_found_nevertheless() -> None:
    with pytest.raises(wb.Error) as caught:
        wb.check(["saxpy", "saxpi"])
    assert caught.value.file == "saxpi"
    with pytest.raises(wb.Interrupted) as stopped:
        wb.explore("sgemm_naive", machine=MACHINE, time_limit=0.05)
    assert stopped.value.result["results"] is not None
