#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/compat/text_file.h"
