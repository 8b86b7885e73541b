#!/usr/bin/env python3
"""The manual page and the completion of each installed program are complete: groff reads the page without a warning, and
it has all options of --help; bash and zsh complete commands, options, values with names, and files."""

import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

OPTIONS = re.compile(r"^  (-.*?)(?:  |$)", re.MULTILINE)  # the left column of --help
COMMANDS = re.compile(r"^  ([a-z]+) ", re.MULTILINE)


def printed(*command, **options):
    done = subprocess.run(command, text=True, capture_output=True, check=True, **options)
    if done.stderr:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def options_of(text):
    """{option: name of its value or ""}"""
    found = {}
    for left in OPTIONS.findall(text):
        names = re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", left)
        value = left.replace(",", "").split()[len(names) :]
        found |= dict.fromkeys(names, value[0] if value else "")
    return found


def commands_of(text):
    return COMMANDS.findall(text.partition("Commands:\n")[2].partition("\n\n")[0] + "\n")


def check_page(page, texts):
    """`texts`: {command: its --help}, "" for the program."""
    for warnings in (["groff", "-man", "-Tutf8", "-ww", "-z"], ["man", "--warnings", "-l"]):
        if shutil.which(warnings[0]):
            printed(*warnings, page)
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", printed("groff", "-man", "-Tutf8", "-rLL=300n", page))
    shown = shown.replace("\N{HYPHEN}", "-").replace("\N{MINUS SIGN}", "-")
    if not re.search(rf"^NAME\n +{page.stem} - \w.*\n\n", shown, re.MULTILINE):
        raise AssertionError(f"{page}: no line for whatis")
    for command, text in texts.items():
        begin = shown.index(f"\n{page.stem} {command}\n") if command else 0
        section = shown[begin : shown.find(f"\n{page.stem} ", begin + 1)]
        for option, value in options_of(text).items():
            described_once = command and option in ("--help", "-h")
            if not described_once and not re.search(rf"(^| ){option} ?{value}(, | |$)", section, re.MULTILINE):
                raise AssertionError(f"{page}: no {option} {value} of {command}")


def bash_words(script, line):
    """Words that the function offers; "default" and "dirnames" stand for completion by readline."""
    words = line.replace("=", " = ").split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    offered = printed("bash", "--norc", "-c", f"""
        compopt() {{ printf '%s\\n' "$*"; }}
        source '{script}'
        COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
        $(complete -p {words[0]} | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
        printf '%s\\n' "${{COMPREPLY[@]}}" """)
    return [word for word in offered.split("\n") if word]


def check_bash(script, name, texts):
    printed("bash", "-n", script)
    commands = [command for command in texts if command]
    expect(script, f"{name} ", [*commands, *options_of(texts[""])])
    for command in commands:
        options = options_of(texts[command])
        expect(script, f"{name} {command} -", options)
        expect(script, f"{name} {command} --mod", [option for option in options if option.startswith("--mod")])
        for option, value in options.items():
            if value in ("N", "X"):
                expect(script, f"{name} {command} {option} ", ["+o default"])
            elif value == "DIR":
                expect(script, f"{name} {command} {option} ", ["+o default -o dirnames"])
            elif value == "FILE":
                expect(script, f"{name} {command} {option} ", [])
        if "--encoding" in options:
            expect(script, f"{name} {command} --encoding ", ["utf8", "latin1"])
            expect(script, f"{name} {command} --encoding=", ["utf8", "latin1"])
            expect(script, f"{name} {command} --encoding=l", ["latin1"])
            expect(script, f"{name} {command} --encoding k", [])
        if "--part" in options:
            expect(script, f"{name} {command} --part t", ["train", "test"])


def expect(script, line, words):
    found = bash_words(script, line)
    if sorted(found) != sorted(words):
        raise AssertionError(f"{script}: '{line}' is completed to {found}, not {sorted(words)}")


def typed(shell, setup, line, folder):
    """The last line of a terminal after `line` and a tab key."""
    controller, terminal = pty.openpty()
    environment = dict(os.environ, TERM="dumb", HOME=str(folder), PS1="> ", LC_ALL="C.UTF-8")
    process = subprocess.Popen(shell, stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env=environment, start_new_session=True)
    os.close(terminal)
    os.write(controller, f"{setup}; echo rea''dy\n".encode())
    wait_for(controller, "\nready")
    os.write(controller, f"{line}\t".encode())
    text = wait_for(controller, None)
    process.kill()
    process.wait()
    os.close(controller)
    return text.replace("\x07", "").rstrip("\r\n ").split("\n")[-1]


def wait_for(controller, wanted, seconds=20):
    """Output of the terminal up to `wanted`, or, if None, up to a second of silence."""
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([controller], [], [], 1)[0]:
            text += os.read(controller, 65536).decode(errors="replace")
        elif wanted is None and text:
            return text
        if wanted is not None and wanted in text.replace("\r", ""):
            return text
    raise AssertionError(f"no answer of the shell: {text!r}")


def check_terminals(prefix, name):
    """A command and a file, as a user types them."""
    bash = prefix / "share/bash-completion/completions" / name
    shells = {"bash": (["bash", "--norc", "--noprofile", "-i"], f"source '{bash}'")}
    zsh = f"fpath=('{prefix}/share/zsh/site-functions' $fpath); autoload -Uz compinit; compinit -u -D"
    shells["zsh"] = (["zsh", "-f", "-i"], zsh)
    for shell, (command, setup) in shells.items():
        if not shutil.which(shell):
            print(f"not tested: there is no {shell}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "corpus.txt").touch()
            for line, end in ((f"{name} tra", "train"), (f"{name} train --trai", "--train"), (f"{name} train --train corp", "corpus.txt"),
                              (f"{name} train --encoding la", "latin1")):
                found = typed(command, setup, line, folder)
                if not found.rstrip("= ").endswith(end):
                    raise AssertionError(f"{shell}: '{line}' is completed to {found!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="folder with the component tools alone")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    prefix = arguments.prefix.resolve()
    for program in (prefix / "bin" / name for name in arguments.programs):
        texts = {"": printed(program, "--help")}
        texts |= {command: printed(program, command, "--help") for command in commands_of(texts[""])}
        if len(texts) < 4 or any("--help" not in options_of(text) for text in texts.values()):
            raise AssertionError(f"{program} --help is not understood: {texts}")
        check_bash(prefix / "share/bash-completion/completions" / program.name, program.name, texts)
        page = prefix / "share/man/man1" / f"{program.name}.1"
        if not page.exists() or not (prefix / "share/zsh/site-functions" / f"_{program.name}").exists():
            raise AssertionError(f"no page or completion of {program.name}")
        if shutil.which("groff"):
            check_page(page, texts)
        print(f"{program.name}: {len(texts) - 1} commands, {sum(len(options_of(text)) for text in texts.values())} options")
    if "tagger" in arguments.programs:
        check_terminals(prefix, "tagger")
    if not shutil.which("groff"):
        print("skipped: there is no groff")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
