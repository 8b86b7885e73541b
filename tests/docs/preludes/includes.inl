// Headers that the snippets of documents need not include.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/ops/form.h"
