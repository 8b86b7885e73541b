#!/usr/bin/env python3
"""Runs a process in each of two network namespaces, which stand for machines: the same bits as at home. Prints what updates take, and
what the formula of docs/distributed.md makes of it. The network between them has 1 Gbit a second, by `tc`, and 1 ms each way: by `tc` where the kernel
has netem, else relay.cc hands packets over late."""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

from mpis import ENVIRONMENT, ROOT, SKIPPED, installed

GBIT, MILLISECONDS = 1, 1
SECONDS_PER_NUMBER = 2e-9  # docs/distributed.md
SIZES = [1000, 10000, 100000, 1000000]
SUBNET = "10.77.0"
# MPICH 4.0.2 with UCX 1.13.1 over TCP sometimes never returns from MPI_Finalize on a busy machine: one process waits there for an
# answer of the other, which waits in the launcher's barrier and reads nothing any more. A program of one message does so too.
TRIES = {"openmpi": 1, "mpich": 5}
# How each MPI is told of the two "machines", whose address is not that of a shared memory.
OPTIONS = {
    "openmpi": ["--mca", "plm_rsh_agent", "{agent}", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", SUBNET + ".0/24",
                "--mca", "oob_tcp_if_include", SUBNET + ".0/24", "--host", f"{SUBNET}.1,{SUBNET}.2"],
    "mpich": ["-launcher", "ssh", "-launcher-exec", "{agent}", "-hosts", f"{SUBNET}.1,{SUBNET}.2"],
}  # fmt: skip
AGENT = """\
#!/bin/sh
# In place of ssh: HOST COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in *.1) there=NAME0 ;; *) there=NAME1 ;; esac
shift
exec ip netns exec $there unshare --uts sh -c "hostname $there; $*"
"""
SERVER = """
    import socket
    s = socket.create_server(("ADDRESS", 5000))
    print("ready", flush=True)
    c = s.accept()[0]
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(21):
        c.send(c.recv(1))
    left = BYTES
    while left > 0:
        left -= len(c.recv(1 << 20))
    c.send(b"x")
"""
CLIENT = """
    import socket, time
    s = socket.create_connection(("ADDRESS", 5000))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    def seconds(message):
        begin = time.monotonic()
        s.sendall(message)
        s.recv(1)
        return time.monotonic() - begin
    latency = sorted(seconds(b"x") for _ in range(21))[10] / 2
    print(latency, BYTES / (seconds(bytes(BYTES)) - 2 * latency))
"""


class Unavailable(Exception):
    """The kernel, or who runs this, does not allow it."""


