"""Graphs and expressions: values, operators, several graphs and threads, errors, pictures."""

import gc
import shutil
import subprocess
import sys
import textwrap
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

import dynet as dy


@pytest.fixture(autouse=True)
def new_graph():
    dy.renew_cg()


def line_of(part):
    """The number of the first line of this file with this text."""
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if part in line)


def test_value_has_the_most_fitting_type():
    assert dy.scalarInput(3).value() == 3.0
    assert dy.inputVector([1, 2]).value() == [1.0, 2.0]
    matrix = dy.inputTensor([[1, 2], [3, 4]])
    assert matrix.value().tolist() == [[1, 2], [3, 4]]
    batch = dy.inputTensor([[1, 2, 3], [4, 5, 6]], batched=True)
    assert batch.dim() == ((2,), 3) and batch.value().shape == (2, 3)
    assert dy.sum_elems(batch).value() == [5, 7, 9]
    assert matrix.vec_value() == [1, 3, 2, 4]
    assert matrix.npvalue().dtype == np.float64 and matrix.numpy().dtype == np.float32
    with pytest.raises(ValueError, match="one"):
        matrix.scalar_value()


def test_a_batch_may_have_one_number_for_each_element():
    for made in (dy.inputTensor([1, 2, 3], batched=True), dy.inputTensor(np.arange(1, 4), batched=True),
                 dy.inputTensorTranspose([1, 2, 3], batched=1), dy.inputTensor([np.array([1, 2, 3])[k:k + 1] for k in range(3)]),
                 dy.sparse_inputTensor([[0, 1, 2]], [1, 2, 3], (3,), batched=np.bool_(True))):
        assert made.dim() == ((1,), 3) and made.value() == [1, 2, 3]


def test_a_list_of_arrays_has_one_for_each_batch_element():
    arrays = [np.arange(6.0).reshape(2, 3) + k for k in range(4)]
    x = dy.inputTensor(arrays)
    assert x.dim() == ((2, 3), 4) and np.array_equal(x.npvalue(), np.stack(arrays, axis=-1))
    assert dy.inputTensor([a.tolist() for a in arrays]).dim() == ((4, 2, 3), 1)


def test_arithmetic_takes_numbers_on_either_side():
    x = dy.inputVector([1.0, 2.0, 4.0])
    values = [1.0, 2.0, 4.0]
    for made, expected in [
        (x + 1, [v + 1 for v in values]), (1 + x, [v + 1 for v in values]),
        (x - 1, [v - 1 for v in values]), (1 - x, [1 - v for v in values]),
        (x * 2, [v * 2 for v in values]), (2 * x, [v * 2 for v in values]),
        (x / 2, [v / 2 for v in values]), (2 / x, [2 / v for v in values]),
        (x**2, [v**2 for v in values]), (2**x, [2**v for v in values]), (-x, [-v for v in values]),
        (x**3, [v**3 for v in values]), (x * np.float32(2), [v * 2 for v in values]),
        (np.float64(2) * x, [v * 2 for v in values]), (np.int64(3) + x, [v + 3 for v in values]),
    ]:
        assert made.value() == pytest.approx(expected)
    for other in "a", None, [1, 2]:
        with pytest.raises(TypeError):
            x + other
        with pytest.raises(TypeError):
            other * x


def test_parameters_are_operands_on_either_side():
    pc = dy.ParameterCollection()
    p = pc.parameters_from_numpy(np.array([1.0, 2.0]))
    x = dy.inputVector([3.0, 4.0])
    assert (p + x).value() == (x + p).value() == [4, 6]
    assert (1 - p).value() == [0, -1] and (-p).value() == [-1, -2]
    assert p[1].value() == 2 and p[-1].value() == 2 and p.value() == [1, 2]
    size = len(dy.cg())
    p + x
    assert len(dy.cg()) == size + 1  # a parameter is one node, however often it is used


