#!/usr/bin/env python3
"""Shows Doxygen a header as people read it: a comment holds for every declaration of its paragraph.

Doxygen gives a comment to one declaration. Here it is repeated for those that follow without a blank line,
as deep and without a comment of their own, such as the other overloads of a function. What is protected is
for the library's own classes and left out, and so are the functions that Boost.Serialization calls. A
constructor without a comment is described by its class. Lines stay where they are.
"""

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
    begins, depth = True, 0  # whether a declaration may begin now, and brackets that are open
    for line in lines:
        line = re.sub(r"^ protected:", " private:", line)
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


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(repeated(header.read().split("\n"))))
