#!/usr/bin/env python3
"""Checks that read the sources: ranks of includes, Eigen, manners, length, globals, words, comments, README, links."""

import argparse
import pathlib
import re
import sys

import sources

# A module may include modules of its own rank or below. The umbrella header stands above all of them.
RANKS = {
    "base": 0, "shape": 1, "param": 2, "graph": 3, "attributes": 4, "ops": 5, "plan": 6, "run": 7,
    "train": 8, "layers": 8, "structures": 8, "io": 8, "distributed": 8, "serve": 8, "c": 9, "compat": 9,
    "profile": 9,
}  # fmt: skip
# Files of a family in dynet-like/structures have the rank of the module that would hold them otherwise.
FAMILY_FILES = {"shape": "shape", "attributes": "attributes", "op": "ops"}
KERNEL_RANK = RANKS["ops"]
UMBRELLA = "dynet-like/dynet.h"


def place_of(name):
    """(kind, module) of a path in the checkout: ("module", "ops"), ("kernels", "cpu"), ("umbrella", None)."""
    parts = name.split("/")
    if name == UMBRELLA:
        return "umbrella", None
    if parts[0] == "dynet-like" and len(parts) > 2:
        in_family = parts[1] == "structures" and len(parts) == 4
        return "module", FAMILY_FILES.get(parts[3].split(".")[0], parts[1]) if in_family else parts[1]
    if parts[0] == "kernels" and len(parts) > 2:
        return "kernels", parts[1]
    return "other", None


def rank_of(kind, module):
    if kind == "module":
        return RANKS.get(module)
    return KERNEL_RANK if kind == "kernels" else None


def wrong_include(path, name, quoted):
    """Why this file may not have this include, or None."""
    kind, module = place_of(str(path))
    target_kind, target_module = place_of(name)
    if not quoted:
        own = name.split("/")[0] in sources.EVERYTHING
        return "own headers are included with quotes" if own else None
    if target_kind == "other":
        return "a quoted include names a file of the library, from the root of the checkout"
    if kind == "umbrella":
        return None if target_kind == "module" else "the umbrella includes modules only"
    if target_kind == "umbrella":
        return "the library does not include its own umbrella"
    rank, target_rank = rank_of(kind, module), rank_of(target_kind, target_module)
    if rank is None:
        return f"'{path.parent}' is not a module; modules and ranks are listed in tests/house/check_text.py"
    if target_rank is None:
        return f"'{name}' is in no module"
    if target_kind == "kernels" and kind == "module" and path.suffix == ".h":
        return "headers are installed, kernels are not"
    if target_kind == "kernels" and kind == "kernels" and target_module != module:
        return "a backend knows nothing of another; what an op is stands in its attributes"
    if target_rank > rank:
        return f"rank {rank} ({module}) may not include rank {target_rank} ({target_module})"
    return None


def ranks(root):
    problems = []
    paths = sources.files(root, sources.LIBRARY)
    for path in paths:
        for number, name, quoted in sources.includes(root, path):
            reason = wrong_include(path, name, quoted)
            if reason:
                problems.append(f"{path}:{number}: includes {name}: {reason}")
    return problems, len(paths)


# Shows tensors to programs that bring Eigen of their own.
EIGEN_VIEWS = "dynet-like/compat/include/dynet/tensor-eigen.h"


def eigen(root):
    """Eigen stays in kernels/cpu: no header that a program sees, and no other module, mentions it."""
    problems = []
    paths = [path for path in sources.files(root, ("dynet-like",)) if str(path) != EIGEN_VIEWS]
    for path in paths:
        for number, name, _ in sources.includes(root, path):
            if re.match(r"(unsupported/)?Eigen/", name):
                problems.append(f"{path}:{number}: includes {name}: Eigen belongs in kernels/cpu")
        for number, line in sources.lines_of_code(root, path):
            if re.search(r"\bEigen\s*::", line):
                problems.append(f"{path}:{number}: names Eigen, which belongs in kernels/cpu")
    return problems, len(paths)


MANNERS = [
    (r"(?<!\w)v?f?printf\s*\(|(?<!\w)v?dprintf\s*\(", "prints"),
    (r"\b(puts|fputs|putchar|putc|fputc|perror|psignal)\s*\(", "prints"),
    (r"\b(std\s*::\s*)?w?(cout|cerr|clog)\b", "prints"),
    (r"#\s*include\s*<(iostream|print|syncstream)>", "prints; a stream given by the caller needs <ostream>"),
    (r"\b(abort|exit|_exit|_Exit|quick_exit|terminate|raise)\s*\(", "ends the program"),
    (r"\b__builtin_(trap|abort)\b", "ends the program"),
    (r"\bassert\s*\(|#\s*include\s*<(cassert|assert\.h)>", "ends the program; throw, or use static_assert"),
]  # fmt: skip


# Functions that print in DyNet print here, for programs that were written to DyNet.
PRINTS = ("dynet-like/compat/print.cc", "dynet-like/compat/standard.h")


def manners(root):
    """The library neither prints nor ends the program."""
    problems = []
    paths = [path for path in sources.files(root, sources.LIBRARY) if str(path) not in PRINTS]
    for path in paths:
        for number, line in sources.lines_of_code(root, path):
            for pattern, reason in MANNERS:
                match = re.search(pattern, line)
                if match:
                    problems.append(f"{path}:{number}: '{match.group(0).strip()}' {reason}")
    return problems, len(paths)


MAX_LINES = 600


