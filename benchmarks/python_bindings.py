#!/usr/bin/env python3
"""Cost of calls from Python through nanobind and pybind11: one class and three functions, compiled with both. Needs
`pip install nanobind pybind11` and a compiler.

    benchmarks/python_bindings.py
"""

import importlib.util
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import time

# An object of the size of an expression, passed by value like operands and results of the module's operations.
PROGRAM = """
struct Expression { void* graph; unsigned i; unsigned long serial; void* state; };
static Expression tanh_of(const Expression& x) { return {x.graph, x.i + 1, x.serial, x.state}; }
static Expression add(const Expression& x, const Expression& y) { return {x.graph, x.i + y.i, x.serial, x.state}; }
static Expression sum_of(const std::vector<Expression>& xs) { return {xs[0].graph, unsigned(xs.size()), 0, nullptr}; }
MODULE(NAME, m) {
  bind::class_<Expression>(m, "Expression").def(bind::init<>());
  m.def("tanh", tanh_of, bind::arg("x"));
  m.def("add", add, bind::arg("x"), bind::arg("y"));
  m.def("sum", sum_of, bind::arg("xs"));
}
"""
HEADS = {
    "nanobind": "#include <nanobind/nanobind.h>\n#include <nanobind/stl/vector.h>\nnamespace bind = nanobind;\n"
                "#define MODULE NB_MODULE\n#define NAME with_nanobind\n",
    "pybind11": "#include <pybind11/pybind11.h>\n#include <pybind11/stl.h>\nnamespace bind = pybind11;\n"
                "#define MODULE PYBIND11_MODULE\n#define NAME with_pybind11\n",
}


def compiled(name, folder):
    """The module, compiled in this folder, and its size in bytes."""
    package = importlib.import_module(name)
    source, target = folder / f"{name}.cc", folder / f"with_{name}.so"
    source.write_text(HEADS[name] + PROGRAM)
    includes, sources = [sysconfig.get_paths()["include"]], [source]
    if name == "nanobind":
        root = pathlib.Path(package.__file__).parent
        includes += [root / "include", root / "ext" / "robin_map" / "include"]
        sources.append(root / "src" / "nb_combined.cpp")
    else:
        includes.append(package.get_include())
    subprocess.run(["c++", "-std=c++20", "-Os", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-s",
                    "-DNDEBUG", *(f"-I{path}" for path in includes), *sources, "-o", target], check=True)
    spec = importlib.util.spec_from_file_location(f"with_{name}", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, target.stat().st_size


def nanoseconds(call):
    def once(n=200000):
        start = time.perf_counter()
        for _ in range(n):
            call()
        return (time.perf_counter() - start) / n * 1e9
    return min(once() for _ in range(7))


def main():
    with tempfile.TemporaryDirectory() as folder:
        modules = {name: compiled(name, pathlib.Path(folder)) for name in HEADS}
        print("| | tanh(x) | add(x, y) | sum of a list of five | bytes |\n|---|---|---|---|---|")
        empty = nanoseconds(lambda: None)
        for name, (module, size) in modules.items():
            x = module.Expression()
            xs = [x] * 5
            times = [nanoseconds(f) - empty
                     for f in (lambda: module.tanh(x), lambda: module.add(x, x), lambda: module.sum(xs))]
            print(f"| {name} | {times[0]:.0f} ns | {times[1]:.0f} ns | {times[2]:.0f} ns | {size:,} |")


if __name__ == "__main__":
    sys.exit(main())
