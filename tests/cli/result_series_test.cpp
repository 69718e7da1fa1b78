#include "service/cli/result_series.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "service/cli/failure.hpp"
#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::cli;
using Catch::Contains;
namespace fs = std::filesystem;
