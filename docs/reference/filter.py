#!/usr/bin/env python3
"""Shows Doxygen a header as people read it: a comment holds for every declaration of its paragraph.

Doxygen gives a comment to one declaration. Here it is repeated for those that follow without a blank line,
as deep and without a comment of their own, such as the other overloads of a function. A constructor without a
comment is described by its class. Each header is a group of its own, in that of its module. Left out are what is
private or protected, members of templates that are defined after their class, functions that Boost.Serialization
calls, destructors, what is deleted, and the argument that the compiler fills in with the place of the call. Lines
stay where they are.
"""

import pathlib
import re
import sys

SEVERAL = re.compile(r"([\w:]+) (\w+(?: = [^,;]+)?(?:, \w+(?: = [^,;]+)?)+);$")
NO_DECLARATION = re.compile(r"[#}]|//|(public|protected|private):|(friend|using namespace|namespace)\b")


def code_of(line):
    return re.sub(r'"(\\.|[^"\\])*"|//.*', "", line).strip()


def repeated(lines):
    comment, indent = [], 0
    fresh = False  # the comment belongs to the line that comes now
    classes = {}  # by indentation
    hidden = False
    begins, depth = True, 0  # whether a declaration may begin now, and brackets that are open
    for line in lines:
        hidden = (hidden or re.match(r" (private|protected):", line)) and line != "};"
        if hidden or re.fullmatch(r" +(.* = delete;|(virtual )?~\w+\(.*)", line):
            line = ""
        if re.match(r"\s*void serialize\(Archive& ", line):
            line = "/** For Boost.Serialization. */ " + line.strip()
        text, own = line.strip(), len(line) - len(line.lstrip())
        if begins and re.match(r"///(?!<)", text):
            comment = [*(comment if fresh else []), text[3:].strip()]
            indent, fresh = own, True
            yield line
            continue
        if not text:
            comment = []
        elif begins and comment and not fresh and own == indent:
            if not NO_DECLARATION.match(text) and "///<" not in line:
                line = line[:own] + "/** " + " ".join(comment) + " */ " + text
        elif begins and not fresh and re.match(rf"(explicit |constexpr )?{classes.get(own - 2, '!')}\(", text):
            line = line[:own] + "/** See the class. */ " + text
        if begins and comment and (match := SEVERAL.fullmatch(text)):
            each = [f"/** {' '.join(comment)} */ {match.group(1)} {v};" for v in match.group(2).split(", ")]
            line = line[:own] + " ".join(each)
        if match := re.match(r"(?:class|struct) (?:\[\[.*\]\] )?(\w+)", text):
            classes[own] = match.group(1)
        fresh = False
        code = code_of(text)
        depth += sum(map(code.count, "([")) - sum(map(code.count, ")]"))
        begins = depth <= 0 and (not code or code[0] == "#" or code[-1] in ";{}:")
        yield line


# A member of a class template, defined after its class.
MEMBER = re.compile(r"^template <[^\n]*>\n[^;{}]*>::\w+\(.*?^\}$", re.MULTILINE | re.DOTALL)
# The library fills it in.
LOCATION = re.compile(r",?(\s*)SourceLocation at = SourceLocation::current\(\)")


def grouped(text, path):
    """The text as a group with the header's name, such as "ops/matrix.h", in that of the module, which main.dox has.
    What the header says between its includes and its namespace describes the group."""
    module = path.parent.name
    head, mark, body = re.split(r"^(namespace dynet(?:::\w+)* \{)$", text, maxsplit=1, flags=re.MULTILINE)
    lines = head.split("\n")
    about = [line[3:] for line in lines if line.startswith("// ")]
    opening = [mark, f"/** @addtogroup {module}_{path.stem} {module}/{path.name}", f"@ingroup {module}", *about, "@{ */"]
    kept = [line for line in lines if not re.match(r"#pragma once|#include|// |$", line)]
    padding = [""] * (len(lines) - len(kept) - len(opening))
    return "\n".join(padding + kept + opening) + body.replace("\n}  // namespace dynet", "/** @} */\n}")


if __name__ == "__main__":
    header = pathlib.Path(sys.argv[1])
    text = LOCATION.sub(lambda match: match.group(1).strip(" "), header.read_text(encoding="utf-8"))
    text = MEMBER.sub(lambda match: "\n" * match.group().count("\n"), text)
    filtered = "\n".join(repeated(text.split("\n")))
    print(grouped(filtered, header) if header.name != "dynet.h" else filtered)
