"""Outcomes of calls, with arguments of all kinds, in the module `dynet` that this interpreter imports.

    python behaviours.py OUT.json [PATTERN]

It is written only to the interface that the old wheel and the new module share. The calls are those
of calls.txt. The ones in front of its line `---` are made as they are, with each argument replaced by
each value of OPERANDS or ODD, with an argument less, with too many, and with all of them by name. OUT
has for each what it gave: shapes, values and gradients, or the classes of the exception, or the
signal that ended the process. PATTERN chooses among them.
"""

import ast
import itertools
import json
import pathlib
import re
import resource
import signal
import tempfile

import numpy as np

from operations import ARGUMENTS, dy, in_child

HERE = pathlib.Path(__file__).parent
SECONDS, MEMORY = 10, 3 << 30  # what a call may take
# The shapes and batch sizes of operands.
SHAPES = {"s": ((1,), 1), "u": ((3,), 1), "v": ((4,), 1), "w": ((4,), 1), "m": ((4, 3), 1),
          "q": ((3, 3), 1), "t": ((4, 3, 2), 1), "vb": ((4,), 3), "mb": ((4, 3), 3)}
# Values passed in the place of an operand, and of any other argument.
OPERANDS = "None 'a' 1 0.5 [] [v] a s v vb m mb t p lp".split()
ODD = ("None 'a' -1 0 1 3 99 2**40 0.5 True [] [0,2] (0,2) [-1] [0.5] [0,1,9] [[0],[1]] {0:1}"
       " np.array([0,2]) np.array(1) np.array([[0.5,1]]) np.int64(1) np.float32(0.5) v mb p [v] [v,m]"
       " [vb,v] (v,v) [None]").split()


def after(*results):
    """Result of the last of several calls."""
    return results[-1]


class World(dict):
    """The names that calls may use: operands, and what is made when it is asked for."""

    ON_DEMAND = {
        "lp": lambda e: e.pc.lookup_parameters_from_numpy(numbers(21, (5, 4))),
        "p": lambda e: e.pc.parameters_from_numpy(numbers(22, (4, 3))),
        "lstm": lambda e: e.network(dy.LSTMBuilder, 2), "gru": lambda e: e.network(dy.GRUBuilder, 1),
        "fresh": lambda e: e.network(dy.LSTMBuilder, 1),
        "fast": lambda e: e.network(dy.FastLSTMBuilder, 2),
        "coupled": lambda e: e.network(dy.CoupledLSTMBuilder, 2),
        "compact": lambda e: e.network(dy.CompactVanillaLSTMBuilder, 2),
        "simple": lambda e: e.network(dy.SimpleRNNBuilder, 1),
        "bi": lambda e: e.filled(dy.BiRNNBuilder(1, 4, 4, e.pc, dy.LSTMBuilder)),
        "softmaxb": lambda e: e.filled(dy.StandardSoftmaxBuilder(4, 3, e.pc)),
        "first": lambda e: e["lstm"].initial_state(), "state": lambda e: e["first"].add_input(e["v"]),
        "gfirst": lambda e: e["gru"].initial_state(), "gstate": lambda e: e["gfirst"].add_input(e["v"]),
        "trainer": lambda e: dy.SimpleSGDTrainer(e.pc),
        "x": lambda e: dy.inputVector([1, 2]), "y": lambda e: e["x"] * 2, "vi": lambda e: dy.vecInput(3),
        "si": lambda e: dy.scalarInput(1), "ti": lambda e: dy.inputTensor(e["a"], reusable_expr=True),
        "ri": lambda e: dy.lookup(e["lp"], 1), "rb": lambda e: dy.lookup_batch(e["lp"], [0, 3]),
        "pi": lambda e: dy.pick(e["v"], 1), "e": lambda e: dy.exp(e["s"]),
        "f": lambda e: dy.exp(e["m"]), "g": lambda e: dy.exp(e["mb"]),
        "box": lambda e: dy.FloatVectorValue([1, 2]),
    }

    def __init__(self):
        self.pc = dy.ParameterCollection()
        super().__init__(dy=dy, np=np, after=after, pc=self.pc, a=numbers(20, (4, 3)))

    def operand(self, name):
        shape, batch = SHAPES[name]
        size = int(np.prod(shape)) * batch
        values = numbers(list(SHAPES).index(name), (size,))
        return dy.reshape(self.pc.parameters_from_numpy(values), shape, batch)

    def network(self, kind, layers):
        return self.filled(kind(layers, 4, 3, self.pc))

    def filled(self, builder):
        for k, p in enumerate(builder.param_collection().parameters_list()):
            p.set_value(numbers(k, p.shape()))
        return builder

    def __missing__(self, name):
        self[name] = self.operand(name) if name in SHAPES else self.ON_DEMAND[name](self)
        return self[name]


