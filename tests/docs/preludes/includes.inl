// What the snippets of documents may use without including it themselves.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/ops/form.h"