def test_operands_may_be_of_derived_classes():
    class Mine(dy.Expression):
        def __sub__(self, other):
            return "mine"

    p = dy.ParameterCollection().parameters_from_numpy(np.array([1.0, 2.0]))
    x, mine = dy.inputVector([3.0, 4.0]), Mine(p)
    assert (mine + x).value() == (x + mine).value() == (p + x).value() == [4, 6]
    assert mine - x == "mine" and (x - mine).value() == [2, 2] and (-mine).value() == [-1, -2]
    assert dy.tanh(mine).value() == dy.tanh(p).value() and dy.esum([mine, x]).value() == [4, 6]


def test_power_by_its_function():
    x = dy.inputVector([1.0, 2.0])
    assert pow(x, 3, None).value() == [1, 8] and x.__pow__(2).value() == [1, 4]


def test_operators_have_the_names_that_python_calls_them_by():
    x = dy.inputVector([1.0, 2.0])
    p = dy.ParameterCollection().parameters_from_numpy(np.array([1.0, 2.0]))
    for e in x, p:
        assert e.__add__(1).value() == e.__radd__(1).value() == [2, 3] and e.__rsub__(1).value() == [0, -1]
        assert e.__add__("a") is NotImplemented and bool(e)
    with pytest.raises(OverflowError):
        x * 10**400


def test_many_expressions_at_once_are_told_apart():
    for _ in range(2):
        dy.renew_cg()
        xs = [dy.scalarInput(k) for k in range(10000)]
        assert [x.value() for x in xs[::100]] == list(range(0, 10000, 100))


def test_parameter_of_a_collection_that_is_gone_is_taken_for_no_other():
    for value in range(1, 300):
        p = dy.ParameterCollection().parameters_from_numpy(np.array([float(value)]))
        assert (p + 1).value() == value + 1  # in one graph, which keeps all of them
    for value in range(1, 300):
        dy.renew_cg()
        p = dy.ParameterCollection().parameters_from_numpy(np.array([float(value)]))
        assert (p + 1).value() == value + 1


def test_subscripts():
    rows = np.arange(12.0).reshape(4, 3)
    x = dy.inputTensor(rows)
    for key in (0, -1, slice(1, 3), slice(None, None, 2), slice(-2, None), (1, 2), (slice(None), 1),
                (slice(0, 3, 2), slice(1, 3))):
        assert np.array_equal(x[key].npvalue().squeeze(), rows[key].squeeze()), key
    for key in (4, -5, (0, 3), slice(2, 2), slice(3, 1), slice(None, None, -1)):
        with pytest.raises(IndexError):
            x[key]
    assert [row.value() for row in dy.inputVector([1, 2, 3])] == [1, 2, 3]
    for key in "a", None, 1.5, [0, 1], ...:
        with pytest.raises(TypeError):
            x[key]


def test_the_index_behind_the_last_dimension_is_of_the_batch():
    numbers = np.arange(60.0).reshape(4, 3, 5)
    x = dy.inputTensor(numbers, batched=True)
    for key in ((slice(1), slice(2), slice(3)), (slice(None), slice(None), slice(None, None, 2)), (slice(2), 1, slice(-2, None)),
                (1, 2, 3), (slice(None), slice(None), -1), (slice(None), slice(None), slice(None, None, -1))):
        assert np.array_equal(x[key].npvalue().squeeze(), numbers[key].squeeze()), key
    assert x[:1, :2, :3].dim() == ((1, 2), 3) and x[:, :, 0].dim() == x[:, :, :1].dim() == ((4, 3), 1)
    assert dy.inputVector([1, 2])[:, 0].value() == [1, 2]
    for key in (slice(None), slice(None), 5), (0, 0, slice(3, 3)), (0, 0, 0, 0):
        with pytest.raises(IndexError):
            x[key]


