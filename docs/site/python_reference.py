#!/usr/bin/env python3
"""Writes the pages of the Python reference from the module's stubs and sources: an entry for each public name, on the
page that python_pages.txt lists it on. A public name without a page, and a listed name that is not public, are errors.
Without stubs each page has a sentence that says so."""

import argparse
import ast
import dataclasses
import html
import pathlib
import re
import sys
import textwrap
import xml.etree.ElementTree as ElementTree

PAGES = pathlib.Path(__file__).with_name("python_pages.txt")
NO_STUBS = "This site was built without the Python module, so the page is empty: `tools/python-test`, then `tools/docs`."
CPP_NAMES = {"inputTensor": "input", "inputVector": "input", "scalarInput": "input", "bmax": "max", "bmin": "min",
             "esum": "sum"}  # fmt: skip
WIDTH = 88


@dataclasses.dataclass
class Entry:
    name: str
    bases: list = dataclasses.field(default_factory=list)
    signatures: list = dataclasses.field(default_factory=list)
    docs: list = dataclasses.field(default_factory=list)
    members: dict = dataclasses.field(default_factory=dict)  # by name
    is_class: bool = False

    def add(self, signature, doc):
        if signature and signature not in self.signatures:
            self.signatures.append(signature)
        if doc and doc not in self.docs:
            self.docs.append(doc)


def is_public(name):
    return not name.startswith("_")


def type_text(node):
    return re.sub(r"\b(dynet|collections\.abc|typing|os|numpy\.typing)\.(?=[a-zA-Z])(types\.|decoding\.|tensor\.)?", "", ast.unparse(node))


def signature_of(name, function, skips_first):
    """`name(x: Expression, p: float) -> Expression`, over several lines if it is long."""
    a = function.args
    positional = a.posonlyargs + a.args
    defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
    parts = []

    def add(argument, default, star=""):
        text = star + argument.arg + (f": {type_text(argument.annotation)}" if argument.annotation else "")
        parts.append(text + (f"{' = ' if argument.annotation else '='}{ast.unparse(default)}" if default else ""))

    for argument, default in list(zip(positional, defaults))[skips_first:]:
        add(argument, default)
    if a.vararg:
        add(a.vararg, None, "*")
    elif a.kwonlyargs:
        parts.append("*")
    for argument, default in zip(a.kwonlyargs, a.kw_defaults):
        add(argument, default)
    if a.kwarg:
        add(a.kwarg, None, "**")
    is_constructor = function.name == "__init__"
    result = f" -> {type_text(function.returns)}" if function.returns and not is_constructor else ""
    line = f"{name}({', '.join(parts)}){result}"
    return line if len(line) <= WIDTH else f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def decorators_of(node):
    return {ast.unparse(d).split(".")[-1] for d in node.decorator_list}


def doc_after(owner, node):
    """The string right after an assignment, which documents its name."""
    following = owner.body[owner.body.index(node) + 1 :][:1]
    if following and isinstance(following[0], ast.Expr) and isinstance(following[0].value, ast.Constant):
        return following[0].value.value
    return None


def add_member(owner, node, parent):
    """A method, property or field of a class."""
    if isinstance(node, ast.AnnAssign) and is_public(node.target.id):
        member = owner.members.setdefault(node.target.id, Entry(node.target.id))
        member.add(f"{node.target.id}: {type_text(node.annotation)}", doc_after(parent, node))
        return
    if not isinstance(node, ast.FunctionDef):
        return
    doc, decorators = ast.get_docstring(node), decorators_of(node)
    if node.name == "__init__":
        owner.add(signature_of(owner.name, node, 1), doc)
    elif (is_public(node.name) or doc and node.name.endswith("__")) and "setter" not in decorators:
        member = owner.members.setdefault(node.name, Entry(node.name))
        is_property = decorators & {"property", "cached_property"}
        result = f": {type_text(node.returns)}" if node.returns else ""
        member.add(node.name + result if is_property else signature_of(node.name, node, "staticmethod" not in decorators), doc)


