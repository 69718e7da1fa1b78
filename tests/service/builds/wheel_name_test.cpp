#include "service/builds/wheel_name.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::service;

TEST_CASE("a version falls into base, date and variant") {
  const auto version = parse_version("2.15.0.dev20260820+cu130");
  REQUIRE(version);
  CHECK(version->base == std::vector<int>{2, 15, 0});
  CHECK(version->date == "2026-08-20");
  CHECK(version->variant == "cu130");
  CHECK(parse_version("2.13.0")->date.empty());
  CHECK(parse_version("2.13.0+rocm7.2")->variant == "rocm7.2");
  CHECK(parse_version("2.15.0a0+git1234567")->base == std::vector<int>{2, 15, 0});
  CHECK(parse_version("2.15.0a0+git1234567")->variant == "git1234567");
}

TEST_CASE("what is no version is refused") {
  const auto text = GENERATE("", "2", "a.b", "2..0", "2.15.0.dev2026082", "2.15.0.dev20260231+cpu",
                             "2.15.0.dev20260820+", "2.15.0.dev20260820+c/u", "2.-1.0", "2.15.0rc1",
                             "2.15.0.dev20261301", "2.15.0a", "2.15.0a+cpu", "a0", "99999999999.0");
  INFO(text);
  const bool single = std::string(text) == "2";  // one number is a version
  CHECK(parse_version(text).has_value() == single);
}

TEST_CASE("a wheel's name tells for which Python and platform it is") {
  struct Row {
    const char* file_name;
    const char* python;
    bool fits;
  };
  const std::string torch = "torch-2.15.0.dev20260820+cpu-";
  const auto row = GENERATE(values<Row>({
      {"cp311-cp311-linux_x86_64.whl", "cp311", true},
      {"cp311-cp311-manylinux_2_28_x86_64.whl", "cp311", true},
      {"cp311-cp311-manylinux1_x86_64.manylinux_2_28_x86_64.whl", "cp311", true},
      {"1-cp311-cp311-linux_x86_64.whl", "cp311", true},
      {"py2.cp311-none-any.whl", "cp311", true},
      {"py3-none-any.whl", "cp311", true},
      {"py2-none-any.whl", "cp311", false},
      {"cp311-cp311-manylinux_2_28_aarch64.whl", "cp311", false},
      {"cp311-cp311-win_amd64.whl", "cp311", false},
      {"cp311-none-macosx_11_0_arm64.whl", "cp311", false},
      {"cp312-cp312-linux_x86_64.whl", "cp311", false},
      {"cp313-cp313t-linux_x86_64.whl", "cp313", false},
      {"cp313-cp313t-linux_x86_64.whl", "cp313t", true},
  }));
  INFO(row.file_name);
  const auto name = parse_wheel_name(torch + row.file_name);
  REQUIRE(name);
  CHECK(name->distribution == "torch");
  CHECK(name->version.variant == "cpu");
  CHECK(name->fits(row.python) == row.fits);
}

TEST_CASE("what is no wheel name is refused") {
  const auto text = GENERATE("torch.whl", "torch-2.15.0-cp311-cp311.whl", "torch-2.15.0.tar.gz",
                             ".whl", "torch-2.15.0-cp311-cp311-linux_x86_64.whl.metadata",
                             "torch-2.15.0-x1-cp311-cp311-linux_x86_64.whl",
                             "../torch-2.15.0-cp311-cp311-linux_x86_64.whl",
                             "torch--cp311-cp311-linux_x86_64.whl");
  INFO(text);
  CHECK_FALSE(parse_wheel_name(text));
}

TEST_CASE("a file name is the last part of a URL, decoded") {
  CHECK(file_name_of("https://h.test/x/torch-1%2Bcpu.whl?a=/b#sha256=1/2") == "torch-1+cpu.whl");
  CHECK(file_name_of("torch.whl") == "torch.whl");
  CHECK(file_name_of("https://h.test/x/").empty());
}
