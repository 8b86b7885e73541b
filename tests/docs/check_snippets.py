#!/usr/bin/env python3
"""Compiles the C++ of all documents, and compares what they quote with the programs it comes from.

A fenced block of cpp is, in this order:
  quoted        after <!-- cpp: from PATH -->: these lines, at any indentation, are in that program, which the
                build compiles;
  declarations  after <!-- cpp: file -->: at namespace scope, after the earlier declarations of the document;
  a program     if it defines main;
  statements    of a function, after those of tests/docs/preludes/common.inl, which declares what snippets take
                for granted; <!-- cpp: prelude NAME --> names another prelude.

All of it is one translation unit, which is checked and not compiled further. Errors have the line of the document.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import textwrap

FOLDERS = ("docs", "examples", "benchmarks", "tests", "tools")
BLOCK = re.compile(
    r"(?:^<!-- cpp: (?P<note>[^\n]*?) -->\n+)?^(?P<indent> *)```cpp\n(?P<code>.*?)^ *```$", re.DOTALL | re.MULTILINE)  # fmt: skip
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"].*$", re.MULTILINE)
# A main in a namespace is a function like others, and yet need not return anything.
MAIN_RETURNS = ('#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "-Wreturn-type"\n', "#pragma GCC diagnostic pop")
MAX_LINES, MIN_LINES = 120, 40  # of a program of the course
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()


class Snippet:
    def __init__(self, document, text, match):
        self.document = document
        self.line = text[: match.start("code")].count("\n") + 1
        self.code = textwrap.dedent(match.group("code"))
        self.note = match.group("note") or ""

    def where(self):
        return f"{self.document}:{self.line}"


def documents(root):
    found = sorted(root.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((root / folder).rglob("*.md"))
    found = [path.relative_to(root) for path in found]
    return [path for path in found if path.parts[:2] != ("docs", "extending")]  # which tests/extending follows


def snippets(root):
    for document in documents(root):
        text = (root / document).read_text(encoding="utf-8")
        blocks = list(BLOCK.finditer(text))
        if len(blocks) != len(re.findall(r"^ *```(?:cpp|c\+\+|cc|cxx|C\+\+) *$", text, re.MULTILINE)):
            sys.exit(f"{document}: a block of C++ has another form than ```cpp ... ```")
        for match in blocks:
            yield Snippet(document, text, match)


def is_in(code, program):
    """Whether the lines of the code follow each other in the program, at any indentation."""
    wanted, lines = code.rstrip("\n").split("\n"), program.split("\n")
    for first in range(len(lines) - len(wanted) + 1):
        part = "\n".join(lines[first : first + len(wanted)])
        if textwrap.dedent(part).split("\n") == wanted:
            return True
    return False


def wrapped(root, all_snippets):
    """(source, problems): one translation unit of all that is not quoted."""
    includes, body, problems = ['#include "tests/docs/preludes/includes.inl"'], [], []
    for number, s in enumerate(all_snippets):
        name = re.sub(r"\W", "_", str(s.document))
        includes += INCLUDE.findall(s.code)
        code = f'#line {s.line} "{s.document}"\n' + INCLUDE.sub("", s.code)
        if s.note == "file":
            body.append(f"namespace in_{name} {{\nusing namespace dynet;\n{code}}}")
        elif re.search(r"\bint main\(", s.code):
            body.append(f"{MAIN_RETURNS[0]}namespace program_{number} {{\n{code}}}\n{MAIN_RETURNS[1]}")
        elif s.note and not s.note.startswith("prelude "):
            problems.append(f"{s.where()}: nobody knows what '{s.note}' means")
        else:
            prelude = f"tests/docs/preludes/{s.note.removeprefix('prelude ') or 'common'}.inl"
            if not (root / prelude).is_file():
                problems.append(f"{s.where()}: there is no {prelude}")
                continue
            body.append(f'namespace in_{name} {{\nusing namespace dynet;\nvoid snippet_{number}() {{\n'
                        f'#include "{prelude}"\n{{\n{code}}}\n}}\n}}')  # fmt: skip
    return "\n".join(dict.fromkeys(includes)) + "\n" + "\n".join(body) + "\n", problems


def compile_all(root, all_snippets, compiler, system):
    source, problems = wrapped(root, all_snippets)
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-I", str(root),
               *(part for folder in system for part in ("-idirafter", folder)), "-x", "c++", "-"]  # fmt: skip
    # Includes with quotes are searched here first.
    done = subprocess.run(command, cwd=root, input=source, text=True, capture_output=True, check=False)
    if done.returncode:
        problems.append(done.stderr.strip())
    return problems


def quoted(root, s):
    path = root / s.note.removeprefix("from ")
    if not path.is_file():
        return f"{s.where()}: there is no {s.note.removeprefix('from ')}"
    if not is_in(s.code, path.read_text(encoding="utf-8")):
        return f"{s.where()}: these lines are not in {s.note.removeprefix('from ')}"
    return None


def sections(text):
    """(title, text) of each section of a document."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2]))


