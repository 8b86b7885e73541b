"""Pictures of graphs."""

import shutil
import subprocess


def svg(graphviz: str) -> str | None:
    """The picture that Graphviz makes of a text; None where its program `dot` is not installed."""
    dot = shutil.which("dot")
    if dot is None:
        return None
    ran = subprocess.run([dot, "-Tsvg"], input=graphviz, capture_output=True, text=True,
                         check=False)
    return ran.stdout if ran.returncode == 0 else None
