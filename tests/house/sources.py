"""What every check of the house needs: the source files, their text, and a way to report."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

LIBRARY = ("dynet-like", "kernels")
EVERYTHING = LIBRARY + ("tests", "examples", "benchmarks", "tools")
SUFFIXES = (".h", ".cc", ".cu", ".cuh", ".inl")


def files(root, folders, suffixes=SUFFIXES):
    """Source files below the folders, as paths relative to root, sorted."""
    found = []
    for folder in folders:
        base = pathlib.Path(root) / folder
        if base.is_dir():
            found += [p.relative_to(root) for p in base.rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(found)


def read(root, path):
    return (pathlib.Path(root) / path).read_text(encoding="utf-8")


TOKEN = re.compile(
    r"""//[^\n]*"""
    r"""|/\*.*?\*/"""
    r"""|R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)\""""
    r"""|"(?:\\.|[^"\\\n])*\""""
    r"""|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE,
)


def code_only(text):
    """The text with comments and literals blanked out; line numbers stay."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    return TOKEN.sub(blank, text)


def lines_of_code(root, path):
    """(number, line) of each line, without comments and literals."""
    return enumerate(code_only(read(root, path)).split("\n"), start=1)


def includes(root, path):
    """(number, name, quoted) of each include directive."""
    pattern = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
    for number, line in enumerate(read(root, path).split("\n"), start=1):
        match = pattern.match(line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(1) is not None


def allowed_globals():
    """Compiled patterns of the allow-list; an entry without a reason is an error."""
    patterns = []
    source = HERE / "allowed_globals.txt"
    for number, line in enumerate(source.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, mark, reason = line.partition("  #")
        if not mark or len(reason.split()) < 3:
            sys.exit(f"{source.name}:{number}: an entry needs two spaces, '#' and its reason")
        patterns.append(re.compile(pattern.strip()))
    return patterns


def report(name, problems, checked):
    """Prints the problems and returns the exit status. Nothing checked is a failure too."""
    for problem in problems:
        print(problem)
    if not checked:
        print(f"{name}: found nothing to check")
        return 1
    print(f"{name}: {checked} checked, {len(problems)} problems")
    return 1 if problems else 0
