#pragma once

#include "dynet-like/compat/core.h"
#include "dynet-like/compat/mp.h"

// Further headers that DyNet's mp.h includes, if they are installed.
#include <deque>
#include <list>
#if __has_include(<boost/algorithm/string.hpp>)
#include <boost/algorithm/string.hpp>
#endif
#if __has_include(<boost/interprocess/ipc/message_queue.hpp>)
#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/ipc/message_queue.hpp>
#endif
