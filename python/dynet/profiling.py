"""Profiles of programs that set DYNET_PROFILE or DYNET_TRACE, without a change to them."""

import atexit
import os

from ._core import Profiler


def profile_by_environment() -> None:
    table, trace = os.environ.get("DYNET_PROFILE"), os.environ.get("DYNET_TRACE")
    if not table and not trace:
        return
    profiler = Profiler()
    profiler.__enter__()

    def write() -> None:
        profiler.__exit__(None, None, None)
        if table:
            profiler.write_table(table)
        if trace:
            profiler.write_trace(trace)

    atexit.register(write)
