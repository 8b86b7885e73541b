// Headers that the snippets of documents need not include.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/in_process.h"
#include "dynet-like/distributed/mpi/world.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/save.h"
#include "dynet-like/io/word_vectors.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/serve/batcher.h"
#include "dynet-like/structures/ctc/ctc_decoding.h"
#include "dynet-like/train/update_loops.h"
