#include "runner/python.hpp"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using nightjar::runner::default_python;

TEST_CASE("a Python is found from where its path was written") {
  CHECK(default_python("env/bin/python") == fs::current_path() / "env/bin/python");
  CHECK(default_python("/usr/bin/python3") == "/usr/bin/python3");
  CHECK(default_python("python3.12") == "python3.12");
  CHECK_FALSE(default_python("").empty());
}
