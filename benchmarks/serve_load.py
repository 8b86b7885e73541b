#!/usr/bin/env python3
"""Requests and words a second of `annotate serve`, `tagger serve` or `parser serve` with many clients that each send one
sentence at a time, batched and one by one, beside the command line program on the same sentences; then the time of an
answer at half of that load, with requests that come by chance. Every answer must be that of a client alone.

    benchmarks/serve_load.py --program build/release/examples/nlp/annotate --model en.model --data test.conllu
"""

import argparse
import collections
import http.client
import itertools
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

SETTINGS = {"one by one": ["--batch", "1", "--wait", "0"], "batched": []}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PLAIN = {"Content-Type": "text/plain"}


def sentences_of(path, most):
    """Sentences of CoNLL-U as texts."""
    with open(path, encoding="utf-8") as lines:
        return list(itertools.islice((s for s in lines.read().split("\n\n") if s.strip()), most))


class Annotate:
    """What `annotate serve` is asked, and what the program does with the same sentences."""

    path, headers, command = "/process", FORM, ["run", "--input-format", "lines"]

    def __init__(self, sentences):
        self.texts = [re.search(r"^# text = (.*)$", s, re.MULTILINE).group(1).strip() for s in sentences]
        self.input = "".join(t + "\n" for t in self.texts)

    def body(self, number):
        query = {"data": self.texts[number], "tokenizer": "presegmented", "tagger": "", "parser": ""}
        return urllib.parse.urlencode(query)

    def words(self, answer):
        return sum(1 for line in json.loads(answer)["result"].split("\n") if line.split("\t", 1)[0].isdigit())


class Tagger:
    """The same for `tagger serve`."""

    path, headers, command = "/tag", PLAIN, ["tag"]

    def __init__(self, sentences):
        rows = ([line.split("\t") for line in s.split("\n") if line[:1].isdigit()] for s in sentences)
        self.texts = [" ".join(row[1].replace(" ", "") for row in s if row[0].isdigit()) + "\n" for s in rows]
        self.input = "".join(self.texts)

    def body(self, number):
        return self.texts[number].encode()

    def words(self, answer):
        return len(answer.split())


class Parser:
    """The same for `parser serve`."""

    path, headers, command = "/parse", PLAIN, ["parse"]

    def __init__(self, sentences):
        self.texts = [s + "\n\n" for s in sentences]
        self.input = "".join(self.texts)

    def body(self, number):
        return self.texts[number].encode()

    def words(self, answer):
        return sum(1 for line in answer.decode().split("\n") if line.split("\t", 1)[0].isdigit())


class Server:
    def __init__(self, program, options):
        self.process = subprocess.Popen([program, "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline()
        if not ready:
            sys.exit("the server has not started")
        self.port = int(ready.rsplit(":", 1)[1])

    def cpu_seconds(self):
        """CPU time of all its threads."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        if self.process.wait() != 0:
            sys.exit("the server has failed")


def ask(connection, work, number):
    connection.request("POST", work.path, work.body(number), work.headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body.decode()}")
    return body


def run(port, work, clients, rate=None):
    """Answers by text, seconds of each, and seconds of all. With a rate requests begin at times that are drawn, and their
    seconds count from there."""
    count = len(work.texts)
    answers, seconds, errors = [None] * count, [], []
    draw, begins = random.Random(1), [0.0] * count
    for i in range(1, count if rate else 0):
        begins[i] = begins[i - 1] + draw.expovariate(rate)
    numbers, lock = iter(range(count)), threading.Lock()

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                begin = time.perf_counter()
                if rate:
                    begin = start + begins[number]
                    time.sleep(max(0.0, begin - time.perf_counter()))
                answers[number] = ask(connection, work, number)
                seconds.append(time.perf_counter() - begin)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        sys.exit(f"a client got no answer: {errors[0]!r}")
    return answers, seconds, time.perf_counter() - start


def command_seconds(program, model, work):
    """CPU time of the command line program for all sentences, without its start."""

    def cpu(text):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, *work.command, "--model", model], input=text, text=True, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return cpu(work.input) - cpu("")


def milliseconds(seconds):
    return f"median {1000 * statistics.median(seconds):.1f} ms, 95 % within {1000 * statistics.quantiles(seconds, n=20)[-1]:.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program annotate, tagger or parser")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, help="CoNLL-U, whose sentences are sent")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--threads", default="1", help="of the server")
    arguments = parser.parse_args()
    kinds = {"annotate": Annotate, "tagger": Tagger, "parser": Parser}
    work = kinds[os.path.basename(arguments.program)](sentences_of(arguments.data, arguments.requests))
    count, expected, alone, rate, cpu_rates = len(work.texts), None, None, 0, {}

    def check(answers):
        wrong = collections.Counter(a == b for a, b in zip(answers, expected))[False]
        if wrong:
            sys.exit(f"{wrong} of {count} answers differ from those of one client")

    for name, options in SETTINGS.items():
        server = Server(arguments.program, ["--model", arguments.model, "--threads", arguments.threads, *options])
        if expected is None:
            expected, _, _ = run(server.port, work, 1)
        before = server.cpu_seconds()
        answers, seconds, total = run(server.port, work, arguments.clients)
        cpu = server.cpu_seconds() - before
        check(answers)
        words = sum(map(work.words, answers))
        cpu_rates[name], rate = words / cpu, count / total
        print(f"{name}: {rate:.0f} requests/s; a second of CPU time: {words / cpu:.0f} words; {milliseconds(seconds)}")
        if name == "batched":
            _, alone, _ = run(server.port, work, 1)
            answers, seconds, _ = run(server.port, work, arguments.clients, rate / 2)
            check(answers)
        server.stop()
    print(f"one client: {milliseconds(alone)}")
    print(f"half of the load, by chance: {milliseconds(seconds)}")
    command = words / command_seconds(arguments.program, arguments.model, work)
    print(f"command line: a second of CPU time: {command:.0f} words")
    print(
        f"batched beside one by one: {cpu_rates['batched'] / cpu_rates['one by one']:.2f}, "
        f"beside the command line: {cpu_rates['batched'] / command:.2f}; all answers are those of one client"
    )


if __name__ == "__main__":
    main()
