#pragma once

#include "dynet-like/compat/assert_cxx20.h"
#include "dynet-like/compat/nodes.h"
