#pragma once

#include "dynet-like/compat/assert_cxx17.h"
#include "dynet-like/compat/standard.h"
#include "dynet-like/io/dict.h"
