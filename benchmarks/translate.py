#!/usr/bin/env python3
"""Compares the training of LSTMs with attention to PyTorch, on one thread and in one run.

    cmake --build build/release --target bench-translate
    python3 benchmarks/translate.py --build build/release --pairs g2p/hun_train.tsv

bench-translate, with the network of examples/nlp/translate, and the same network in PyTorch alternate, with pairs of
equal lengths, 64 per update in file order. PyTorch packs the words, and pads and masks their sounds. The fastest of all
rounds counts, in CPU time of the thread. A ratio above 1 means that ours is faster. PyTorch (any version, CPU only) is
needed for nothing else.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

LETTERS, SOUNDS, END = 40, 70, 1


def ours(program, options):
    """Figures of bench-translate."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "figures.json")
        subprocess.run([program, *options, "--json", path], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def network(torch, size):
    """Bidirectional LSTM encoder; an LSTM decoder with attention, whose output is part of its next input."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.source = nn.Embedding(LETTERS, size, sparse=False)
            self.target = nn.Embedding(SOUNDS, size, sparse=False)
            self.encoder = nn.LSTM(size, size, bidirectional=True, batch_first=True)
            self.decoder = nn.LSTMCell(2 * size, size)
            self.memory = nn.Linear(2 * size, size, bias=False)
            self.first = nn.Linear(2 * size, size)
            self.query = nn.Linear(size, size, bias=False)
            self.combine = nn.Linear(2 * size, size)
            self.output = nn.Linear(size, SOUNDS)

        def forward(self, letters, lengths, before):
            packed = nn.utils.rnn.pack_padded_sequence(
                self.source(letters), lengths, batch_first=True, enforce_sorted=False
            )
            read, (last, _) = self.encoder(packed)
            read, _ = nn.utils.rnn.pad_packed_sequence(read, batch_first=True)
            memory = self.memory(read)
            padding = torch.arange(read.shape[1])[None, :] >= lengths[:, None]
            seen = torch.tanh(self.first(torch.cat((last[0], last[1]), 1)))
            state = None
            columns = []
            for x in self.target(before).unbind(1):
                state = self.decoder(torch.cat((x, seen), 1), state)
                fits = torch.bmm(memory, self.query(state[0])[:, :, None])[:, :, 0]
                weights = torch.softmax(fits.masked_fill(padding, float("-inf")), 1)
                looked = torch.bmm(weights[:, None, :], memory)[:, 0]
                seen = torch.tanh(self.combine(torch.cat((state[0], looked), 1)))
                columns.append(seen)
            return self.output(torch.stack(columns, 1))

    return Network()


def theirs(torch, lengths, together, size, rounds):
    """Sounds per second of PyTorch for pairs of these lengths."""
    model = network(torch, size)
    optimizer = torch.optim.Adam(model.parameters())
    batches = []
    for first in range(0, len(lengths), together):
        letters, sounds = torch.tensor(lengths[first : first + together]).unbind(1)
        after = torch.randint(2, SOUNDS, (len(sounds), int(sounds.max()) + 1))
        place = torch.arange(after.shape[1])[None, :]
        after[place == sounds[:, None]] = END
        before = torch.cat((torch.full((len(sounds), 1), END), after[:, :-1]), 1)
        after[place > sounds[:, None]] = -100
        batches.append((torch.randint(2, LETTERS, (len(letters), int(letters.max()))), letters, before, after))

    def train():
        for letters, own, before, after in batches:
            optimizer.zero_grad()
            scores = model(letters, own, before)
            loss = torch.nn.functional.cross_entropy(scores.reshape(-1, SOUNDS), after.view(-1), reduction="sum")
            (loss / together).backward()
            optimizer.step()

    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        train()
        best = min(best, time.thread_time() - start)
    return sum(sounds + 1 for _, sounds in lengths) / best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--pairs", default="", help="whose lengths count")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--updates", type=int, default=8)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"skipped: {e}", file=sys.stderr)
        return 0
    torch.set_num_threads(1)
    program = pathlib.Path(arguments.build, "benchmarks", "bench-translate")
    options = ["--rounds", str(arguments.rounds), "--updates", str(arguments.updates)]
    options += ["--pairs", arguments.pairs] if arguments.pairs else []
    print(f"{'64 pairs an update':20} {'ours, sounds/s':>14} {'PyTorch':>10} {'ratio':>7}")
    for size in (128, 256):
        mine = other = 0
        for _ in range(arguments.turns):
            figures = ours(program, [*options, "--size", str(size)])
            mine = max(mine, figures["sounds_per_second"])
            other = max(other, theirs(torch, figures["lengths"], figures["together"], size, arguments.rounds))
        print(f"{f'size {size}':20} {mine:14.0f} {other:10.0f} {mine / other:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