def entries_of(tree):
    """The classes, functions and values that a file defines, by name."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            entry = found[node.name] = Entry(node.name, [ast.unparse(b).split(".")[-1] for b in node.bases], is_class=True)
            entry.add(None, ast.get_docstring(node))
            for child in node.body:
                add_member(entry, child, node)
        elif isinstance(node, ast.FunctionDef):
            entry = found.setdefault(node.name, Entry(node.name))
            entry.add(signature_of(node.name, node, 0), ast.get_docstring(node))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                same = f"The same as `{node.value.id}`." if isinstance(node.value, ast.Name) else None
                found[target.id] = Entry(target.id, signatures=[target.id], docs=list(filter(None, [same or doc_after(tree, node)])))
    return found


class Module:
    """The files of the package, and what its __init__.py makes public."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}
        self.public = {}
        for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            known = self.file(node.module)
            for alias in node.names:
                names = known if alias.name == "*" else [alias.asname or alias.name]
                self.public |= {name: self.find(node.module, name) for name in names if is_public(name)}
        for module in ("errors", "annotate"):
            prefix = "" if module == "errors" else f"{module}."
            for name, entry in self.file(module).items():
                if is_public(name) and entry.docs:
                    self.public.setdefault(prefix + name, entry)
        for entry in list(self.public.values()):  # private classes that public ones share
            known = self.file("_core")
            self.public |= {base: known[base] for base in entry.bases if not is_public(base) and base in known}

    def file(self, module):
        """Public entries of a file, with names that it imports from the package."""
        if module not in self.files:
            stub = self.folder / f"{module}.pyi"
            path = stub if stub.exists() else self.folder / f"{module}.py"
            tree = ast.parse(path.read_text(encoding="utf-8"))
            self.files[module] = entries_of(tree)
            for node in tree.body:
                if path == stub and isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dynet."):
                    other = self.file(node.module.split(".")[1])
                    self.files[module] |= {a.asname or a.name: other[a.name] for a in node.names if a.name in other}
        return self.files[module]

    def find(self, module, name):
        return self.file(module)[name]


