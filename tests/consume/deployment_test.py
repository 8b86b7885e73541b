#!/usr/bin/env python3
"""Runs every command of docs/deployment.md, with the installed programs, in a folder with small models. A command that
this test does not know is a failure."""

import argparse
import atexit
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

# These check themselves, and take minutes: stages of their own.
ELSEWHERE = ("tools/static", "cmake --preset static", "tools/wasm")
ROWS = (("the", "DET", 2, "det"), ("cat", "NOUN", 3, "nsubj"), ("sleeps", "VERB", 0, "root"))


def commands_of(document):
    """Lines of the blocks of shell commands, without comments."""
    for block in re.findall(r"^```sh\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL):
        yield from (line.partition(" #")[0].strip() for line in block.splitlines())


class Folder:
    def __init__(self, root, prefix, path):
        self.root, self.path, self.servers = root, path, {}
        libraries = next(prefix.glob("lib*/**/pkgconfig"))
        self.environment = dict(
            os.environ,
            PATH=f"{prefix}/bin:{os.environ['PATH']}",
            PKG_CONFIG_PATH=str(libraries),
            LD_LIBRARY_PATH=str(libraries.parent),
        )
        sentence = "".join(f"{i}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_\n" for i, (w, t, h, r) in enumerate(ROWS, 1)) + "\n"
        for name, text in (("tagged.conllu", 40 * sentence), ("words.txt", "the cat sleeps\n"), ("text", "the cat sleeps\n")):
            (path / name).write_text(text)
        small = "--train tagged.conllu --epochs 2 --hidden 8"
        self.run(f"tagger train {small} --features word:8 --model pos.model")
        self.run(f"parser train {small} --word 4 --tag 4 --mlp 4 --layers 1 --model en.model")
        shutil.copy(path / "pos.model", path / "news.model")
        shutil.copy(root / "examples/c/tagger.c", path)

    def run(self, command):
        done = subprocess.run(command, shell=True, cwd=self.path, env=self.environment, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def serve(self, command):
        """Starts a server at any port that is free, in place of the one in the command."""
        port = re.search(r"--port (\d+)", command).group(1)
        arguments = shlex.split(command.replace(f"--port {port}", "--port 0"))
        process = subprocess.Popen(arguments, cwd=self.path, env=self.environment, stdout=subprocess.PIPE, text=True)
        self.servers[port] = process, process.stdout.readline().strip().rsplit(":", 1)[-1]

    def ask(self, command):
        """`curl --data-binary @FILE URL`, for which no curl is needed."""
        _, option, file, url = shlex.split(command)
        assert option == "--data-binary" and file[0] == "@", command
        port = re.search(r":(\d+)/", url).group(1)
        data = (self.path / file[1:]).read_bytes()
        try:
            with urllib.request.urlopen("http://" + url.replace(port, self.servers[port][1]), data) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{command}\n{error.code}: {error.read().decode()}") from error

    def follow(self, command):
        """Runs a command of the document; returns what it prints, or None if it is run elsewhere."""
        if command.startswith(ELSEWHERE):
            return None
        if command.startswith("scp "):  # the machine in question is this one
            return self.run('cp "$(command -v tagger)" .')
        if command.startswith("ssh "):
            return self.run(shlex.split(command)[2])
        if re.match(r"\w+ serve ", command):
            return self.serve(command)
        if command.startswith("curl "):
            return self.ask(command)
        if command.startswith(("cc ", "dynet-like convert ", "tagger tag ", "parser parse ")):
            return self.run(command)
        raise RuntimeError(f"this test does not know the command: {command}")

    def kill(self):
        for process, _ in self.servers.values():
            process.kill()

    def stop(self):
        for process, _ in self.servers.values():
            process.terminate()
            if process.wait() != 0:
                raise RuntimeError("a server failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where the programs and libraries are installed")
    arguments = parser.parse_args()
    followed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(arguments.root.resolve(), arguments.prefix.resolve(), pathlib.Path(name))
        atexit.register(folder.kill)
        for command in commands_of(arguments.root / "docs/deployment.md"):
            printed = folder.follow(command)
            print(f"$ {command}\n{printed if printed is not None else '(not here)'}")
            followed += printed is not None or " serve " in command
            if command.startswith(("ssh", "curl", "tagger tag")) and "sleeps" not in printed:
                raise RuntimeError("no answer")
        folder.stop()
        (folder.path / "pairs").write_text(20 * ("".join(f"{w} {t}\n" for w, t, _, _ in ROWS) + "\n"))
        folder.run("./tagger train pairs c.model")  # the program in C
        tagged = folder.run("./tagger tag c.model < pairs")
        if not tagged.startswith("the DET\ncat NOUN\nsleeps VERB\n\n"):
            raise RuntimeError(f"the program in C answers\n{tagged}")
    if followed < 8:
        sys.exit(f"only {followed} commands were found")


if __name__ == "__main__":
    main()
