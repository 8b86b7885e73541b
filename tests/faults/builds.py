"""What plant.py and mutate.py share: how a build by Ninja compiles and links, and how its tests are run."""

import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_SLOW = "~*(slow)"


class Misfit(Exception):
    """A fault that does not fit the sources, or a build that cannot be used."""


class DoesNotCompile(Exception):
    pass


def module_of(path):
    """Whose tests must find a fault of this file, unless the fault says otherwise."""
    if path.startswith("kernels/cpu/"):
        return "ops"
    if path.startswith("kernels/cuda/"):
        return "driver" if path.endswith("/driver.cc") else "cuda"
    folder, module, *_ = path.split("/")
    if module == "attributes":
        return "ops"
    if module == "structures":
        return {"op": "ops", "attributes": "ops", "shape": "shape"}.get(path.split("/")[-1].split(".")[0], "layers")
    if folder != "dynet-like":
        raise Misfit(f"{path} is of no module that is known")
    return module


class Build:
    """How a build by Ninja makes its objects and programs. Files are named from its folder."""

    def __init__(self, folder):
        self.folder = folder
        if not (folder / "build.ninja").exists():
            raise Misfit(f"{folder} is no build by Ninja")
        self.compiles = {}  # by object
        for entry in json.loads(self.ninja("-t", "compdb")):
            if entry["file"].endswith((".cc", ".cu", ".cxx")) and " -c " in entry["command"]:
                self.compiles[entry["output"]] = entry["command"]
        self.users = self.read_users()

    def ninja(self, *arguments):
        return subprocess.run(
            ["ninja", "-C", self.folder, "--quiet", *arguments],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    def read_users(self):
        """For every file of the checkout, the objects that depend on it."""
        users, compiled = {}, None
        for line in self.ninja("-t", "deps").split("\n"):
            if line and not line.startswith(" "):
                compiled = line.partition(":")[0]
            elif line.strip():
                name = os.path.relpath(self.folder / line.strip(), ROOT)
                if not name.startswith(".."):
                    users.setdefault(name, set()).add(compiled)
        return users

    def inputs(self, target, implicit=False):
        """What Ninja makes a file from; with `implicit` also what must be there before."""
        inputs, here = [], False
        for line in self.ninja("-t", "query", target).split("\n"):
            if re.match(r"  \S", line):
                here = line.startswith("  input:")
            elif here and line.startswith("    ") and (implicit or not line.strip().startswith("|")):
                inputs.append(line.strip().lstrip("| "))
        return inputs

    def link_of(self, target):
        """The words of the command that links a program."""
        command = self.ninja("-t", "commands", "-s", target).strip()
        steps = [s for s in command.split(" && ") if f" -o {target}" in s]
        if len(steps) != 1 or "libdynet-like.a" not in steps[0]:
            raise Misfit(f"the command that links {target} with libdynet-like.a is not understood")
        return shlex.split(steps[0].strip())

    def compile(self, compiled, copy, scratch, drop, add):
        """Compiles a source again, with the files of the copy before those of the checkout. `drop` is a pattern of
        options to leave out."""
        options, skip, source = [], False, None
        words = shlex.split(self.compiles[compiled])
        for word, after in zip(words, [*words[1:], None]):
            if skip:
                skip = False
            elif word == "-include" and after.endswith("/cmake_pch.hxx"):  # read again: it may hold what has changed
                skip = True
                headers = scratch / "headers.hxx"
                headers.write_text(pathlib.Path(after).read_text())
                options += ["-include", str(headers)]
            elif word in ("-o", "-MF", "-MT", "-MQ", "-c"):
                skip = True
                source = after if word == "-c" else source
            elif word not in ("-MD", "-Werror") and not re.fullmatch(drop, word):
                options.append(word)
        name = os.path.relpath(self.folder / source, ROOT)
        if "/Unity/" in name and "/tests/" not in name:  # it would take the source of the checkout
            raise Misfit(f"{self.folder} compiles files in groups; set DYNET_UNITY=OFF there")
        first = next(k for k, word in enumerate(options) if word.startswith("-"))
        options[first:first] = ["-w", *add, f"-I{copy}"]
        result = scratch / (compiled.replace("/", "-").removesuffix(".o")[-100:] + ".o")
        file = copy / name if (copy / name).exists() else ROOT / name
        run([*options, "-c", str(file), "-o", str(result)], self.folder)
        return result


def run(command, folder):
    environment = {**os.environ, "CCACHE_DISABLE": "1"}  # none comes again
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise DoesNotCompile(result.stderr)


def output_of(command, seconds, folder, environment=None, memory=None):
    """(exit status, None if it does not end in time; what it prints). `memory` bounds its bytes."""
    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        preexec_fn=bound if memory else None,
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""


def failure_of(status, output):
    """The case of Catch2 that fails, or None if all pass."""
    if status is None:
        return "it does not end"
    if status in (0, 77):  # passed, or skipped
        return None
    # Catch2 rules off the name of the failing case.
    names = re.findall(r"^-{70,}\n([^\n]+)\n-{70,}$", output, re.MULTILINE)
    crash = f" (signal {-status})" if status < 0 else ""
    return (names[-1] if names else "it ends early") + crash
