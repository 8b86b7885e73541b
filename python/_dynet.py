"""Name of the extension module of DyNet's package, which some programs import."""

from dynet import *  # noqa: F401, F403
