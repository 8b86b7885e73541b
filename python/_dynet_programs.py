"""The command-line programs of the package: each name in the scripts of an environment calls `main`."""

import os
import sys


def main() -> None:
    """Replaces this process by the program, without importing NumPy."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dynet", "_programs")
    name = os.path.basename(sys.argv[0])
    if not os.path.exists(path):
        sys.exit(f"{name}: the package was built without programs, since CLI11, utf8proc or pkg-config was missing (Debian's "
                 "libcli11-dev, libutf8proc-dev, pkg-config)")
    os.execv(path, [path, name, *sys.argv[1:]])
