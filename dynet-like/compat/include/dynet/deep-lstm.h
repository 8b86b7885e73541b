#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/layers/recurrent/coupled_lstm.h"
