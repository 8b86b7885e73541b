"""A small checkout in a temporary folder, for tests that plant mistakes in it."""

import pathlib
import tempfile
import unittest


class SmallTree(unittest.TestCase):
    CLEAN = {}  # the text of each file, by its path

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name, text in self.CLEAN.items():
            self.write(name, text)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
