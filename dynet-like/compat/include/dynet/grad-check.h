#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/run/grad_check.h"
