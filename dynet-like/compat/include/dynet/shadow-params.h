#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/compat/shadow_params.h"
