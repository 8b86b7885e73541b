"""The name that the old module's inside has; some programs import it."""

from dynet import *  # noqa: F401, F403
