"""Trains nagisa with initial values that depend on nothing but their places, and prints the mean loss of each epoch.

    python nagisa_losses.py CORPUS EPOCHS
"""

import json
import os
import sys
import tempfile

import nagisa  # first: it puts its own folder on the path
import numpy as np


def values(place, shape):
    return np.random.RandomState(place).uniform(-0.1, 0.1, shape)


def fill(model):
    """The same values whichever module draws."""
    tables, parameters = model.lookup_parameters_list(), model.parameters_list()
    for place, table in enumerate(tables):
        table.init_from_array(values(place, table.shape()))
    for place, p in enumerate(parameters, len(tables)):
        p.set_value(values(place, p.shape()))


def main():
    corpus, epochs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    import model  # nagisa's

    made = model.Model.__init__

    def init(self, *args, **kwargs):
        made(self, *args, **kwargs)
        if kwargs.get("params") is None and len(args) < 2:
            fill(self.model)

    model.Model.__init__ = init
    logged = []

    def recorded(x):  # what nagisa logs as text, cut to five letters
        logged.append(x)
        return str(x)

    sys.modules[nagisa.fit.__module__].str = recorded
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        nagisa.fit(corpus, corpus, corpus, "m", epoch=epochs, min_count=1, dropout_rate=0.0, decay=100)
    # Fields of each epoch: its number, the learning rate, the loss, the time, four scores.
    print(json.dumps(logged[2::8]))


if __name__ == "__main__":
    main()
