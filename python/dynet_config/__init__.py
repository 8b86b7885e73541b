"""Settings to make before importing dynet.

    import dynet_config
    dynet_config.set(random_seed=42)
    import dynet as dy
"""

from typing import Any

_settings: dict[str, Any] | None = None
_gpu: bool | None = None


def set(mem: Any = "512", random_seed: int = 0, autobatch: Any = 0, profiling: Any = 0,
        weight_decay: float = 0, shared_parameters: Any = 0, requested_gpus: int = 0,
        gpu_mask: Any = None) -> None:
    """Sets the configuration; only `random_seed`, `weight_decay` and `requested_gpus` have an effect."""
    global _settings
    _settings = {
        "mem": mem, "seed": random_seed, "autobatch": autobatch, "profiling": profiling,
        "weight_decay": weight_decay, "shared_params": shared_parameters,
        "requested_gpus": requested_gpus, "gpu_mask": gpu_mask if gpu_mask else [],
    }


def set_gpu(flag: bool = True) -> None:
    """Requests a GPU."""
    global _gpu
    _gpu = flag
    if _settings is None:
        set(requested_gpus=1)
    else:
        _settings["requested_gpus"] = 1


def gpu() -> bool | None:
    """Whether `set_gpu` requested a GPU; None if it was not called."""
    return _gpu


def get() -> dict[str, Any] | None:
    """The settings as a dictionary, or None."""
    return _settings