def test_an_error_names_the_line_that_made_the_expression():
    x = dy.inputVector([1, 2, 3])
    with pytest.raises(dy.ShapeError) as caught:
        x * x  # a product of two columns
    assert f"test_graphs.py:{line_of('a product of two columns')}" in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, dy.Error)
    builder = dy.BiRNNBuilder(1, 4, 4, dy.ParameterCollection(), dy.LSTMBuilder)
    with pytest.raises(ValueError) as caught:
        builder.transduce([x])  # four numbers are needed
    assert f"test_graphs.py:{line_of('four numbers are needed')}" in str(caught.value)


def test_every_error_of_the_package_names_a_line():
    x = dy.inputVector([1, 2, 3])
    for mistake in (lambda: dy.esum([]), lambda: dy.inputTensor(3), lambda: dy.pick(x, 3),
                    lambda: dy.softmax(x, d=2), lambda: x.backward(), lambda: dy.dropout(x, 1.5)):
        with pytest.raises(dy.Error, match=r"test_graphs.py:\d+"):
            mistake()


def test_texts_lists_and_none_are_no_operands():
    x = dy.inputVector([1, 2, 3])
    for mistake in lambda: x + "1", lambda: [1] * x, lambda: x - None:
        with pytest.raises(TypeError, match="Expression"):
            mistake()


def test_after_an_error_the_graph_still_works():
    x = dy.inputVector([1, 2, 3])
    size = len(dy.cg())
    with pytest.raises(ValueError):
        x * x
    assert len(dy.cg()) == size and (x + 1).value() == [2, 3, 4]


def test_a_thread_has_a_graph_from_the_first_question_on():
    found = []
    thread = threading.Thread(target=lambda: found.append(dy.cg()))
    thread.start()
    thread.join()
    assert type(found[0]) is type(dy.cg()) and found[0] is not dy.cg()


def test_stale_expressions_are_refused_by_everything():
    x = dy.sum_elems(dy.inputVector([1, 2]))
    dy.renew_cg()
    y = dy.scalarInput(1)
    uses = [x.value, x.npvalue, x.backward, x.gradient, x.dim, lambda: x + 1, lambda: x / 2,
            lambda: 1 / x, lambda: 2**x, lambda: x**2, lambda: x + y, lambda: y + x, lambda: dy.esum([y, x]),
            lambda: dy.tanh(x), lambda: x[0], lambda: x.value(recalculate=True),
            lambda: dy.values([x]), lambda: dy.forward([x, y]), x.forward, x.tensor_value]
    size = len(dy.cg())
    for use in uses:
        with pytest.raises(dy.StaleExpressionError):
            use()
    assert len(dy.cg()) == size
    assert x.is_stale() and not y.is_stale() and "expression" in repr(x)


def test_immediate_values_and_checks():
    dy.renew_cg(immediate_compute=True, check_validity=True)
    with pytest.raises(dy.NumericError) as caught:
        dy.log(dy.scalarInput(-1))  # is not a number
    assert f"test_graphs.py:{line_of('is not a number')}" in str(caught.value)
    with dy.graph(check_validity=True):
        bad = dy.sqrt(dy.inputVector([-1.0]))
        with pytest.raises(RuntimeError, match="sqrt"):
            bad.value()


def test_graphs_are_independent():
    x = dy.scalarInput(1)
    with dy.graph() as outer:
        y = dy.scalarInput(2)
        with dy.graph(autobatching=False) as inner:
            z = dy.scalarInput(3)
            assert dy.cg() is inner
        assert dy.cg() is outer
        assert (y + 1).value() == 3
        dy.renew_cg()
        assert y.is_stale() and not z.is_stale()
    assert (x + 1).value() == 2 and (z + 1).value() == 4
    with pytest.raises(RuntimeError, match="another graph"):
        x + z
    del inner
    assert z.is_stale()  # a graph lives as long as it is held
    del outer
    with pytest.raises(ValueError):
        with dy.graph():
            dy.cg().__exit__(None, None, None)


