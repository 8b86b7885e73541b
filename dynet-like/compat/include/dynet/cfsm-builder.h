#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/layers/vocabulary/softmax_builder.h"
