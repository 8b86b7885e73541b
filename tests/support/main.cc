// Catch2 version 3 brings its own main function; version 2 wants one file that asks for it.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#endif
#include "tests/support/catch.h"