def test_seed_of_a_graph_makes_its_draws():
    def draws(seed):
        with dy.graph(seed=seed):
            return dy.dropout(dy.ones(100), 0.5).value()

    assert draws(1) == draws(1) != draws(2)
    dy.reset_random_seed(5)
    first = [dy.renew_cg() and dy.random_normal(3).value() for _ in range(3)]
    dy.reset_random_seed(5)
    assert first == [dy.renew_cg() and dy.random_normal(3).value() for _ in range(3)]
    assert first[0] != first[1]
    dy.reset_random_seed(0)


def test_inference_gives_values_but_no_gradients():
    p = dy.ParameterCollection().add_parameters(3)
    with dy.graph(inference=True):
        loss = dy.squared_norm(p + 1)
        assert loss.value() > 0
        with pytest.raises(ValueError, match="inference"):
            loss.backward()


def test_a_renewed_graph_is_another_one():
    graph = dy.renew_cg()
    x, number, version = dy.scalarInput(1), graph.id, graph.version()
    assert dy.renew_cg() is graph is dy.cg() and len(graph) == 0 and x.is_stale()
    assert graph.id > number and graph.version() == version + 1


def test_renewal_keeps_what_a_graph_was_made_for():
    p = dy.ParameterCollection().add_parameters(3)

    def draws():
        return dy.random_normal(3).value()

    with dy.graph(inference=True, seed=3):
        first = draws()
        dy.renew_cg()
        second = draws()
        loss = dy.squared_norm(p + 1)
        with pytest.raises(ValueError, match="inference"):
            loss.backward()
    with dy.graph(seed=3) as cg:
        assert draws() == first
        cg.renew()
        assert draws() == second != first


def test_checkpoints_of_a_graph():
    x = dy.scalarInput(1)
    dy.cg_checkpoint()
    y = x + 1
    dy.cg_revert()
    assert y.is_stale() and not x.is_stale()
    with pytest.raises(ValueError):
        dy.cg_revert()


def test_values_of_several_run_in_one_batch():
    def batches(compute):
        dy.renew_cg(autobatching=True)
        compute(*[dy.tanh(dy.inputVector([k, 2])) for k in range(2)])
        return dy.cg().statistics()["batches"]

    one_by_one = batches(lambda x, y: [x.value(), y.value()])
    assert batches(lambda x, y: dy.values([x, y])) < one_by_one
    assert batches(lambda x, y: dy.values([y, x])) < one_by_one


def test_several_values_in_one_go():
    x = dy.inputVector([1, 2])
    y = x + 1
    assert dy.values([y, x]) == [[2, 3], [1, 2]]
    assert [v.tolist() for v in dy.npvalues([x, y])] == [[1, 2], [2, 3]]
    assert dy.values([]) == [] and dy.forward([x, y]) is None
    noise = dy.random_normal(5)
    first = noise.value()
    assert first == noise.value() != noise.value(recalculate=True)


def test_old_methods_of_the_graph():
    cg = dy.cg()
    version = dy.cg_version()
    x = dy.inputVector([1, 2, 3])
    total = dy.sum_elems(x)
    assert cg.forward_scalar(1) == cg.inc_forward_scalar(1) == 6
    assert cg.forward_vec(0) == cg.inc_forward_vec(0) == [1, 2, 3]
    cg.forward(1), cg.inc_forward(1), cg.backward(1)
    assert cg.inputMatrixLiteral([1, 2, 3, 4], (2, 2)).value().tolist() == [[1, 3], [2, 4]]
    assert cg.inputSparseTensor([1], [5.0], (2,)).value() == [0, 5]
    with pytest.raises(IndexError):
        cg.forward(99)
    assert total.value() == 6
    cg.renew()
    assert dy.cg_version() == cg.version() == version + 1 and len(cg) == 0