def length(root):
    problems = []
    paths = sources.files(root, sources.EVERYTHING, sources.SUFFIXES + (".py",))
    for path in paths:
        count = sources.read(root, path).count("\n")
        if count > MAX_LINES:
            problems.append(f"{path}:{count}: longer than {MAX_LINES} lines; is it still one thing?")
    return problems, len(paths)


DECLARATION = re.compile(r"^\s*(?:inline\s+)?(?:static|thread_local|extern)\b(?P<rest>.*)$")


def globals_(root):
    """No variable that outlives a call and can change. check_symbols.py sees what this cannot."""
    problems = []
    allowed = sources.allowed_globals()
    paths = sources.files(root, sources.LIBRARY)
    for path in paths:
        for number, line in sources.lines_of_code(root, path):
            match = DECLARATION.match(line)
            if not match or re.search(r"\bconst(expr|init const)?\b", match.group("rest")):
                continue
            declared = re.match(r"(?P<type>[^=;({]*?)\b(?P<name>\w+)(\[[^]]*\])?\s*(?:[;={]|$)", match.group("rest"))
            if not declared or not declared.group("type").strip():
                continue
            name = declared.group("name")
            if not any(pattern.fullmatch(f"{path}:{name}") for pattern in allowed):
                problems.append(f"{path}:{number}: '{name}' outlives the call and is not const")
    return problems, len(paths)


WORDS = sources.HERE / "retired_words.txt"
# The lists themselves, and what was true of releases when they were made.
MAY_USE_RETIRED = ("tests/house/retired_words.txt", "tests/house/planted_test.py", "docs/glossary.md", "CHANGELOG.md")


def words(root):
    """Words that were given up stay out: of names, comments, messages and documents."""
    retired = []
    for line in WORDS.read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            pattern, _, instead = line.rpartition(" -> ")
            retired.append((re.compile(pattern), instead))
    paths = sources.files(root, sources.EVERYTHING, sources.SUFFIXES + (".py", ".txt", ".md", ".cmake"))
    paths += sources.files(root, ("docs",), (".md",))
    paths += [path.relative_to(root) for path in pathlib.Path(root).glob("*.md")]
    paths = [path for path in paths if str(path) not in MAY_USE_RETIRED and "corpus" not in path.parts]
    problems = []
    for path in paths:
        for number, line in enumerate(sources.read(root, path).split("\n"), start=1):
            for pattern, instead in retired:
                match = pattern.search(line)
                if match:
                    problems.append(f"{path}:{number}: '{match.group(0)}': we say {instead}")
    return problems, len(paths)


# A comment or the name of a test begins with the thing that it is about, not with a question about it.
RIDDLE = re.compile(r'(?://+|(?:^|\s)#+) *(What|Whose|Who|Of|Where|Nobody)\b|TEST_CASE\("(?:\w+: )?(what|whose|who|of|where|nobody)\b')


def comments(root):
    """Comments and names of tests begin with a noun that can be searched for."""
    problems = []
    paths = [path for path in sources.files(root, sources.EVERYTHING, sources.SUFFIXES + (".py",)) if str(path) not in MAY_USE_RETIRED]
    for path in paths:
        for number, line in enumerate(sources.read(root, path).split("\n"), start=1):
            match = RIDDLE.search(line)
            if match:
                word = match[1] or match[2]
                problems.append(f"{path}:{number}: begins with '{word}': name the thing first, then say one thing of it")
    return problems, len(paths)


def prose_of(text):
    """The text with blocks and spans of code blanked out; line numbers stay."""
    text = re.sub(r"^```.*?^```$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda m: "x" * len(m.group(0)), text)


def headings_of(text):
    """What links to the headings of a document end in, as GitHub writes it."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    names = set()
    for title in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        name = plain = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = 0
        while name in names:
            number += 1
            name = f"{plain}-{number}"
        names.add(name)
    return names


def links(root):
    """Every relative link of a document leads to a file or folder of the checkout, and to a heading if it names one.

    And what begins like a heading is one: formatters of programs take documents apart."""
    problems = []
    root = pathlib.Path(root).resolve()
    documents = [p.relative_to(root) for p in root.glob("*.md")] + sources.files(root, sources.EVERYTHING + ("docs",), (".md",))
    for path in documents:
        text = sources.read(root, path)
        prose = prose_of(text)
        for number, line in enumerate(prose.split("\n"), start=1):
            if re.match(r"[ \t]*#+[^#\s]", line):
                problems.append(f"{path}:{number}: a heading needs a space after '#'")
        for match in re.finditer(r"\]\(([^()\s]+)\)", prose):
            target, _, heading = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            to = (root / path.parent / target).resolve() if target else root / path
            line = text[: match.start()].count("\n") + 1
            if not to.is_relative_to(root) or not to.exists():
                problems.append(f"{path}:{line}: the link to {match.group(1)} leads nowhere")
            elif heading and (to.suffix != ".md" or heading not in headings_of(sources.read(root, to))):
                problems.append(f"{path}:{line}: {to.relative_to(root)} has no heading for the link to #{heading}")
    return problems, len(documents)


CHECKS = {
    "ranks": ranks, "eigen": eigen, "manners": manners, "length": length, "globals": globals_, "words": words,
    "comments": comments, "links": links,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=sorted(CHECKS))
    parser.add_argument("--root", required=True, help="the checkout")
    arguments = parser.parse_args()
    problems, checked = CHECKS[arguments.check](arguments.root)
    return sources.report(arguments.check, problems, checked)


if __name__ == "__main__":
    sys.exit(main())
