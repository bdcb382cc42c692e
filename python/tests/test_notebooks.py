"""The notebooks run from top to bottom, and their outputs are those of this version."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
NEEDS = {"wcet": "nvidia.cuda_nvrtc", "triton": "triton"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_runs(path: Path) -> None:
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    notebook = nbformat.read(path, 4)
    committed = [(cell.source, _texts(cell)) for cell in notebook.cells if cell.cell_type == "code"]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    ran = [(cell.source, _texts(cell)) for cell in notebook.cells if cell.cell_type == "code"]
    for (source, before), (_, now) in zip(committed, ran):
        assert now == before, f"the output is no longer the one in {path.name}, of the cell:\n{source}"


def _texts(cell: object) -> list[str]:
    """Returns what a cell printed and the plain text of its results, as far as it is reproducible."""
    found = []
    for output in cell.outputs:  # type: ignore[attr-defined]
        if output.output_type == "stream" and output.name == "stdout":
            found.append(output.text)
        elif output.output_type == "execute_result":
            found.append(output.data["text/plain"])
    # the names of temporary folders differ, and so do the lengths of pages that contain them
    text = "".join(found)
    return [line for line in text.splitlines() if "warpbound-" not in line and "<Page of" not in line]


def test_there_are_four_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["extremes", "policies", "triton", "wcet"]