def test_gradients_of_expressions_and_parameters():
    pc = dy.ParameterCollection()
    p = pc.parameters_from_numpy(np.array([[1.0, 2.0], [3.0, 4.0]]))
    x = dy.inputVector([1, -1])
    for kind in RuntimeError, ValueError, dy.GradientError:
        with pytest.raises(kind, match="backward"):
            x.gradient()
    loss = dy.squared_norm(p * x)
    loss.backward(full=True)
    residual = np.array([[1.0, 2.0], [3.0, 4.0]]) @ [1, -1]
    assert np.allclose(p.grad_as_array(), 2 * np.outer(residual, [1, -1]))
    assert np.allclose(p.gradient(), p.grad_as_array())
    assert np.allclose(x.gradient(), 2 * p.as_array().T @ residual)
    with pytest.raises(ValueError, match="scalar|one number"):
        (p * x).backward()


def test_arrays_of_others():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = dy.inputTensor(values)
    assert np.array_equal(np.asarray(x), values) and np.array(x, dtype=np.int64)[1, 2] == 5
    assert np.array_equal(np.from_dlpack(x), values)
    p = dy.ParameterCollection().parameters_from_numpy(values)
    view = p.view()
    view[0, 1] = 9
    assert p.as_array()[0, 1] == 9 and np.array_equal(np.from_dlpack(p), view)
    kept = x.numpy()
    dy.renew_cg()
    dy.inputTensor(np.zeros((50, 50))).value()
    assert np.array_equal(kept, values)  # values that were handed out stay
    del p
    gc.collect()
    assert view[0, 1] == 9  # a view keeps the parameter
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    assert torch.from_dlpack(dy.inputTensor(values)).sum().item() == 15


def test_threads_have_graphs_of_their_own():
    pc = dy.ParameterCollection()
    w = pc.parameters_from_numpy(np.full((20, 20), 0.1))
    found = {}

    def work(k):
        for _ in range(30):
            dy.renew_cg()
            h = dy.constant(20, float(k))
            for _ in range(10):
                h = dy.tanh(w * h)
            loss = dy.squared_norm(h)
            with pytest.raises(ValueError):
                loss + loss * h * h
            loss.backward()
        found[k] = loss.value()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(8):
        h = np.full(20, float(k))
        for _ in range(10):
            h = np.tanh(np.full((20, 20), 0.1) @ h)
        assert found[k] == pytest.approx(h @ h, rel=1e-5)
    together = w.grad_as_array()  # all threads' gradients, added up
    pc.reset_gradient()
    for k in range(8):
        work(k)
    assert together.any() and np.allclose(together, w.grad_as_array(), rtol=1e-4)


def test_workers_of_a_graph_do_nothing():
    with pytest.warns(DeprecationWarning, match="workers does nothing"), dy.graph(workers=dy.Workers(2)):
        assert dy.scalarInput(2).value() == 2


def test_workers_of_a_trainer_outlive_their_name():
    pc = dy.ParameterCollection()
    p = pc.add_parameters(3)
    trainer = dy.SimpleSGDTrainer(pc)
    workers = dy.Workers(2)
    trainer.set_workers(workers)
    dy.squared_norm(p + 1).backward()
    del workers
    gc.collect()
    trainer.update()


def test_graph_shows_itself(capsys):
    dy.tanh(dy.inputVector([1, 2]))
    assert "tanh" in dy.cg().graphviz() and "2 nodes" in repr(dy.cg())
    dy.print_text_graphviz()
    dy.print_graphviz()
    assert capsys.readouterr().out.count("digraph") == 2
    assert "<svg" in dy.cg()._repr_svg_()
    assert "tanh" in dy.tanh(dy.inputVector([1, 2])).describe()
    assert dy.cg().statistics()["nodes"] == 4


