"""Pictures of graphs."""

from __future__ import annotations

import html
import re
import shutil
import subprocess

_NODE = re.compile(r'^ *N(\d+) \[label="((?:[^"\\]|\\.)*)"(, shape=box)?\];', re.MULTILINE)
_EDGE = re.compile(r"N(\d+) -> N(\d+)")
_MOST_NODES = 500  # limit of a readable picture
_LETTER, _LINE, _HEIGHT, _GAP = 6.9, 14, 36, 40  # in pixels


def svg(graphviz: str) -> str | None:
    """Picture of a Graphviz text, drawn by the program `dot`. Without `dot` a simpler picture, or None for a graph
    of more than 500 nodes."""
    dot = shutil.which("dot")
    if dot is None:
        return _drawn(graphviz)
    ran = subprocess.run([dot, "-Tsvg"], input=graphviz, capture_output=True, text=True,
                         check=False)
    return ran.stdout if ran.returncode == 0 else None


class _Node:
    def __init__(self, label: str, is_box: bool) -> None:
        self.lines = label.replace('\\"', '"').replace("\\\\", "\\").split("\\n")
        self.radius = 2 if is_box else _HEIGHT // 2
        self.width = _LETTER * max(map(len, self.lines)) + 12
        self.operands: list[_Node] = []
        self.uses: list[_Node] = []
        self.column, self.x, self.y = 0, 0.0, 0.0


def _placed(graphviz: str) -> list[_Node]:
    """Nodes in columns to the right of their operands, each at about the height of its operands."""
    nodes = {n: _Node(label, bool(box)) for n, label, box in _NODE.findall(graphviz)}
    for operand, use in _EDGE.findall(graphviz):
        nodes[use].operands.append(nodes[operand])
        nodes[operand].uses.append(nodes[use])
    order = list(nodes.values())  # operands precede their uses
    for node in order:
        node.column = max((o.column + 1 for o in node.operands), default=0)
    for node in order:
        if not node.operands and node.uses:  # next to its first use
            node.column = min(u.column for u in node.uses) - 1
    x = 4.0
    for column in range(1 + max((node.column for node in order), default=0)):
        inside = [node for node in order if node.column == column]
        for node in inside:
            node.x = x
            node.y = sum(o.y for o in node.operands) / max(1, len(node.operands))
        free = 4.0
        for node in sorted(inside, key=lambda node: node.y):
            node.y = max(free, node.y)
            free = node.y + _HEIGHT + 8
        x += max((node.width for node in inside), default=0.0) + _GAP
    return order


def _drawn(graphviz: str) -> str | None:
    nodes = _placed(graphviz)
    if len(nodes) > _MOST_NODES:
        return None
    right = max((node.x + node.width for node in nodes), default=0) + 4
    bottom = max((node.y for node in nodes), default=0) + _HEIGHT + 4
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{bottom:.0f}" '
             'font-family="monospace" font-size="11" text-anchor="middle">',
             '<rect width="100%" height="100%" fill="white"/>']
    for node in nodes:
        v = node.y + _HEIGHT / 2
        for o in node.operands:
            x, y, bend = o.x + o.width, o.y + _HEIGHT / 2, _GAP / 2
            parts.append(f'<path d="M{x:.0f} {y:.0f}C{x + bend:.0f} {y:.0f} {node.x - bend:.0f} {v:.0f} '
                         f'{node.x:.0f} {v:.0f}" fill="none" stroke="gray"/>')
    for node in nodes:
        parts.append(f'<rect x="{node.x:.0f}" y="{node.y:.0f}" width="{node.width:.0f}" height="{_HEIGHT}" '
                     f'rx="{node.radius}" fill="white" stroke="black"/>')
        for k, line in enumerate(node.lines, 1):
            parts.append(f'<text x="{node.x + node.width / 2:.0f}" y="{node.y + k * _LINE:.0f}">{html.escape(line)}'
                         "</text>")
    return "\n".join([*parts, "</svg>"])
