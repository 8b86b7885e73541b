#!/usr/bin/env python3
"""Compares structured layers to jitted JAX, on one thread and in one run: loss and all gradients of 32 sentences.

    cmake --build build/release --target bench-crf bench-dependency-trees
    python3 benchmarks/structured_jax.py --build build/release

The programs of this folder and JAX alternate; the fastest of all rounds counts. A ratio above 1 means that ours is
faster. JAX computes in float32, with scores of one size, padded, compiled before; ours computes the sums over
non-projective trees in double. JAX (CPU) is needed for nothing else.
"""

import argparse
import os
import pathlib
import sys
import time

from crf import ours

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"


def fastest(jax, function, rounds):
    jax.block_until_ready(function())
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(function())
        best = min(best, time.perf_counter() - start)
    return best


def chains(jax, task):
    """Negative log-likelihood and gradients of a linear-chain CRF: words of all sentences step by step."""
    jnp, lengths, tags = jax.numpy, jax.numpy.array(task["lengths"]), task["tags"]
    longest = max(task["lengths"])
    keys = jax.random.split(jax.random.PRNGKey(1), 5)
    emissions = jax.random.normal(keys[0], (longest, len(lengths), tags))
    scores = jax.random.normal(keys[1], (tags, tags)), *jax.random.normal(keys[2], (2, tags))
    gold = jax.random.randint(keys[3], (longest, len(lengths)), 0, tags)
    mask = jnp.arange(longest)[:, None] < lengths

    def loss(emissions, transitions, start, stop):
        most = transitions.max()
        weights = jnp.exp(transitions - most)

        def step(forward, word):
            scores, inside = word
            largest = forward.max(1, keepdims=True)
            after = jnp.log(jnp.exp(forward - largest) @ weights) + largest + most + scores
            return jnp.where(inside[:, None], after, forward), None

        forward, _ = jax.lax.scan(step, emissions[0] + start, (emissions[1:], mask[1:]))
        of_tags = jnp.take_along_axis(emissions, gold[:, :, None], 2)[:, :, 0]
        right = (of_tags * mask).sum() + (transitions[gold[:-1], gold[1:]] * mask[1:]).sum()
        last = gold[lengths - 1, jnp.arange(len(lengths))]
        right += (start[gold[0]] + stop[last]).sum()
        return jax.nn.logsumexp(forward + stop, 1).sum() - right

    gradients = jax.jit(jax.value_and_grad(loss, (0, 1, 2, 3)))
    return lambda: gradients(emissions, *scores)


def trees(jax, task):
    """Log of the sum over all dependency trees by the determinant of a Laplacian matrix; one word is the root."""
    jnp, words = jax.numpy, task["words"]
    arcs = 2 * jax.random.normal(jax.random.PRNGKey(1), (32, words + 1, words + 1))

    def log_sum(arcs):
        weights = jnp.exp(arcs) * (1 - jnp.eye(words + 1))
        between = weights[:, 1:, 1:]
        laplacian = between.sum(1)[:, None, :] * jnp.eye(words) - between
        return jnp.linalg.slogdet(laplacian.at[:, 0, :].set(weights[:, 0, 1:]))[1].sum()

    gradients = jax.jit(jax.value_and_grad(log_sum))
    return lambda: gradients(arcs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=50)
    arguments = parser.parse_args()
    try:
        import jax
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    programs = pathlib.Path(arguments.build, "benchmarks")
    best, theirs = {}, {}
    for _ in range(arguments.turns):
        for program, make in (("bench-crf", chains), ("bench-dependency-trees", trees)):
            for task in ours(programs / program, arguments.rounds):
                if task.get("projective"):
                    continue
                name = f"{program.removeprefix('bench-')}, {task['name']}"
                if name not in theirs:
                    theirs[name] = make(jax, task)
                for who, seconds in (("ours", task["loss"]), ("jax", fastest(jax, theirs[name], arguments.rounds))):
                    best[name, who] = min(best.get((name, who), float("inf")), seconds)
    print(f"{'32 sentences, loss and gradients':44} {'ours, ms':>10} {'JAX ' + jax.__version__:>12} {'ratio':>7}")
    for name in theirs:
        mine, other = best[name, "ours"], best[name, "jax"]
        print(f"{name:44} {1e3 * mine:10.3f} {1e3 * other:12.3f} {other / mine:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