def test_graph_is_drawn_with_its_batches():
    assert ElementTree.fromstring(dy.cg()._repr_svg_()) is not None  # an empty one
    pc = dy.ParameterCollection()
    w, table = pc.add_parameters((4, 6), name='a"<w>'), pc.add_lookup_parameters((3, 2))
    h = dy.zeros(4)
    for k in range(3):
        h = dy.tanh(w * dy.concatenate([h, table[k]]))
    dy.pickneglogsoftmax(h, 1)
    names = {"svg": "http://www.w3.org/2000/svg"}
    picture = ElementTree.fromstring(dy.cg().svg(values=True))
    boxes = picture.findall("svg:g", names)
    assert len(boxes) == len(dy.cg())
    assert any(text.text == '/a"<w>' for text in picture.iter("{http://www.w3.org/2000/svg}text"))
    assert any("value:" in title.text for title in picture.iter("{http://www.w3.org/2000/svg}title"))
    for _ in range(500):
        h = dy.tanh(h)
    assert len(ElementTree.fromstring(dy.cg()._repr_svg_()).findall("svg:g", names)) < 20


def test_dump_shows_values_and_finds_what_is_no_number(tmp_path, capsys):
    x = dy.log(dy.inputVector([-1.0, 1.0]))
    dy.sum_elems(x).backward(full=True)
    dy.dump_cg()
    everything = capsys.readouterr().out
    assert everything.count("value") == 3 and everything.count("gradient") == 3
    dy.dump_cg(str(tmp_path / "dump"), nan_check_only=True)
    assert "node 1 value" in (tmp_path / "dump").read_text()
    with pytest.raises(OSError):
        dy.dump_cg(str(tmp_path / "no" / "dump"))


def run(program, *arguments, **more):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program), *arguments],
                          capture_output=True, text=True, **more)


def test_arguments_of_the_program_are_taken():
    ran = run("""
        import sys, dynet as dy
        assert sys.argv == ["-c", "--mine", "x"], sys.argv
        print(dy.ParameterCollection().add_parameters(3).value())
        """, "--dynet-seed", "7", "--mine", "--dynet-mem=100,200", "x", "--dynet-autobatch", "1")
    assert ran.returncode == 0, ran.stderr
    other = run("""
        import dynet_config
        dynet_config.set(random_seed=7, mem=1000)
        import dynet as dy
        print(dy.ParameterCollection().add_parameters(3).value())
        """)
    assert other.stdout == ran.stdout != ""
    assert "needs a value" in run("import dynet", "--dynet-seed").stderr
    assert "'x'" in run("import dynet", "--dynet-seed", "x").stderr


@pytest.mark.skipif(dy.HAVE_CUDA, reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused():
    assert dy.available_devices() == ["CPU"] and dy.get_device_info("CPU").name == "CPU"
    assert "No GPU" in run("import dynet", "--dynet-gpu").stderr
    with pytest.raises(ValueError):
        dy.get_device_info("GPU:0")
    with pytest.raises(dy.DeviceError):
        dy.graph(device="GPU:0")


def test_wrong_types_that_functions_read_themselves_are_type_errors():
    for mistake in (lambda: dy.const_parameter("a"), lambda: dy.const_parameter([1]),
                    lambda: dy.sparse_inputTensor(["a"], [1.0], (2,))):
        with pytest.raises(TypeError):
            mistake()


def test_kinds_of_errors_that_programs_of_the_old_module_expect():
    x = dy.inputVector([1, 2])
    with pytest.raises(ValueError):
        dy.pick(x, 2)
    assert dy.const_parameter(x).value() == [1, 2] and dy.cg().renew() is dy.cg()
    with pytest.raises(ValueError):
        x.value()


def test_precision_of_products():
    pc = dy.ParameterCollection()
    p = pc.add_parameters((8, 300))
    x = np.linspace(-1, 1, 300)
    expected = p.as_array() @ x
    for precision in "float32", "tf32", "bf16":
        with dy.graph(precision=precision) as graph:
            for _ in range(2):  # renewing keeps it
                assert np.allclose((p * dy.inputVector(x)).npvalue(), expected, atol=0.02)
                graph.renew()
    with pytest.raises(ValueError, match='precision is float32, tf32 or bf16, not "fp8"'):
        dy.graph(precision="fp8")
