// Catch2 3 under the name and with the words of version 2, so that the tests build with either.
// tests/CMakeLists.txt puts this folder on the path where version 3 is there.
#pragma once

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

#define Contains ContainsSubstring

namespace Catch {
using Matchers::ContainsSubstring;
}
using Catch::Approx;
