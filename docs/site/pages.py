#!/usr/bin/env python3
"""Lays out the pages of the site: the documents of the checkout at the same places, and, for each other file that
they link to, a page that shows it. Links between documents thus work on the site as they do in the checkout."""

import argparse
import json
import os
import pathlib
import re
import shutil

FOLDERS = ("docs", "examples", "benchmarks", "python")
NO_PAGES = ("docs/reference", "docs/site")  # these make the site
PICTURES = (".svg", ".png")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".cu": "cpp", ".cuh": "cpp", ".cmake": "cmake", ".txt": "text", ".py": "python"}
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r'(?:(?<=\]\()|(?<=<img src="))([^()\s#"]+)(?=(?:#[^()\s]*)?\)|")')
SITE_ONLY = re.compile(r"<!-- site: (.*?) \| (\S*) -->")  # a link to a page that the checkout does not have
NOTE = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)  # for tests; the reader does not see it


def documents(root):
    found = sorted(root.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((root / folder).rglob("*.md"))
    found = [path.relative_to(root) for path in found]
    return [path for path in found if not path.is_relative_to(NO_PAGES[0]) and not path.is_relative_to(NO_PAGES[1])]


def page_of(root, document, text):
    """(text, sources): links to other files lead to their pages; pictures lie where they do in the checkout."""
    prose = CODE.sub(lambda match: "x" * len(match.group(0)), text)
    sources, parts, end = [], [], 0
    for match in LINK.finditer(prose):
        target = match.group(1)
        path = pathlib.Path(os.path.normpath(document.parent / target))
        if re.match(r"[a-z]+:", target) or path.suffix == ".md":
            continue
        if path.suffix in PICTURES:
            new = target
            sources.append(path)
        elif (root / path).is_dir():
            new = f"{target.rstrip('/')}/README.md"
        else:
            new = f"{target}.md"
            sources.append(path)
        parts += [text[end : match.start()], new]
        end = match.end()
    return NOTE.sub("", SITE_ONLY.sub(r" ([\1](\2))", "".join([*parts, text[end:]]))), sources


def output_of(output):
    """What a cell of a notebook has shown: a picture, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="" src="data:image/png;base64,{picture}">'
    if "image/svg+xml" in data:
        return f"<div>{''.join(data['image/svg+xml']).strip()}</div>"  # Markdown leaves a block as it is
    return "````text\n" + "".join(output.get("text", data.get("text/plain", ""))).rstrip() + "\n````"


def notebook_page(path, text):
    parts = [f"---\ntitle: {path.name}\n---"]
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"````python\n{source}\n````")
        parts += map(output_of, cell.get("outputs", []))
    return "\n\n".join(parts) + "\n"


def source_page(path, text):
    if path.suffix == ".ipynb":
        return notebook_page(path, text)
    language = LANGUAGES.get(path.suffix, "cmake" if path.name == "CMakeLists.txt" else "text")
    return f"---\ntitle: {path.name}\nhide: [toc]\n---\n\n# {path}\n\n````{language}\n{text.rstrip()}\n````\n"


def settings(document, text):
    """Columns beside the text that would be empty leave it their room."""
    empty = ["navigation"] if str(document) == "README.md" else []
    empty += ["toc"] if not re.search("^## ", text, re.MULTILINE) else []
    return f"---\nhide: [{', '.join(empty)}]\n---\n\n" if empty else ""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=pathlib.Path, help="the checkout")
    parser.add_argument("--to", required=True, type=pathlib.Path, help="an empty folder")
    arguments = parser.parse_args()
    root, to = arguments.root.resolve(), arguments.to
    shown = set()
    for document in documents(root):
        text, sources = page_of(root, document, (root / document).read_text(encoding="utf-8"))
        write(to / document, settings(document, text) + text)
        shown.update(sources)
    for path in sorted(shown):
        if path.suffix in PICTURES:
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, to / path)
            continue
        text = source_page(path, (root / path).read_text(encoding="utf-8"))
        if path.suffix == ".ipynb":  # which links to others
            text, _ = page_of(root, path, text)
        write(to / f"{path}.md", text)
    shutil.copy(root / "docs/site/site.css", to)
    print(f"pages: {len(documents(root))} documents, {len(shown)} other files")


if __name__ == "__main__":
    main()
