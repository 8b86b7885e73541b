#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/compat/own_nodes.h"
