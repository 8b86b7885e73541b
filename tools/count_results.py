#!/usr/bin/env python3
"""Sums up JUnit files of ctest and prints "N passed, N failed, N skipped"."""

import sys
import xml.etree.ElementTree


def main(paths):
    passed = failed = skipped = 0
    for path in paths:
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            reason = case.find("skipped")
            message = "" if reason is None else reason.get("message", "")
            if case.get("status") == "run":
                passed += 1
            elif case.get("status") == "disabled" or message.startswith("SKIP_"):
                skipped += 1
            else:
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
