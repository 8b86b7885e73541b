"""Runs notebooks and stores their outputs in them, without times and paths.

    python store_outputs.py [NOTEBOOK ...]

Without arguments, all notebooks of this folder.
"""

import os
import pathlib
import sys
import tempfile

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Variables for the folders of a kernel's files; all point into the kernel's working directory.
FILES = ["IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"]


def execute(notebook, folder, timeout=300, environment=None):
    """Runs all cells in a folder, with this interpreter and the `dynet` that it imports.

    Outputs are stored in `notebook`. Raises nbclient's CellExecutionError for a failing cell. `environment` has
    additional variables for the kernel.
    """
    import dynet

    known = os.environ.get("PYTHONPATH")
    path = [str(pathlib.Path(dynet.__file__).parents[1])] + ([known] if known else [])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path), **(environment or {}),
           **{name: str(folder / name.lower()) for name in FILES}}
    env.pop("MPLBACKEND", None)  # figures are stored in the notebook
    # Only the kernel of this interpreter, ignoring kernels registered on the machine.
    manager = AsyncKernelManager(kernel_name="python3",
                                 kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
                                 connection_file=str(folder / "connection.json"))
    client = NotebookClient(notebook, km=manager, timeout=timeout, record_timing=False,
                            resources={"metadata": {"path": str(folder)}})
    client.execute(env=env)
    return notebook


def strip(notebook):
    """Removes all metadata except the kernel's name."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})


def main(names):
    """Runs the named notebooks, or all, and writes them."""
    for file in [pathlib.Path(n) for n in names] or sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(file, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            execute(notebook, pathlib.Path(folder))
        strip(notebook)
        nbformat.write(notebook, file)


if __name__ == "__main__":
    main(sys.argv[1:])
