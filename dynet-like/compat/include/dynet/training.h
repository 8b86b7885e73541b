#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/train/adam.h"
#include "dynet-like/train/adaptive.h"
#include "dynet-like/train/exponentiated.h"
#include "dynet-like/train/schedule.h"
#include "dynet-like/train/sgd.h"
