#!/usr/bin/env python3
"""Follows the links of a folder of web pages: to files of it, and to the places in them. Nothing that a page needs to
be shown may come from elsewhere."""

import argparse
import html.parser
import pathlib
import re
import sys
import urllib.parse

LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []  # (line, tag, attribute, target)
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag, name) == ("a", "name"):
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append((self.getpos()[0], tag, name, value))


def scripted(path):
    """The links in the menu of a Doxygen page, which a script makes."""
    return re.findall(r'\burl:"([^"]*)"', path.read_text(encoding="utf-8"))


def problems_of(site):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    links = [(path, *link) for path, page in pages.items() for link in page.links]
    links += [(path, 1, "a", "href", url) for path in sorted(site.rglob("menudata.js")) for url in scripted(path)]
    problems = []
    for path, line, tag, attribute, target in links:
        where = f"{path.relative_to(site)}:{line}"
        url = urllib.parse.urlsplit(target)
        if url.scheme in ("http", "https") or url.netloc:
            if (tag, attribute) in LOADS:
                problems.append(f"{where}: {target} comes from elsewhere")
            continue
        if url.scheme:
            continue  # mailto:, javascript:, data:
        name = urllib.parse.unquote(url.path)
        to = path if not name else site / name[1:] if name[0] == "/" else path.parent / name
        to = (to / "index.html" if to.is_dir() else to).resolve()
        if not to.is_file() or not to.is_relative_to(site):
            problems.append(f"{where}: the link to {target} leads nowhere")
        elif url.fragment and to in pages and urllib.parse.unquote(url.fragment) not in pages[to].places:
            problems.append(f"{where}: {to.relative_to(site)} has no place #{url.fragment}")
    return sorted(set(problems)), len(pages), len(links)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=pathlib.Path, help="the folder")
    problems, pages, links = problems_of(parser.parse_args().site.resolve())
    for problem in problems:
        print(problem)
    print(f"links: {pages} pages, {links} links, {len(problems)} problems")
    return 1 if problems or not links else 0


if __name__ == "__main__":
    sys.exit(main())
