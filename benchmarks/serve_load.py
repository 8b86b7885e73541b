#!/usr/bin/env python3
"""Requests and words a second of `annotate serve` with many clients that each send one sentence at a time, batched and
one by one, with the time of an answer. Every answer must be that of a client alone.

    benchmarks/serve_load.py --program build/release/examples/nlp/annotate --model en.model --data test.conllu
"""

import argparse
import collections
import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

SETTINGS = {"one by one": ["--batch", "1", "--wait", "0"], "batched": []}


def texts_of(path, most):
    with open(path, encoding="utf-8") as lines:
        found = (line[len("# text = ") :].strip() for line in lines if line.startswith("# text = "))
        return list(itertools.islice(found, most))


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


def ask(connection, text):
    query = {"data": text, "tokenizer": "presegmented", "tagger": "", "parser": ""}
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/process", urllib.parse.urlencode(query), headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body.decode()}")
    return body


def run(port, texts, clients):
    """Answers by text, seconds of each, and seconds of all."""
    numbers, answers, seconds, errors = iter(range(len(texts))), [None] * len(texts), [], []
    lock = threading.Lock()

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                start = time.perf_counter()
                answers[number] = ask(connection, texts[number])
                seconds.append(time.perf_counter() - start)
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


def words_of(answer):
    lines = json.loads(answer)["result"].split("\n")
    return sum(1 for line in lines if line.split("\t", 1)[0].isdigit())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program annotate")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, help="CoNLL-U, whose comments `# text` are sent")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--threads", default="1", help="of the server")
    arguments = parser.parse_args()
    texts = texts_of(arguments.data, arguments.requests)
    expected = None
    for name, options in SETTINGS.items():
        server = Server(arguments.program, ["--model", arguments.model, "--threads", arguments.threads, *options])
        if expected is None:
            expected, _, _ = run(server.port, texts, 1)
        before = server.cpu_seconds()
        answers, seconds, total = run(server.port, texts, arguments.clients)
        cpu = server.cpu_seconds() - before
        server.stop()
        wrong = collections.Counter(a == b for a, b in zip(answers, expected))[False]
        words = sum(map(words_of, answers))
        print(
            f"{name}: {len(texts) / total:.0f} requests/s, {words / total:.0f} words/s; a second of CPU time: "
            f"{len(texts) / cpu:.0f} requests, {words / cpu:.0f} words; "
            f"median {1000 * statistics.median(seconds):.0f} ms, "
            f"95 % within {1000 * statistics.quantiles(seconds, n=20)[-1]:.0f} ms, "
            f"{wrong} of {len(texts)} answers differ from those of one client"
        )
        if wrong:
            sys.exit(1)


if __name__ == "__main__":
    main()
