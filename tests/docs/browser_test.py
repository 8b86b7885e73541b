#!/usr/bin/env python3
"""Looks at the pages of the site in headless Chromium: none scrolls sideways at 400 pixels, and text, code and links
have a contrast of 4.5 : 1 with what is behind them, light and dark. The search for dropout finds the C++ function first
and the Python function on the first page. Without Chromium the test is skipped.

    tools/docs && python3 tests/docs/browser_test.py build/docs/site
"""

import html
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

WIDTH, CONTRAST = 400, 4.5

# Opens each page in a frame, and writes what is wrong with it into #out.
HARNESS = """<!doctype html><body><pre id="out"></pre><script>
const pages = PAGES;
const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
function luminance(color) {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
function contrast(a, b) {
  const x = luminance(a), y = luminance(b);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
function behind(e) {
  for (; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (!/rgba\\(.*, 0\\)/.test(color)) return color;
  }
  return "rgb(255, 255, 255)";
}
async function look() {
  const frame = document.createElement("iframe"), out = [];
  frame.style = "width: WIDTHpx; height: 900px; border: 0";
  document.body.append(frame);
  for (const page of pages) {
    await new Promise((done) => { frame.onload = done; frame.src = "/" + page; });
    const shown = frame.contentDocument, still = shown.createElement("style"), found = new Set();
    still.textContent = "* { transition: none !important }";
    shown.head.append(still);
    if (shown.documentElement.scrollWidth > WIDTH) found.add("is " + shown.documentElement.scrollWidth + " pixels wide");
    for (const scheme of ["default", "slate"]) {
      shown.body.setAttribute("data-md-color-scheme", scheme);
      for (const e of shown.querySelectorAll(".md-typeset :is(a:not(.headerlink), p, code, td), .md-nav__link")) {
        if (!e.textContent.trim() || !e.offsetParent) continue;
        const ratio = contrast(getComputedStyle(e).color, behind(e));
        if (ratio < CONTRAST) found.add(`${scheme}: <${e.tagName.toLowerCase()}> has a contrast of ${ratio.toFixed(1)}`);
      }
    }
    out.push([page, [...found]]);
  }
  // The search runs in a worker, in real time: /wait takes some.
  await new Promise((done) => { frame.onload = done; frame.src = "/index.html?q=dropout"; });
  let titles = [];
  for (let k = 0; k < 300 && !titles.length; ++k) {
    await fetch("/wait");
    titles = [...frame.contentDocument.querySelectorAll(".md-search-result__link :is(h1, h2)")].map((e) => e.textContent);
  }
  out.push(["search", titles]);
  document.getElementById("out").textContent = JSON.stringify(out);
}
look();
</script>"""


def serve(site, harness):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(site))

        def do_GET(self):
            if self.path == "/wait":
                time.sleep(0.1)
            elif self.path != "/look":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(harness.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    site = pathlib.Path(sys.argv[1])
    browser = shutil.which("chromium")
    if browser is None:
        print("skipped: there is no chromium")
        return 77
    pages = sorted(str(p.relative_to(site)) for p in site.rglob("*.html") if p.relative_to(site).parts[0] != "reference")
    harness = HARNESS.replace("PAGES", json.dumps(pages)).replace("WIDTH", str(WIDTH)).replace("CONTRAST", str(CONTRAST))
    server = serve(site, harness)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=300000",
               "--window-size=1000,1000", "--dump-dom", f"http://127.0.0.1:{server.server_port}/look"]  # fmt: skip
    shown = subprocess.run(command, text=True, capture_output=True, check=True, timeout=600).stdout
    server.shutdown()
    looked = json.loads(html.unescape(re.search(r'<pre id="out">(.*?)</pre>', shown, re.DOTALL).group(1)))
    _, titles = looked.pop()
    problems = [f"{page}: {problem}" for page, found in looked for problem in found]
    if titles[:1] != ["dropout (function dynet::dropout)"]:
        problems.append(f"search: dynet::dropout is not the first result for dropout, but {titles[:1]}")
    has_python = "dynet.dropout" in (site / "python/reference/noise.html").read_text(encoding="utf-8")
    if has_python and "dy.dropout (Python)" not in titles[:10]:
        problems.append(f"search: dy.dropout is not among the first ten results for dropout: {titles[:10]}")
    print(*problems, sep="\n")
    print(f"browser: {len(looked)} pages, {len(problems)} problems")
    return 1 if problems or len(looked) != len(pages) else 0


if __name__ == "__main__":
    sys.exit(main())
