"""The notebooks run, and what is stored in them is what they say, small, and of no machine."""

import itertools
import pathlib
import re
import sys

import pytest

import dynet as dy

for needed in "nbformat", "nbclient", "ipykernel", "matplotlib":
    pytest.importorskip(needed, reason=f"{needed} is not installed, which notebooks need")

import nbformat  # noqa: E402
from nbclient.exceptions import CellExecutionError  # noqa: E402

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"
sys.path.insert(0, str(FOLDER))
from store_outputs import FILES, METADATA, execute, strip  # noqa: E402

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
BYTES = 150_000
# An absolute path: a folder of the system's root that names a machine or a user.
PATH = re.compile(r"(?<![\w.])/(home|tmp|root|work|usr|opt|var|mnt|private|Users)/|\b[A-Z]:\\\\?\w")

each_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=[f.stem for f in NOTEBOOKS])


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables of kernels: the list of fonts, which takes seconds to make, is made once."""
    return {"MPLCONFIGDIR": str(tmp_path_factory.mktemp("matplotlib"))}


@pytest.fixture(autouse=True)
def nothing_of_the_user(monkeypatch, tmp_path):
    """Jupyter keeps its files in the folder of the test, on this side too."""
    for name in FILES:
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def notebook_of(*cells):
    """A notebook with these code cells."""
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    return made


def texts_of(output):
    """All that an output has as text; pictures are long random letters, and no text."""
    if output.output_type == "stream":
        return [output.text]
    return [text for kind, text in output.get("data", {}).items() if kind != "image/png"]


def flaws_of(notebook):
    """Flaws of the outputs and metadata stored in a notebook, as a list of sentences."""
    flaws = []
    if notebook.metadata != METADATA:
        flaws.append(f"metadata {dict(notebook.metadata)}")
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not any(cell.outputs for cell in codes):
        flaws.append("no outputs")
    for number, cell in enumerate(codes, 1):
        if cell.metadata:
            flaws.append(f"metadata of code cell {number}")
        if cell.execution_count != number:
            flaws.append(f"code cell {number} was run as number {cell.execution_count}")
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                flaws.append(f"an error in code cell {number}")
    for number, cell in enumerate(notebook.cells, 1):
        everything = [cell.source, *(t for o in cell.get("outputs", []) for t in texts_of(o))]
        if any(PATH.search(text) for text in everything):
            flaws.append(f"an absolute path in cell {number}")
        if any(len(line) > 100 for line in cell.source.splitlines()):
            flaws.append(f"a long line in cell {number}")
    return flaws


def outputs_of(notebook):
    """Kinds of outputs of each code cell; printed text may come in several pieces."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [[kind for kind, _ in itertools.groupby(o.output_type for o in cell.outputs)]
            for cell in cells]


def test_there_are_notebooks_and_each_has_its_line():
    readme = (FOLDER / "README.md").read_text()
    assert len(NOTEBOOKS) == 6
    for file in NOTEBOOKS:
        assert f"]({file.name})" in readme


@each_notebook
def test_notebook_runs(file, tmp_path, environment):
    stored = nbformat.read(file, as_version=4)
    notebook = execute(nbformat.read(file, as_version=4), tmp_path, environment=environment)
    strip(notebook)
    assert flaws_of(notebook) == []
    assert outputs_of(notebook) == outputs_of(stored), "run store_outputs.py"


@each_notebook
def test_stored_notebook_can_be_read_without_running(file):
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert flaws_of(notebook) == [] and file.stat().st_size < BYTES
    kinds = [cell.cell_type for cell in notebook.cells]
    assert 8 <= len(kinds) <= 20 and notebook.cells[0].source.startswith("# ")
    # A text before each code cell.
    assert all(kinds[i - 1] == "markdown" for i, kind in enumerate(kinds) if kind == "code")


def test_kernel_imports_the_same_module(tmp_path, environment):
    notebook = notebook_of("import dynet, sys", "print(dynet.__file__, sys.executable, sep='\\n')")
    execute(notebook, tmp_path, environment=environment)
    assert notebook.cells[1].outputs[0].text.splitlines() == [dy.__file__, sys.executable]


def test_cell_that_fails_is_an_error(tmp_path, environment):
    notebook = notebook_of("x = 1", "assert x == 2, 'x is not two'", "x = 3")
    with pytest.raises(CellExecutionError, match="x is not two"):
        execute(notebook, tmp_path, environment=environment)


@pytest.mark.parametrize("cell, flaw", [
    ("print('/home/somebody/data')", "an absolute path in cell 1"),
    ("open('x', 'w').close(); import os; print(os.path.abspath('x').replace(os.getcwd(), '/tmp'))",
     "an absolute path in cell 1"),
    ("import sys; print('oh', file=sys.stderr)", "an error in code cell 1"),
    ("x = 1", "no outputs"),
    ("print(1)  #" + 100 * "-", "a long line in cell 1"),
])
def test_flaws_are_found(tmp_path, environment, cell, flaw):
    notebook = notebook_of(cell)
    strip(execute(notebook, tmp_path, environment=environment))
    assert flaws_of(notebook) == [flaw]


def test_what_was_not_stripped_or_not_run_in_order_is_found():
    notebook = notebook_of("print(1)", "print(2)")
    notebook.cells[0].metadata["execution"] = {"iopub.status.busy": "2020-01-01T00:00:00Z"}
    notebook.cells[0].execution_count = 2
    error = nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])
    notebook.cells[1].outputs = [error]
    assert len(flaws_of(notebook)) == 5
