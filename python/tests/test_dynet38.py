"""The interface, the values and the gradients of the old wheel, dynet38, and of this module.

Signatures are compared with reference/dynet38.json. For values DYNET38_PYTHON names an interpreter
that has the old wheel and NumPy.
"""

import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import dynet as dy

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "reference"))
import differences  # noqa: E402

OLD = json.loads((HERE / "reference" / "dynet38.json").read_text())
CORE = {name for name, entry in OLD.items() if entry["kind"] == "function"} & set(
    "init init_from_params load load_generator save forward values npvalues renew_cg cg"
    " cg_checkpoint cg_revert cg_version dump_cg available_devices get_device_info print_graphviz"
    " print_text_graphviz reset_random_seed".split())
BUILDERS = {name for name in OLD if re.search("Builder|RNNState", name)}
PAGE = HERE.parents[1] / "docs" / "python-from-dynet.md"
TOLERANCE = 1e-5


def same_default(ours, theirs):
    if theirs == "?":  # the old wheel does not tell
        return True
    a, b = ast.literal_eval(ours), ast.literal_eval(theirs)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == pytest.approx(b, rel=1e-6)
    return list(a) == list(b) if isinstance(a, (list, tuple)) else a == b


def split_parameters(text):
    """The parameters of a signature, at the commas outside of brackets."""
    depth, parts = 0, [""]
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def parameters_of(function):
    """Names and defaults of one of our functions, "self" left out."""
    import inspect

    function = inspect.unwrap(getattr(function, "__func__", function))
    if not hasattr(function, "__nb_signature__"):
        return [
            {"name": {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name,
             **({} if p.default is p.empty else {"default": repr(p.default)})}
            for p in inspect.signature(function).parameters.values()
            if p.name not in ("self", "cls")
        ]
    text, _, defaults = function.__nb_signature__[0]
    inside = text[text.index("(") + 1 : text.rindex(") ->") if ") ->" in text else -1]
    found = []
    for part in split_parameters(inside):
        name, _, default = part.partition(" = ")
        name = name.split(":")[0].strip()
        if name in ("self", "cls", "/", "*"):
            continue
        entry = {"name": name}
        if default:
            index = re.fullmatch(r"\\(\d+)", default)
            entry["default"] = repr(defaults[int(index.group(1))]) if index else default
        found.append(entry)
    return found


def differ(ours, theirs):
    """In words, how two lists of parameters differ; nothing if they are the same."""
    if [p["name"] for p in ours] != [p["name"] for p in theirs]:
        return f"{[p['name'] for p in ours]} for {[p['name'] for p in theirs]}"
    for a, b in zip(ours, theirs):
        if ("default" in a) != ("default" in b):
            return f"{a['name']}: default for required"
        if "default" in a and not same_default(a["default"], b["default"]):
            return f"{a['name']}={a['default']} for {b['default']}"
    return ""


def signature_differences(names):
    found = {}
    for name in names:
        old, new = OLD[name], getattr(dy, name, None)
        if new is None:
            found[name] = "missing"
        elif old["kind"] == "function":
            found[name] = differ(parameters_of(new), old["parameters"])
        elif old["kind"] == "class":
            if not isinstance(new, type):
                found[name] = "no class"
                continue
            if old["constructor"]:
                found[name] = differ(parameters_of(new.__init__), old["constructor"])
            for method, described in old["methods"].items():
                member = getattr(new, method, None)
                key = f"{name}.{method}"
                if member is None:
                    found[key] = "missing"
                elif "parameters" in described and callable(member):
                    found[key] = differ(parameters_of(member), described["parameters"])
    return {name: why for name, why in found.items() if why}


def differ_as_named(names):
    found = signature_differences(names)
    named = {n for n in differences.SIGNATURES if n.split(".")[0] in names}
    assert set(found) == named, found


def test_every_operation_has_the_old_parameters_and_defaults():
    names = {n for n, entry in OLD.items() if entry["kind"] == "function"} - CORE
    assert len(names) > 140
    differ_as_named(names | {"inputTensorTranspose"})


def test_every_builder_has_the_old_methods_parameters_and_defaults():
    assert len(BUILDERS) > 12
    differ_as_named(BUILDERS)


def test_everything_else_has_the_old_parameters_and_defaults():
    operations = {n for n, entry in OLD.items() if entry["kind"] == "function"} - CORE
    differ_as_named(set(OLD) - operations - BUILDERS - {"inputTensorTranspose"})


def test_the_description_is_that_of_the_installed_wheel():
    python = os.environ.get("DYNET38_PYTHON")
    if not python:
        pytest.skip("DYNET38_PYTHON names no interpreter that has dynet38")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    ran = subprocess.run([python, HERE / "reference" / "describe.py"], env=environment, check=True,
                         capture_output=True, text=True)
    assert json.loads(ran.stdout) == OLD and len(OLD) == 210


def test_page_has_the_tables_of_differences():
    assert differences.tables() in PAGE.read_text()


def run(program, python, path):
    """Runs a program of reference/ with the module that this interpreter has: ours or the old one."""
    environment = dict(os.environ)
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    subprocess.run([python, HERE / "reference" / program, path], check=True, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def results_of(python, folder, name):
    path = run("operations.py", python, folder / f"{name}.npz")
    cases = {}
    with np.load(path) as file:
        for key in file.files:
            case, batch, part = key.rsplit("|", 2)
            cases.setdefault((case, batch), {})[part] = file[key]
    return cases


@pytest.fixture(scope="module")
def old_and_new(tmp_path_factory):
    python = os.environ.get("DYNET38_PYTHON")
    if not python:
        pytest.skip("DYNET38_PYTHON names no interpreter that has dynet38")
    folder = tmp_path_factory.mktemp("operations")
    return results_of(python, folder, "old"), results_of(sys.executable, folder, "new")


def worst(ours, theirs):
    """The largest difference, relative to numbers above one; infinity for other shapes."""
    if ours.shape != theirs.shape or (np.isnan(ours) != np.isnan(theirs)).any():
        return np.inf
    scale = np.maximum(1, np.maximum(np.abs(ours), np.abs(theirs)))
    return np.nanmax(np.abs(ours - theirs) / scale, initial=0.0)


def test_values_and_gradients_are_those_of_the_old_wheel(old_and_new):
    old, new = old_and_new
    assert len(new) > 250
    wrong, named = [], set()
    for (case, batch), ours in new.items():
        assert "error" not in ours, (case, batch, str(ours["error"]))
        theirs = old[case, batch]
        if "error" in theirs:
            if differences.reason(differences.REFUSED, case, batch) is None:
                wrong.append((case, batch, str(theirs["error"])))
            continue
        error = max(worst(ours[part], theirs[part]) for part in ours)
        if differences.reason(differences.VALUES, case, batch) is not None:
            named |= {case, f"{case}|{batch}"} if error > TOLERANCE else set()
        elif not error <= TOLERANCE:
            wrong.append((case, batch, error))
    assert not wrong
    # Values in memory that nobody has written may be right by chance.
    by_chance = {k for k, why in differences.VALUES.items() if "nobody" in why or "before" in why}
    assert set(differences.VALUES) - by_chance <= named


def test_cases_cover_every_function_on_expressions():
    source = (HERE / "reference" / "operations.py").read_text()
    random = {"random_normal", "random_bernoulli", "random_uniform", "random_gumbel"}
    old_inputs = {"inputMatrix", "matInput"}  # raise DeprecationWarning there
    names = {n for n, entry in OLD.items() if entry["kind"] == "function"} - CORE
    assert not {n for n in names - random - old_inputs if not re.search(rf"\b{n}\b", source)}


@pytest.mark.parametrize("name, mean", [("random_normal", 0.0), ("random_gumbel", 0.577)])
def test_random_draws_have_their_means(name, mean):
    dy.renew_cg()
    draws = getattr(dy, name)((100, 100)).npvalue()
    assert draws.shape == (100, 100)
    assert draws.mean() == pytest.approx(mean, abs=0.06)
    assert dy.random_uniform(10000, 1, 3).npvalue().mean() == pytest.approx(2, abs=0.05)
    draws = dy.random_bernoulli(10000, 0.25, scale=2.0).npvalue()
    assert draws.mean() == pytest.approx(0.5, abs=0.06)


def label(outcome):
    """Outcome of a call, in a word."""
    return outcome[1] if outcome[0] == "raises" else "ended" if outcome[0] == "ended" else "value"


def alike(ours, theirs):
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == pytest.approx(theirs, rel=TOLERANCE, abs=TOLERANCE, nan_ok=True)
    return ours == theirs


def test_calls_do_what_those_of_the_old_wheel_do(tmp_path):
    python = os.environ.get("DYNET38_PYTHON")
    if not python:
        pytest.skip("DYNET38_PYTHON names no interpreter that has dynet38")
    old, new = (json.loads(run("behaviours.py", each, tmp_path / name).read_text())
                for name, each in (("old", python), ("new", sys.executable)))
    assert set(old) == set(new) and len(old) > 8000
    wrong, used = [], set()
    for call, ours in new.items():
        theirs = old[call]
        if label(ours) == "ended":
            wrong.append((call, ours))
        elif label(theirs) == "ended":
            continue  # anything is better
        elif theirs[0] == ours[0] == "raises":
            if theirs[1] in ours[1:-1]:
                continue
        elif alike(ours, theirs):
            continue
        rule = differences.rule(call, label(theirs), label(ours))
        used.add(rule)
        if rule is None:
            wrong.append((call, theirs, ours))
    assert not wrong
    assert used == set(range(len(differences.CALLS))), "rules for differences that there are not"