def call(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """Two namespaces and what is between them."""

    def __init__(self, folder):
        self.names = [f"dynet{os.getpid()}{end}" for end in "ab"]
        self.folder, self.relay = folder, None
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.replace("NAME0", self.names[0]).replace("NAME1", self.names[1]), encoding="utf-8")
        self.agent.chmod(0o755)

    def __enter__(self):
        try:
            for name in self.names:
                call("ip", "netns", "add", name)
                call("ip", "-n", name, "link", "set", "lo", "up")
            try:
                self.shape_veth()
                self.shaped_by = "netem"
            except Unavailable as why:
                print(f"without netem ({why})")
                self.relay_packets()
                self.shaped_by = "relay.cc"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.relay:
            self.relay.kill()
            self.relay.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def device(self, end, name):
        call("ip", "-n", self.names[end], "addr", "add", f"{SUBNET}.{end + 1}/24", "dev", name)
        call("ip", "-n", self.names[end], "link", "set", name, "mtu", "9000", "up")

    def shape_veth(self):
        call("ip", "link", "add", "v0", "netns", self.names[0], "type", "veth", "peer", "name", "v1", "netns", self.names[1])
        try:
            for end in range(2):
                call("ip", "netns", "exec", self.names[end], "tc", "qdisc", "add", "dev", f"v{end}", "root", "netem",
                     "delay", f"{MILLISECONDS}ms", "rate", f"{GBIT}gbit", "limit", "10000")
                self.device(end, f"v{end}")
        except Unavailable:
            call("ip", "-n", self.names[0], "link", "del", "v0")
            raise

    def relay_packets(self):
        program = self.folder / "relay"
        subprocess.run(["g++", "-std=c++20", "-O2", "-o", program, ROOT / "tests/distributed/relay.cc"], check=True)
        for name in self.names:
            call("ip", "-n", name, "tuntap", "add", "dev", "tun0", "mode", "tun")
        self.relay = subprocess.Popen([program, self.names[0], "tun0", self.names[1], "tun0", str(1000 * MILLISECONDS)],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.relay.stdout.readline() != "ready\n":
            raise Unavailable(self.relay.stderr.read())
        for end in range(2):
            self.device(end, "tun0")
            call("ip", "netns", "exec", self.names[end], "tc", "qdisc", "add", "dev", "tun0", "root", "tbf",
                 "rate", f"{GBIT}gbit", "burst", "128kb", "limit", "4mb")

    def measure(self, bytes_sent=30_000_000):
        """Seconds of a message one way, and bytes a second, without MPI."""
        def python(end, text):
            text = textwrap.dedent(text).replace("ADDRESS", SUBNET + ".2").replace("BYTES", str(bytes_sent))
            return subprocess.Popen(["ip", "netns", "exec", self.names[end], sys.executable, "-c", text],
                                    stdout=subprocess.PIPE, text=True)
        server = python(1, SERVER)
        server.stdout.readline()
        out = python(0, CLIENT).communicate(timeout=60)[0]
        server.wait(10)
        return [float(x) for x in out.split()]

    def start(self, mpi):
        options = [o.format(agent=self.agent) for o in OPTIONS[mpi.name]]
        return [self.agent, SUBNET + ".1", mpi.launcher, *options, "-n", "2"]


def run(command, tries=1):
    # UCX would find the shared memory of both "machines", and asks several times before it sends long messages.
    environment = {**ENVIRONMENT, "UCX_TLS": "tcp", "UCX_RNDV_THRESH": "10m"}
    for left in reversed(range(tries)):
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment, start_new_session=True)
        try:
            out, errors = process.communicate(timeout=60 if left else 300)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not left:
                raise
            print(f"{command[2]}: not ended after a minute, and started once more")
            continue
        if process.returncode != 0:
            raise RuntimeError(f"{command}: {out}{errors}")
        return out


def formula(numbers, latency, bandwidth):
    """Milliseconds of an update by docs/distributed.md, for two processes."""
    messages = 2 + 2 * (3 if 2 * numbers > 64 << 10 else 1)
    return 1e3 * (messages * latency + 4 * numbers / bandwidth + SECONDS_PER_NUMBER * numbers)


def milliseconds(out):
    return {int(n): float(ms) for n, ms in re.findall(r"^(\d+) numbers: (\S+) ms", out, re.MULTILINE)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("link", nargs="+", help="the library, and what the linker needs besides")
    arguments = parser.parse_args()
    mpis = installed()
    if not mpis or os.geteuid() != 0 or not all(map(shutil.which, ["ip", "tc", "unshare"])):
        print("skipped: it takes an MPI, root, and the packages iproute2 and util-linux")
        return SKIPPED
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            with Network(folder) as network:
                latency, bandwidth = network.measure()
                print(f"the network, delayed by {network.shaped_by}: {1e3 * latency:.2f} ms, {bandwidth / 1e6:.0f} MB/s")
                for mpi in mpis:
                    course = mpi.build(folder / f"course-{mpi.name}", ["examples/basics/18_distributed.cc"], arguments.link)
                    program = mpi.build(folder / f"program-{mpi.name}", ["tests/distributed/mpi_program.cc"], arguments.link)
                    begun = time.monotonic()
                    there, here = run([*network.start(mpi), course], TRIES[mpi.name]), run([course])
                    print(f"{mpi.name}: {there.strip()}, in {time.monotonic() - begun:.1f} s")
                    if not there.startswith("2 processes") or there.split()[-1] != here.split()[-1]:
                        problems.append(f"{mpi.name}: {there!r} between namespaces, {here!r} at home")
                    measured = milliseconds(run([*network.start(mpi), program, "cost", *SIZES], TRIES[mpi.name]))
                    for n in SIZES:
                        model = formula(n, latency, bandwidth)
                        ratio = measured[n] / model
                        print(f"{mpi.name}, {n} numbers: {measured[n]:.2f} ms, {model:.2f} by the formula, {ratio:.2f} times")
        except Unavailable as why:
            print(f"skipped: {why}")
            return SKIPPED
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