def course(root):
    """The programs of examples/basics, their table and the tutorial name each other; each section has exercises."""
    folder, problems = root / "examples/basics", []
    table = (folder / "README.md").read_text(encoding="utf-8")
    tutorial = (root / "docs/tutorial.md").read_text(encoding="utf-8")
    for path in sorted(folder.glob("*.cc")):
        lines = path.read_text(encoding="utf-8").count("\n")
        if not re.search(rf"^\| \[{path.name}\]\({path.name}\) \|.*\| {lines} \|$", table, re.MULTILINE):
            problems.append(f"examples/basics/README.md: the row of {path.name} should say {lines} lines")
        if f"../examples/basics/{path.name})" not in tutorial:
            problems.append(f"docs/tutorial.md: has no link to {path.name}")
        if not MIN_LINES <= lines <= MAX_LINES:
            problems.append(f"examples/basics/{path.name}: {lines} lines; {MIN_LINES} to {MAX_LINES} fit on a screen")
    for name, file, line in re.findall(r"(\w+)(?: \"[^\"]*\")?, node \d+, made at (\w+\.cc):(\d+)", tutorial):
        lines = (folder / file).read_text(encoding="utf-8").split("\n") if (folder / file).is_file() else []
        if name not in "".join(lines[int(line) - 1 : int(line)]):
            problems.append(f"docs/tutorial.md: line {line} of {file} makes no {name}")
    number = NUMBERS[len(list(folder.glob("*.cc")))]
    for page in ("README.md", "docs/tutorial.md"):
        said = re.findall(r"([\w-]+) programs of a screen", (root / page).read_text(encoding="utf-8"))
        if [word.lower() for word in said] != [number]:
            problems.append(f"{page}: there are {number} programs of a screen or two, not {said}")
    answers = (root / "docs/answers.md").read_text(encoding="utf-8")
    answered = {title: len(re.findall(r"^\*\*\d\.\*\*", text, re.MULTILINE)) for title, text in sections(answers)}
    for title, text in sections(tutorial):
        asked = len(re.findall(r"^\d\. ", text.partition("**Exercises**")[2], re.MULTILINE))
        if asked < 2 or asked != answered.pop(title, 0):
            problems.append(f"docs/tutorial.md: '{title}' has {asked} exercises, at least two are needed, each with an answer")
    problems += [f"docs/answers.md: docs/tutorial.md has no section '{title}'" for title in answered]
    for name in re.findall(r"^\| \[(\w+\.cc)\]", table, re.MULTILINE):
        if not (folder / name).is_file():
            problems.append(f"examples/basics/README.md: there is no {name}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=pathlib.Path, help="the checkout")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--system", nargs="*", default=[], help="folders of other libraries' headers")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    everything = list(snippets(root))
    quotes = [s for s in everything if s.note.startswith("from ")]
    others = [s for s in everything if not s.note.startswith("from ")]
    problems = [problem for s in quotes if (problem := quoted(root, s))]
    problems += course(root)
    problems += compile_all(root, others, arguments.compiler, arguments.system)
    for problem in problems:
        print(problem)
    print(f"snippets: {len(quotes)} quoted, {len(others)} compiled, {len(problems)} problems")
    return 1 if problems or not everything else 0


if __name__ == "__main__":
    sys.exit(main())
