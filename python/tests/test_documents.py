"""The Python of docs/python.md and the notebooks, run like by a reader."""

from __future__ import annotations

import pathlib
import re

import pytest
from conftest import SOURCE

NOTEBOOKS = sorted((SOURCE / "python" / "notebooks").glob("*.ipynb"))


def blocks(path: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_document(tmp_path, monkeypatch):
    """The blocks share one namespace, from the first to the last."""
    monkeypatch.chdir(tmp_path)
    found = blocks(SOURCE / "docs" / "python.md")
    assert len(found) >= 5
    names: dict[str, object] = {}
    for k, block in enumerate(found):
        exec(compile(block, f"docs/python.md, block {k + 1}", "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code"), "notebooks are kept without outputs"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["control", "identification", "learning"]
