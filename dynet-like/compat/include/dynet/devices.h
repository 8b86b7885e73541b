#pragma once

#include "dynet-like/compat/core.h"
