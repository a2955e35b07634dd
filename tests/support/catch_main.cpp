// main() of tests with Catch2 version 2; version 3 has its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
