#!/usr/bin/env python3
"""A form with a field left out does not compile, every form is in its family's list, and attributes call
their indices `indices`, so that a node is known to read the user's memory (names_memory)."""

import argparse
import re
import subprocess
import sys

import sources

FIELDS = {
    "name": '"op"',
    "shape": "[](const Operands& x) { return x[0]; }",
    "batch": "BatchRule::each()",
    "reads": "Reads::nothing",
    "aux": "no_aux",
    "forward": "Forward{nullptr, nullptr}",
    "backward": "Backward{nullptr, nullptr}",
    "cuda": "CudaRule::by_executor()",
}


def compiles(compiler, root, left_out):
    fields = ", ".join(f".{name} = {value}" for name, value in FIELDS.items() if name != left_out)
    text = '#include "dynet-like/graph/op.h"\nnamespace dynet { const OpForm kForm{' + fields + "}; }\n"
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", str(root), "-x", "c++", "-"]
    done = subprocess.run(command, input=text, text=True, cwd=root, capture_output=True, check=False)
    return done.returncode == 0


def check_required(compiler, root):
    if not compiles(compiler, root, None):
        yield "dynet-like/graph/op.h:1: a complete form does not compile; FIELDS in check_forms.py is out of date"
    for field in FIELDS:
        if compiles(compiler, root, field):
            yield f"dynet-like/graph/op.h:1: a form compiles without its field {field}"


def check_listed(root):
    for path in sources.files(root, ("dynet-like/ops", "dynet-like/structures"), (".cc",)):
        code = sources.code_only(sources.read(root, path))
        for match in re.finditer(r"\bconst OpForm (k\w+)\s*[={]", code):
            if not re.search(rf"&{match.group(1)}\b\s*[,}}]", code):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: the form {match.group(1)} is not in the list of its family"


def check_indices(root):
    for path in sources.files(root, ("dynet-like", "kernels"), (".h", ".cc")):
        code = sources.code_only(sources.read(root, path))
        for match in re.finditer(r"\bstruct \w+Attr\b[^{;]*\{(.*?)\n\};", code, re.DOTALL):
            for member in re.finditer(r"\b(?:Indices|IndexLists) (\w+)(?:\{\})?;", match.group(1)):
                if member.group(1) != "indices":
                    line = code.count("\n", 0, match.start(1) + member.start()) + 1
                    yield f"{path}:{line}: the indices {member.group(1)} of an attribute must be called indices"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the checkout")
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    problems = list(check_required(arguments.compiler, arguments.root))
    problems += [*check_listed(arguments.root), *check_indices(arguments.root)]
    return sources.report("forms", problems, len(FIELDS))


if __name__ == "__main__":
    sys.exit(main())
