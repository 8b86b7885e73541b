#!/usr/bin/env python3
"""Adds what Doxygen documents, from its tag file, to the search of the site: one entry for each name of a scope, which
leads to its page in the reference. Classes and functions, in C++ and Python, come before pages that mention them."""

import argparse
import json
import pathlib
import re
import xml.etree.ElementTree as ElementTree

FOLDER, PYTHON = "reference/", "python/reference/"


def entries_of(tags):
    """(place, name, what it is), the first of several overloads."""
    known = set()
    for compound in tags.iter("compound"):
        kind, scope = compound.get("kind"), compound.findtext("name", "")
        if kind in ("class", "struct"):
            known.add(scope)
            yield compound.findtext("filename", ""), scope, kind
        if kind not in ("namespace", "class", "struct"):
            continue
        for member in compound.findall("member"):
            name = f"{scope}::{member.findtext('name', '')}"
            is_constructor = name.split("::")[-1] == scope.split("::")[-1]
            if member.get("kind") not in ("function", "variable", "enumeration", "typedef") or is_constructor:
                continue
            if name not in known:
                known.add(name)
                yield f"{member.findtext('anchorfile', '')}#{member.findtext('anchor', '')}", name, member.get("kind")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tags", required=True, type=pathlib.Path, help="the tag file")
    parser.add_argument("--index", required=True, type=pathlib.Path, help="search_index.json, which is changed")
    arguments = parser.parse_args()
    index = json.loads(arguments.index.read_text(encoding="utf-8"))
    pages = set()
    added = []
    for place, name, kind in sorted(entries_of(ElementTree.parse(arguments.tags).getroot())):
        page, _, anchor = place.partition("#")
        short = name.split("::")[-1]
        title = f"{short} ({kind} {name})"
        entry = {"location": FOLDER + place, "title": title, "text": f"{name} {kind}"}
        if name == f"dynet::{short}":
            entry["tags"] = [short]
        if page not in pages:  # the search takes its title from the first section
            of_page = entry if not anchor else {"title": "Reference", "text": ""}
            added += [of_page | {"location": FOLDER + page}, of_page | {"location": f"{FOLDER}{page}#top"}]
            pages.add(page)
        if anchor:
            added.append(entry)
    titles = {entry["title"] for entry in index["docs"] if "#" not in entry["location"]}
    for entry in index["docs"]:
        if entry["location"].startswith(PYTHON) and re.fullmatch(r"\w+", entry["title"]) and entry["title"] not in titles:
            entry |= {"tags": [entry["title"]], "title": f"dy.{entry['title']} (Python)"}
    index["docs"] += added
    arguments.index.write_text(json.dumps(index), encoding="utf-8")
    print(f"search: {len(added)} names of the reference")


if __name__ == "__main__":
    main()
