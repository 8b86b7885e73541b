#pragma once

#include "dynet-like/compat/nodes.h"
