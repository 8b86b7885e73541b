#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/layers/recurrent/c2w.h"
