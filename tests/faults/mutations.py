"""Small changes of one line of C++ or Python, such as a slip of the hand makes: an operator, a number, a bound, a call,
a statement."""

import ast
import dataclasses
import io
import re
import tokenize

OPERATORS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",), "&&": ("||",), "||": ("&&",),
    "&": ("|",), "|": ("&",), "+=": ("-=", "="), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "|=": ("&=",),
    "&=": ("|=",), "++": ("--",), "--": ("++",),
}  # fmt: skip
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "first": "last", "last": "first"}
MEMBERS = {
    "begin": "end", "end": "begin", "front": "back", "back": "front", "first": "second", "second": "first",
    "lower_bound": "upper_bound", "upper_bound": "lower_bound", "floor": "ceil", "ceil": "floor",
}  # fmt: skip
PYTHON_WORDS = {"and": "or", "or": "and", "True": "False", "False": "True", "min": "max", "max": "min"}

NO_CODE = re.compile(
    r'(?P<text>//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*|\bstatic_assert\s*\(.*?\);)'
    r"""|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)(\.\d*)?([eE][-+]?\d+)?([fFuUlLzZ]*)(?![\w.'])")
# A call, an assignment or a jump that is all of a line.
STATEMENT = re.compile(
    r"(?!(?:return|using|namespace|typedef|friend|case|default|else|for|while|if|do|switch|static_assert)\b)"
    r"(?:[*(]*[A-Za-z_][\w:]*(?:<[\w:, ]+>)?(?:\(|\[|\.|->|\+\+|--| (?:[-+*/|&%^]|<<|>>)?= )[^{}]*|"
    r"(?:\+\+|--)[^{}]*|throw [^{}]*|break|continue);"
)
HEAD = re.compile(r"(?:\} )?(?:else )?(if|while|for) \(")


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    number: int  # of the line, from 1
    old: str  # lines without white space around them
    new: str
    what: str

    def apply(self, source):
        lines = source.split("\n")
        line = lines[self.number - 1]
        if line.strip() != self.old:
            raise ValueError(f"{self.path}:{self.number} is another line by now")
        lines[self.number - 1] = line.replace(self.old, self.new)
        return "\n".join(lines)


def mutants_of(path, source):
    """All of a file, by line."""
    found = {}
    changes = python_changes(source) if path.endswith(".py") else cpp_changes(source)
    lines = source.split("\n")
    for number, begin, end, new, what in changes:
        line = lines[number - 1]
        changed = (line[:begin] + new + line[end:]).strip()
        mutant = Mutant(path, number, line.strip(), changed, what)
        known = found.setdefault(number, [])
        if changed != mutant.old and all(m.new != changed for m in known):
            known.append(mutant)
    return {number: mutants for number, mutants in found.items() if mutants}


def numbers_beside(text):
    """Others in the place of a number."""
    whole, fraction, exponent, suffix = NUMBER.fullmatch(text).groups()
    if fraction is None and exponent is None:
        value = int(whole.replace("'", ""))
        return [str(v) + suffix for v in dict.fromkeys((value + 1, value - 1, 0)) if v >= 0 and v != value]
    value = float(whole.replace("'", "") + (fraction or "") + (exponent or ""))
    return [repr(v) + suffix for v in dict.fromkeys((value + 1, 0.0)) if v != value]


def code_of(source):
    """C++ with spaces for all that is no code: comments, directives, what stands between quotes."""
    def blank(found):
        text = re.sub(r"[^\n]", " ", found.group())
        return text if found["text"] is not None else '"' + text[1:-1] + '"'

    return NO_CODE.sub(blank, source)


def cpp_changes(source):
    """(line, first column, last column, what comes there, kind) of each change."""
    before = ""
    for number, (line, text) in enumerate(zip(code_of(source).split("\n"), source.split("\n")), start=1):
        if line.strip() and not re.match(r"\s*template\b", line):
            for change in (*tokens(line), *statements(line, before), *conditions(line, text)):
                yield number, *change
        before = line.rstrip() or before


def tokens(line):
    for found in re.finditer(r"(?<= )(<=|>=|==|!=|<|>|&&|\|\||[-+*/|&]=|[-+*/%&|])(?= |$)|\+\+|--", line):
        for new in OPERATORS[found.group()]:
            yield *found.span(), new, "operator"
    for found in re.finditer(r"!(?=[\w(:*])", line):
        yield *found.span(), "", "operator"
    for found in NUMBER.finditer(line):
        for new in numbers_beside(found.group()):
            yield *found.span(), new, "constant"
    for found in re.finditer(r"(\.|->|::)?\b(\w+)\b", line):
        new = (MEMBERS if found[1] else {}).get(found[2]) or WORDS.get(found[2])
        if new:
            yield *found.span(2), new, "constant" if new in ("true", "false") else "bound"
    for found in re.finditer(r"\b\w+\(([A-Za-z_]\w*), ([A-Za-z_]\w*)(?=[,)])", line):
        yield found.start(1), found.end(2), f"{found[2]}, {found[1]}", "call"


def closing(line, begin):
    """The bracket that closes the one before `begin`, or None."""
    depth = 1
    for at in range(begin, len(line)):
        depth += (line[at] in "([{") - (line[at] in ")]}")
        if depth == 0:
            return at
    return None


def statements(line, before):
    """A statement goes, if all of it stands on the line: what was before it has ended, or is the head of it."""
    begin = len(line) - len(line.lstrip())
    head = HEAD.match(line, begin)
    if head:
        end = closing(line, head.end())
        if end is None:
            return
        begin = end + 1 + len(line[end + 1 :]) - len(line[end + 1 :].lstrip())
    elif line.startswith("else ", begin):
        begin += len("else ")
    elif before and not re.search(r"([;{}:]|\belse|^\s*(\} )?(else )?(if|for|while) \(.*\))$", before):
        return
    text = line[begin:].rstrip()
    if STATEMENT.fullmatch(text) and closing("(" + text + ")", 1) == len(text) + 1:
        yield begin, begin + len(text), ";", "statement"


def conditions(line, text):
    head = HEAD.match(line, len(line) - len(line.lstrip()))
    end = closing(line, head.end()) if head and head[1] != "for" else None
    if end is not None:
        begin = max(head.end(), line.rfind("; ", 0, end) + 2)  # behind what it declares
        yield begin, end, f"!({text[begin:end]})", "condition"


def python_changes(source):
    tree = ast.parse(source)
    lines = source.split("\n")
    read = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for before, token, after in zip([None, *read], read, read[1:]):
        (number, begin), end, text = token.start, token.end[1], token.string
        spaced = token.line[begin - 1 : begin] == " " and token.line[end : end + 1] in (" ", "\n")
        if token.type == tokenize.OP and text in OPERATORS and spaced:
            yield from ((number, begin, end, new, "operator") for new in OPERATORS[text])
        elif token.type == tokenize.NUMBER and NUMBER.fullmatch(text):
            yield from ((number, begin, end, new, "constant") for new in numbers_beside(text))
        elif token.type == tokenize.NAME and text in PYTHON_WORDS:
            yield number, begin, end, PYTHON_WORDS[text], "operator"
        elif token.type == tokenize.NAME and text == "is":
            negated = after.string == "not"
            yield number, begin, after.end[1] if negated else end, "is" if negated else "is not", "operator"
        elif token.type == tokenize.NAME and text == "not" and before.string != "is":
            yield number, begin, after.start[1], "", "operator"
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Raise)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            if node.lineno == node.end_lineno:
                yield node.lineno, *columns(lines, node), "pass", "statement"
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and node.test.lineno == node.test.end_lineno:
            begin, end = columns(lines, node.test)
            yield node.test.lineno, begin, end, f"not ({lines[node.test.lineno - 1][begin:end]})", "condition"


def columns(lines, node):
    """ast counts bytes."""
    line = lines[node.lineno - 1].encode()
    return len(line[: node.col_offset].decode()), len(line[: node.end_col_offset].decode())
