"""Initialization as in DyNet: settings, program arguments, devices."""

import sys
from typing import Any

import dynet_config

from . import _core

HAVE_CUDA = any(name.startswith("GPU") for name in _core._device_names())
"""Whether a GPU can be used."""
ERRMSG = ("No GPU can be used: the module was built without CUDA, or there is no NVIDIA driver. See"
          " docs/gpu.md.")
"""The message of the error if it cannot."""

# Program arguments: the attribute that they set, and whether a value follows.
_ARGUMENTS: dict[str, tuple[str, bool]] = {
    "mem": ("mem", True),
    "seed": ("random_seed", True),
    "autobatch": ("autobatch", True),
    "profiling": ("profiling", True),
    "weight-decay": ("weight_decay", True),
    "devices": ("devices", True),
    "gpus": ("requested_gpus", True),
    "gpu": ("requested_gpus", False),
    "viz": ("viz", False),
}


class DynetParams:
    """Settings for `init_from_params`. Settings for memory, profiling and shared parameters are accepted and ignored.
    """

    def __init__(self) -> None:
        self.random_seed = 0
        self.weight_decay = 0.0
        self.requested_gpus = 0
        self.devices = ""

    def from_args(self, shared_parameters: Any = None) -> None:
        """Removes arguments that begin with `--dynet-` from sys.argv and applies them. ValueError for an invalid value.
        """
        kept = sys.argv[:1]
        arguments = iter(sys.argv[1:])
        for argument in arguments:
            prefix, _, rest = argument.partition("-dynet-")
            name, has_value, value = rest.replace("_", "-").partition("=")
            if prefix not in ("-", "") or not rest or name not in _ARGUMENTS:
                kept.append(argument)
                continue
            setting, takes_value = _ARGUMENTS[name]
            if takes_value and not has_value:
                following = next(arguments, None)
                if following is None:
                    raise ValueError(f"--dynet-{name} needs a value")
                value = following
            self._set(setting, value if takes_value else 1)
        sys.argv[:] = kept

    def from_config(self, conf: dict[str, Any]) -> None:
        """Applies the dictionary of `dynet_config.get()`."""
        self._set("random_seed", conf.get("seed", 0))
        self._set("weight_decay", conf.get("weight_decay", 0))
        self._set("requested_gpus", conf.get("requested_gpus", 0))

    def init(self) -> None:
        """Calls `init_from_params`."""
        init_from_params(self)

    def set_mem(self, mem: Any) -> None:
        """No effect: memory grows on demand."""

    def set_profiling(self, profiling: Any) -> None:
        """No effect."""

    def set_shared_parameters(self, shared_parameters: Any) -> None:
        """No effect: threads share parameters."""

    def set_autobatch(self, autobatch: Any) -> None:
        """No effect: automatic batching is on by default. `renew_cg(autobatching=False)` runs nodes one by one."""

    def set_random_seed(self, random_seed: Any) -> None:
        """Sets the seed of graphs and of initial values; 0: the default seed."""
        self._set("random_seed", random_seed)

    def set_weight_decay(self, weight_decay: Any) -> None:
        """Sets the weight decay of new collections."""
        self._set("weight_decay", weight_decay)

    def set_requested_gpus(self, requested_gpus: Any) -> None:
        """Sets the number of GPUs."""
        self._set("requested_gpus", requested_gpus)

    def set_gpu_mask(self, gpu_mask: Any) -> None:
        """No effect: use CUDA_VISIBLE_DEVICES."""

    def set_cpu_mode(self) -> None:
        """Disables the GPU."""
        self.requested_gpus = 0

    def _set(self, name: str, value: Any) -> None:
        kinds: dict[str, type] = {"random_seed": int, "requested_gpus": int, "weight_decay": float, "devices": str}
        if name in kinds:
            try:
                setattr(self, name, kinds[name](value))
            except ValueError:
                raise ValueError(f"{name.replace('_', ' ')} is a number, not {value!r}") from None


class DeviceInfo:
    """A device that expressions can be computed on."""

    def __init__(self, name: str, id: int, dtype: int) -> None:
        self.name, self.id, self.type = name, id, dtype


def available_devices() -> list[str]:
    """The names of all devices, such as "CPU" and "GPU:0"."""
    return _core._device_names()


def get_device_info(name: str) -> DeviceInfo:
    """The DeviceInfo of this name. ValueError if there is no such device."""
    names = available_devices()
    if name not in names:
        raise ValueError(f"there is no device {name!r}, only {', '.join(names)}")
    return DeviceInfo(name, names.index(name), -1 if name == "CPU" else 1)


def init_from_params(params: DynetParams) -> None:
    """Applies the settings. Existing graphs and expressions are unchanged."""
    if (params.requested_gpus or "GPU" in params.devices) and not HAVE_CUDA:
        raise RuntimeError(ERRMSG)
    device = "GPU:0" if params.requested_gpus else params.devices.split(",")[0]
    _core._set_defaults(params.random_seed, params.weight_decay, device)


def init(shared_parameters: Any = None) -> None:
    """Applies the settings of `dynet_config`, or else the program arguments `--dynet-...`."""
    params = DynetParams()
    params.from_args(shared_parameters)
    configured = dynet_config.get()
    if configured is not None:
        params.from_config(configured)
    params.init()


def print_graphviz(**kwarge: Any) -> None:
    """Prints the current graph in Graphviz's format."""
    _core.print_text_graphviz()