def escaped(text):
    """Prose as Markdown, without characters that have a meaning there."""
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([\\*_\[\]#])", r"\\\1", html.escape(part, quote=False)) for part in parts[::2]]
    return "".join(parts)


def arguments_of(lines):
    """The items of a list of arguments, lines of the form "name: text", as Markdown; else nothing."""
    lines = textwrap.dedent("\n".join(lines)).splitlines()
    firsts = [line for line in lines if not line.startswith(" ")]
    if len(firsts) < 2 or not all(re.match(r"\w+: ", line) for line in firsts):
        return []
    parts = [line.partition(": ") for line in lines]
    return [f"* `{p[0]}`: {escaped(p[2])}" if line in firsts else escaped(line) for p, line in zip(parts, lines)]


def markdown_of(doc, link):
    """A docstring as Markdown: examples and indented code highlighted, arguments as a list."""
    parts = []
    for block in re.split(r"\n\s*\n", doc):
        lines = block.splitlines()
        has_title = lines[0] == "Args:"
        arguments = arguments_of(lines[has_title:])
        if block.startswith(">>>"):
            parts.append(f"```pycon\n{block}\n```")
        elif arguments:
            parts.append(link("\n".join(arguments)))
        elif all(line.startswith("    ") for line in lines):
            code = textwrap.dedent(block)
            if parts and parts[-1].startswith("```python"):  # a blank line of one example
                parts[-1] = f"{parts[-1][:-4]}\n\n{code}\n```"
            else:
                parts.append(f"```python\n{code}\n```")
        else:
            parts.append(link(escaped("\n".join(line.strip() for line in lines))))
    return "\n\n".join(parts)


def pages_of(path):
    """(file, title, introduction, names) of each page."""
    pages = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            file, _, title = line[3:].partition(": ")
            pages.append((file, title, [], []))
        elif line.startswith("> "):
            pages[-1][2].append(line[2:])
        elif line.strip() and not line.startswith("#"):
            pages[-1][3].extend(line.split())
    return pages


def places_of(tags):
    """The page and anchor of each C++ class and function of the namespace, by its name."""
    found = {}
    for compound in ElementTree.parse(tags).getroot().iter("compound"):
        name = compound.findtext("name", "")
        if compound.get("kind") in ("class", "struct") and name.startswith("dynet::"):
            found.setdefault(name[7:], compound.findtext("filename"))
        elif name == "dynet":
            for member in compound.findall("member"):
                if member.get("kind") == "function":
                    place = f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"
                    found.setdefault(member.findtext("name"), place)
    return found


def class_of(entry):
    bases = ", ".join(entry.bases)
    return f"class {entry.name}({bases})" if bases else f"class {entry.name}"


class Writer:
    def __init__(self, module, pages, places):
        self.module, self.places = module, places
        self.page_of = {name: file for file, _, _, names in pages for name in names}

    def link(self, text):
        """Names in backticks lead to their entries."""
        def linked(match):
            name = re.sub(r"^(dynet|dy)\.|\(.*\)$", "", match.group(1))
            top = name if name in self.page_of else name.split(".")[0]
            if top not in self.page_of or top != name and name.split(".")[1] not in self.module.public[top].members:
                return match.group(0)
            return f"[{match.group(0)}]({self.page_of[top]}.md#dynet.{name})"

        return re.sub(r"`([\w.]+(?:\(\))?)`", linked, text)

    def entry(self, entry, name):
        bases = [base for base in entry.bases if base in self.page_of]
        parts = [f'## <a id="dynet.{name}"></a>{name}']
        signatures = entry.signatures or ([class_of(entry)] if entry.is_class else [])
        if signatures:
            parts.append("```python\n" + "\n".join(signatures) + "\n```")
        parts += [markdown_of(doc, self.link) for doc in entry.docs]
        if bases:
            parts.append("Also has the members of " + ", ".join(self.link(f"`{base}`") for base in bases) + ".")
        cpp = CPP_NAMES.get(name, name)
        if cpp in self.places:
            parts.append(f"In C++: [`dynet::{cpp}`](../../reference/{self.places[cpp]})")
        for member in entry.members.values():
            title = f"{name}.{member.name}".replace("__", r"\_\_")
            parts.append(f'### <a id="dynet.{name}.{member.name}"></a>{title}')
            parts.append("```python\n" + "\n".join(member.signatures) + "\n```")
            parts += [markdown_of(doc, self.link) for doc in member.docs]
        return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stubs", type=pathlib.Path, help="the folder of the built package")
    parser.add_argument("--tags", type=pathlib.Path, help="the tag file of the C++ reference")
    parser.add_argument("--to", required=True, type=pathlib.Path, help="the folder of the pages")
    arguments = parser.parse_args()
    pages = pages_of(PAGES)
    arguments.to.mkdir(parents=True, exist_ok=True)
    if arguments.stubs is None:
        for file, title, _, _ in pages:
            (arguments.to / f"{file}.md").write_text(f"# {title}\n\n{NO_STUBS}\n", encoding="utf-8")
        print("python: pages without names, since there are no stubs")
        return 0
    module = Module(arguments.stubs)
    listed = [name for _, _, _, names in pages for name in names]
    problems = [f"{name}: no page for it in {PAGES.name}" for name in module.public if name not in listed]
    problems += [f"{name}: in {PAGES.name}, but not public" for name in listed if name not in module.public]
    problems += [f"{name}: twice in {PAGES.name}" for name in set(listed) if listed.count(name) > 1]
    for problem in problems:
        print(problem, file=sys.stderr)
    writer = Writer(module, pages, places_of(arguments.tags) if arguments.tags else {})
    for file, title, introduction, names in pages:
        parts = [f"# {title}", "\n".join(introduction)]
        if not names:
            parts += [f"**[{t}]({f}.md)**: " + ", ".join(writer.link(f"`{n}`") for n in listed_there) + "."
                      for f, t, _, listed_there in pages if listed_there]  # fmt: skip
        parts += [writer.entry(module.public[name], name) for name in names if name in module.public]
        (arguments.to / f"{file}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"python: {len(module.public)} names on {len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
