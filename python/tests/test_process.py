"""Behaviour that only shows in a process of its own: memory, forks, interpreters, signals, threads."""

import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest


# A shell starts a job in the background with SIGINT ignored, and its children inherit that.
def listen():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(program, timeout=120):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=timeout, preexec_fn=listen)


def output_of(program):
    ran = run("from dynet import _core\n_core._warn_of_leaks()\n" + textwrap.dedent(program))
    assert ran.returncode == 0, ran.stderr
    assert "leaked" not in ran.stderr, ran.stderr
    return ran.stdout


# The memory that the process has now, in bytes.
MEMORY = """
import os
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="there is no /proc")
def test_a_million_graphs_take_no_more_memory_than_a_thousand():
    growth = int(output_of(MEMORY + textwrap.dedent("""
        import dynet as dy
        pc = dy.ParameterCollection()
        w = pc.add_parameters(4)
        def sample():
            dy.renew_cg()
            with dy.graph():
                (w + 1.0).value()
        for _ in range(1000):
            sample()
        before = memory()
        for _ in range(1000000):
            sample()
        print(memory() - before)
        """)))
    assert growth < 4 << 20


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="there is no /proc")
def test_cycles_are_collected():
    growth = int(output_of(MEMORY + textwrap.dedent("""
        import gc
        import dynet as dy
        class Network:
            def __init__(self):
                self.pc = dy.ParameterCollection()
                self.pc.owner = self  # a cycle through a class of the module
                self.w = self.pc.add_parameters((100, 100))
                self.trainer = dy.AdamTrainer(self.pc)
                self.trainer.owner = self
                self.rnn = dy.LSTMBuilder(1, 50, 50, self.pc)
                self.rnn.owner = self
        for k in range(600):
            Network()
            gc.collect()
            if k == 100:
                before = memory()
        print(memory() - before)
        """)))
    assert growth < 8 << 20  # 500 networks have 100 MB


def test_leaks_are_found_but_not_told_to_users():
    program = """
        import dynet as dy
        p = dy.ParameterCollection().add_parameters(3)
        import ctypes
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(p))
        """
    with pytest.raises(AssertionError, match="leaked"):
        output_of(program)
    assert run(program).stderr == ""


def test_forked_workers_go_on():
    assert output_of("""
        import os, dynet as dy
        pc = dy.ParameterCollection()
        w = pc.add_parameters(3, init=1.0)
        loss = dy.squared_norm(w * 2.0)
        assert loss.value() == 12
        children = []
        for k in range(3):
            pid = os.fork()
            if pid == 0:
                assert loss.value() == 12
                loss.backward()
                dy.SimpleSGDTrainer(pc).update()
                dy.renew_cg()
                os._exit(0 if dy.squared_norm(w * 1.0).value() < 3 else 1)
            children.append(pid)
        print([os.waitpid(pid, 0)[1] for pid in children], loss.value())
        """) == "[0, 0, 0] 12.0\n"


def test_module_may_be_imported_again():
    assert output_of("""
        import sys
        import dynet as first
        p = first.ParameterCollection().add_parameters(3, init=1.0)
        for name in [n for n in sys.modules if n.partition(".")[0] == "dynet"]:
            if name != "dynet._core":
                del sys.modules[name]
        import dynet as second
        print(second is not first, second.squared_norm(p * 1.0).value())
        import _dynet
        print(_dynet.LSTMBuilder is second.LSTMBuilder)
        """) == "True 3.0\nTrue\n"


def test_another_interpreter_is_refused_in_words():
    ran = run("""
        import sys
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        import dynet
        made = interpreters.create()
        found = interpreters.run_string(made, "import dynet; print(dynet.scalarInput(1).value())")
        print(found)
        """)
    assert ran.returncode >= 0, ran.stderr  # no signal
    assert "1.0" in ran.stdout or "interpreter" in ran.stdout + ran.stderr


def test_an_interrupt_ends_training_and_loses_nothing():
    assert output_of("""
        import os, signal, threading, dynet as dy
        pc = dy.ParameterCollection()
        w = pc.add_parameters((200, 200))
        trainer = dy.SimpleSGDTrainer(pc, 1e-4)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        updates = 0
        try:
            while True:
                dy.renew_cg()
                dy.squared_norm(w * dy.ones(200)).backward()
                trainer.update()
                updates += 1
        except KeyboardInterrupt:
            pass
        dy.renew_cg()
        value = dy.squared_norm(w * dy.ones(200)).value()
        print(updates > 10, value == value)
        """) == "True True\n"


def test_process_may_end_with_a_graph_that_holds_objects():
    assert output_of("""
        import dynet as dy
        class Same(dy.Operation):
            def forward(self, x):
                return x
            def backward(self, dy, x):
                return dy
        p = dy.ParameterCollection().add_parameters(3, init=1.0)
        print(dy.sum_elems(Same()(p)).value())
        """) == "3.0\n"


def test_an_interrupt_ends_one_long_forward_or_backward_pass():
    assert output_of("""
        import os, signal, threading, time, dynet as dy
        pc = dy.ParameterCollection()
        w = pc.add_parameters((400, 400))
        def chain(steps):
            dy.renew_cg()
            h = dy.ones(400)
            for _ in range(steps):
                h = dy.tanh(w * h)
            return dy.sum_elems(h)
        start = time.perf_counter()
        chain(1000).forward()
        steps = int(5 / (time.perf_counter() - start)) * 1000  # five seconds each way
        for name in "forward", "backward":
            loss = chain(steps)
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            start = time.perf_counter()
            try:
                getattr(loss, name)()
                print("went through")
            except KeyboardInterrupt:
                print(name, time.perf_counter() - start < 2)
        pc.reset_gradient()
        loss = chain(10)
        loss.backward()
        print(loss.value() == loss.value(recalculate=True), pc.gradient_l2_norm() > 0)
        """) == "forward True\nbackward True\nTrue True\n"


def test_an_interrupt_of_the_only_thread_ends_a_pass():
    assert output_of("""
        import signal, threading, time, dynet as dy
        def stop(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, stop)
        w = dy.ParameterCollection().add_parameters((400, 400))
        h = dy.ones(400)
        for _ in range(200000):  # some seconds
            h = dy.tanh(w * h)
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            h.forward()
            print("went through")
        except KeyboardInterrupt:
            print(threading.active_count(), time.perf_counter() - start < 1.5)
        """) == "1 True\n"


@pytest.mark.parametrize("work", ["h.forward()", "dy.sum_elems(h).backward()", "dy.cg().forward(len(dy.cg()) - 1)"])
def test_other_threads_run_while_a_graph_does(work):
    assert output_of(f"""
        import threading, time, dynet as dy
        w = dy.ParameterCollection().add_parameters((400, 400))
        h = dy.ones(400)
        for _ in range(60000):  # half a second or more
            h = dy.tanh(w * h)
        turns, ended = 0, False
        def other():
            global turns
            while not ended:
                time.sleep(0.001)
                turns += 1
        thread = threading.Thread(target=other)
        thread.start()
        before = turns
        {work}
        during = turns - before
        ended = True
        thread.join()
        print(during > 20)
        """) == "True\n"


def test_eight_threads_over_eight_graphs_do_what_one_does():
    program = pathlib.Path(__file__).parent / "eight_threads.py"
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and "as one thread" in ran.stdout, ran.stderr