def numbers(seed, shape):
    drawn = np.random.RandomState(seed).uniform(0.2, 0.9, shape)
    return drawn.astype(np.float32).astype(np.float64)


def described(result, world):
    """A result as lists, numbers and text."""
    if isinstance(result, (dy.Parameters, dy.LookupParameters)):
        return ["object", type(result).__name__]
    if isinstance(result, dy.Expression):
        shape, batch = result.dim()
        value = result.npvalue()
        weights = np.linspace(0.5, 1.5, value.size)
        whole = dy.reshape(result, (value.size,), 1)
        dy.dot_product(whole, dy.inputVector(weights.tolist())).backward()
        gradients = [p.grad_as_array().ravel().tolist() for p in world.pc.parameters_list()]
        if "lp" in world:
            gradients.append(world["lp"].grad_as_array().ravel().tolist())
        return ["expression", list(shape), batch, value.ravel().tolist(), gradients]
    if isinstance(result, np.ndarray):
        return ["array", str(result.dtype), list(result.shape), result.ravel().tolist()]
    if isinstance(result, (list, tuple)):
        return [type(result).__name__, *[described(r, world) for r in result]]
    if result is None or isinstance(result, (bool, int, float, str)):
        return [type(result).__name__, result]
    return ["object", str(getattr(result, "__name__", type(result).__name__))]


def outcome(call):
    dy.renew_cg()
    world = World()
    try:
        return described(eval(call, world), world)
    except Exception as error:
        classes = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        return ["raises", *classes, str(error)[:200]]


def parameters(name):
    described = json.loads((HERE / "dynet38.json").read_text())[name].get("parameters", [])
    return [p["name"] for p in described if p["name"][0] != "*"]


def variants(call):
    """A call of a function, and the same with other arguments."""
    yield call
    node = next(n for n in ast.walk(ast.parse(call)) if isinstance(n, ast.Call)
                and n.col_offset == 0 and isinstance(n.func.value, ast.Name))
    name, arguments = node.func.attr, [ast.unparse(x).replace(" ", "") for x in node.args]

    def with_arguments(given):
        return f"dy.{name}({','.join(given)}){call[node.end_col_offset:]}"

    for place in range(len(arguments)):
        for odd in OPERANDS if arguments[place] in {*SHAPES, "p"} else ODD:
            yield with_arguments([*arguments[:place], odd, *arguments[place + 1:]])
    yield with_arguments(arguments[:-1])
    yield with_arguments([*arguments, *["0"] * 8])
    yield with_arguments([*arguments, "nonsense=1"])
    names = parameters(name)
    if names and len(arguments) <= len(names):
        yield with_arguments([f"{n}={x}" for n, x in zip(names, arguments)])


def calls():
    lines = (HERE / "calls.txt").read_text().splitlines()[1:]
    end = lines.index("---")
    varied, plain = (" ".join(part).split() for part in (lines[:end], lines[end + 1:]))
    return list(dict.fromkeys([*itertools.chain(*map(variants, varied)), *plain]))


def made(calls):
    """Outcome of each call. A call that ends its process leaves the rest to another process."""
    found = {}
    with tempfile.NamedTemporaryFile("r") as file:
        def make():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            with open(file.name, "a") as out:
                for call in calls[len(found):]:
                    signal.alarm(SECONDS)
                    out.write(json.dumps(outcome(call)) + "\n")
                    out.flush()

        while len(found) < len(calls):
            ended = in_child(make)
            results = [json.loads(line) for line in file]
            if ended is not None:
                results.append(["ended", ended])
            found.update(zip(calls[len(found):], results))
    return found


def main(path, pattern=""):
    with open(path, "w") as out:
        json.dump(made([call for call in calls() if re.search(pattern, call)]), out)


if __name__ == "__main__":
    main(*ARGUMENTS)
