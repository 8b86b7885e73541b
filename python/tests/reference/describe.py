"""Prints the public interface of the module `dynet` that this interpreter imports, as JSON.

Run with the interpreter that has the old wheel, it makes dynet38.json:

    $DYNET38_PYTHON describe.py > dynet38.json

Functions and methods have signatures that `inspect` reads. Constructors of the old wheel have none:
names of their parameters are found by calls with one keyword argument more, and their defaults are
read in the text of the class, or in the specification of an object that is made with the parameters
that are required.
"""

import inspect
import json
import re
import sys
import types

import dynet

SPECIAL = {"__add__", "__getitem__", "__len__", "__mul__", "__neg__", "__pow__", "__sub__",
           "__truediv__", "__radd__", "__rmul__", "__rsub__", "__rtruediv__", "__rpow__",
           "__repr__", "__str__"}
# Names that constructors of the old wheel may have for their parameters.
CANDIDATES = ["m", "model", "layers", "num_layers", "input_dim", "hidden_dim", "ln_lstm",
              "forget_bias", "learning_rate", "learning_rate_min", "learning_rate_max",
              "step_size", "gamma", "it", "mom", "eps", "rho", "alpha", "beta_1", "beta_2",
              "rep_dim", "num_classes", "bias", "cluster_file", "word_dict", "c", "mean", "var",
              "scale", "gain", "is_lookup", "array", "fname", "vals", "arr", "batched", "device",
              "state", "builder", "states", "v", "val", "vs", "dim", "p", "update", "name",
              "guid", "inputs", "prev", "state_idx", "pc", "mod", "dict", "vocab", "guide", "lam",
              "parent", "data", "array_", "size", "n", "prev_state", "out", "num_dims",
              "output_dim",
              "cluster_filename", "word2int", "vocabulary", "word_dict_file", "collection", "cfsm",
              "word_dict_path", "vocab_fname", "dic", "words", "w2i", "dictionary", "batch_size",
              "param_collection", "parameters", "params", "dict_file", "vocab_file", "voc_file"]


def parameters_of(function):
    """Names and defaults, "self" left out; None where there is no signature."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return None
    described = []
    for p in signature.parameters.values():
        if p.name in ("self", "cls", "/"):
            continue
        entry = {"name": p.name}
        if p.kind is p.VAR_POSITIONAL:
            entry["name"] = "*" + p.name
        elif p.kind is p.VAR_KEYWORD:
            entry["name"] = "**" + p.name
        elif p.default is not p.empty:
            entry["default"] = repr(p.default)
        described.append(entry)
    return described


def complaint(cls, positional, keywords):
    """Error text of the constructor for so many positional arguments and these keywords."""
    try:
        cls(*[None] * positional, **dict.fromkeys(keywords))
    except TypeError as e:
        return str(e)
    except Exception:
        pass
    return ""


def names_of(cls, least, most):
    """The names of the parameters of a constructor, "?" where no candidate fits."""
    known = [n for n in CANDIDATES
             if "unexpected keyword argument" not in complaint(cls, least, [n])]
    found = []
    while len(found) < most:
        rest = [n for n in known if n not in found]
        match = re.search(r"multiple values for keyword argument '(\w+)'",
                          complaint(cls, len(found) + 1, rest))
        if not match:
            break
        found.append(match.group(1))
    return found + ["?"] * (most - len(found))


def default_of(text, name, made, place):
    """Default in the docstring of the class, or in the specification of an object."""
    match = re.search(rf"^\s+{name} ?\(.*\(default:? ?\{{?([^)}}]*)\}}?\)", text, re.M)
    if match:
        return match.group(1)
    spec = getattr(made, "spec", ())
    return repr(spec[place - 1]) if 0 < place <= len(spec) else "?"


def numbers_of_arguments(cls):
    """The least and the largest number of positional arguments."""
    least, most = 0, 0
    try:
        cls()
    except TypeError as e:
        match = re.search(r"takes (at least|exactly) (\d+)", str(e))
        least = most = int(match.group(2)) if match else 0
        least -= "__init__() takes" in str(e) and "(1 given)" in str(e)
    except Exception:
        pass
    try:
        cls(*[None] * 40)
    except TypeError as e:
        match = re.search(r"takes (at most|exactly) (\d+)", str(e))
        most = int(match.group(2)) if match else most
    except Exception:
        pass
    return least, most


def constructor_of(cls):
    """Found by calls: the names that are known, and what the text of the class says of them."""
    if isinstance(cls.__init__, types.FunctionType) or parameters_of(cls.__init__) is not None:
        found = parameters_of(cls.__init__)
        if found is not None and {"*args", "**kwargs"} != {p["name"] for p in found}:
            return found
    least, most = numbers_of_arguments(cls)
    if most == 0:
        return []
    text = cls.__doc__ or ""
    made = None
    if issubclass(cls, getattr(dynet, "_RNNBuilder", ())) or cls.__name__.endswith("LSTMBuilder"):
        made = cls(1, 1, 1, dynet.ParameterCollection())
    described = []
    for place, name in enumerate(names_of(cls, least, most)):
        entry = {"name": name}
        if place >= least:
            entry["default"] = default_of(text, name, made, place)
        described.append(entry)
    return described


def describe_class(cls):
    methods = {}
    for name in sorted(dir(cls)):
        if name.startswith("_") and name not in SPECIAL or hasattr(object, name):
            continue
        member = inspect.getattr_static(cls, name)
        if name in SPECIAL:
            methods[name] = {"kind": "operator"}
            continue
        described = parameters_of(getattr(cls, name))
        if described is None:
            kind = "property" if inspect.isdatadescriptor(member) else "method"
            methods[name] = {"kind": kind}
            continue
        methods[name] = {"kind": "method", "parameters": described}
    return {"kind": "class", "bases": [b.__name__ for b in cls.__mro__[1:-1]],
            "constructor": constructor_of(cls), "methods": methods}


def describe():
    names = {}
    for name in sorted(dir(dynet)):
        value = getattr(dynet, name)
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if inspect.isclass(value):
            names[name] = describe_class(value)
        elif callable(value):
            names[name] = {"kind": "function", "parameters": parameters_of(value)}
        elif isinstance(value, (bool, str)):
            names[name] = {"kind": "constant"}
    return names


if __name__ == "__main__":
    json.dump(describe(), sys.stdout, indent=1, sort_keys=True)
    print()
