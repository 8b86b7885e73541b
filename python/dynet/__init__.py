"""Dynamic neural networks: a new graph for every sample, built by ordinary control flow.

    import dynet as dy

    pc = dy.ParameterCollection()
    W = pc.add_parameters((8, 2))
    trainer = dy.SimpleSGDTrainer(pc)
    dy.renew_cg()
    loss = dy.squared_norm(dy.tanh(W * dy.inputVector([1, 0])))
    loss.backward()
    trainer.update()

The names are those of DyNet's Python module, whose programs run unchanged.

Examples in docstrings come after `import dynet as dy`, `import numpy as np` and `pc = dy.ParameterCollection()`.
"""

from . import _core
from ._core import *  # noqa: F403
from .batches import BatchTrainer as BatchTrainer
from .boxes import FloatValue as FloatValue
from .boxes import FloatVectorValue as FloatVectorValue
from .boxes import UnsignedValue as UnsignedValue
from .boxes import UnsignedVectorValue as UnsignedVectorValue
from .builders import BiRNNBuilder as BiRNNBuilder
from .builders import StackedRNNState as StackedRNNState
from .collections import register as _register
from .decoding import BeamHypothesis as BeamHypothesis
from .decoding import ExtendedSource as ExtendedSource
from .decoding import SampledSequence as SampledSequence
from .decoding import extend_vocabulary as extend_vocabulary
from .operation import Operation as Operation
from .operation import custom_operation as custom_operation
from .profiling import profile_by_environment as _profile_by_environment
from .saving import load as load
from .saving import load_generator as load_generator
from .saving import save as save
from .settings import ERRMSG as ERRMSG
from .settings import HAVE_CUDA as HAVE_CUDA
from .settings import DeviceInfo as DeviceInfo
from .settings import DynetParams as DynetParams
from .settings import available_devices as available_devices
from .settings import get_device_info as get_device_info
from .settings import init as init
from .settings import init_from_params as init_from_params
from .settings import print_graphviz as print_graphviz
from .tensor import Tensor as Tensor

__version__: str = getattr(_core, "__version__")
_register()
init()
_profile_by_environment()
