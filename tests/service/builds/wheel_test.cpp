#include "service/builds/wheel.hpp"

#include <catch2/catch.hpp>

#include "tests/service/builds/support.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using nightjar::test::Members;
using nightjar::test::ScratchFolder;

TEST_CASE("a wheel tells its versions and what it was built for") {
  const ScratchFolder folder;
  nightjar::test::WheelRecipe recipe;
  recipe.git_version = std::string(40, 'a');
  recipe.cuda = "'13.0'";
  const WheelFacts facts = read_wheel(recipe.write(folder.path()));
  CHECK(facts.metadata_name == "torch");
  CHECK(facts.metadata_version == recipe.version);
  CHECK(facts.version_file.version == recipe.version);
  CHECK(facts.version_file.git_version == recipe.git_version);
  CHECK(facts.version_file.cuda == "13.0");
  CHECK_FALSE(facts.version_file.hip);
}

TEST_CASE("version.py is read in every spelling that PyTorch has used") {
  const auto old = parse_version_file("__version__ = \"1.0\"\r\ndebug = False\r\ncuda = None\r\n");
  REQUIRE(old);
  CHECK(old->version == "1.0");
  CHECK_FALSE(old->cuda);
  CHECK_FALSE(old->git_version);
  const auto rocm = parse_version_file("__version__ = '2'\nhip = None\nrocm: str = '7.2'\n");
  REQUIRE(rocm);
  CHECK(rocm->hip == "7.2");
  CHECK_FALSE(parse_version_file("cuda = '13.0'\n"));
  CHECK_FALSE(parse_version_file("__version__ = 'a' 'b'\n"));
  CHECK_FALSE(parse_version_file("__version__ = version()\n"));
}

TEST_CASE("a wheel that was cut off anywhere is refused") {
  const ScratchFolder folder;
  nightjar::test::WheelRecipe recipe;
  const std::string whole = nightjar::test::read_file(recipe.write(folder.path()));
  for (std::size_t kept :
       {std::size_t{0}, std::size_t{3}, whole.size() / 2, whole.size() - 30, whole.size() - 1}) {
    INFO(kept);
    CHECK_THROWS_AS(
        read_wheel(nightjar::test::write_file(folder / "cut.whl", whole.substr(0, kept))),
        BadWheel);
  }
  CHECK_THROWS_AS(read_wheel(nightjar::test::write_file(folder / "page.whl", "<html>404</html>")),
                  BadWheel);
}

TEST_CASE("a wheel with a corrupt version.py is refused") {
  const ScratchFolder folder;
  nightjar::test::WheelRecipe recipe;
  recipe.git_version = std::string(40, 'a');
  std::string bytes = nightjar::test::read_file(recipe.write(folder.path()));
  const auto at = bytes.find("torch/version.py") + 40;
  bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
  CHECK_THROWS_AS(read_wheel(nightjar::test::write_file(folder / "bad.whl", bytes)), BadWheel);
}

TEST_CASE("a wheel with a member that has no business there is refused") {
  struct Row {
    const char* reason;
    Members more;
  };
  const auto row = GENERATE(values<Row>({
      {"would leave the folder", {{"../evil.py", "x"}}},
      {"would leave the folder", {{"torch/../../evil.py", "x"}}},
      {"would leave the folder", {{"/etc/evil", "x"}}},
      {"would leave the folder", {{"torch\\..\\evil.py", "x"}}},
      {"is there twice", {{"torch/version.py", "__version__ = '9'\n"}}},
      {"two METADATA", {{"other-1.dist-info/METADATA", "Name: other\nVersion: 1\n\n"}}},
  }));
  INFO(row.more[0].first);
  const ScratchFolder folder;
  Members members = nightjar::test::WheelRecipe{}.members();
  members.insert(members.end(), row.more.begin(), row.more.end());
  nightjar::test::write_zip(folder / "w.whl", members);
  CHECK_THROWS_WITH(read_wheel(folder / "w.whl"), Contains(row.reason));
}

TEST_CASE("a wheel without what tells its identity is refused") {
  const ScratchFolder folder;
  const Members members = nightjar::test::WheelRecipe{}.members();
  nightjar::test::write_zip(folder / "a.whl", {members[0], members[2]});
  CHECK_THROWS_WITH(read_wheel(folder / "a.whl"), Contains("no torch/version.py"));
  nightjar::test::write_zip(folder / "b.whl", {members[0], members[1]});
  CHECK_THROWS_WITH(read_wheel(folder / "b.whl"), Contains("no METADATA"));
  CHECK_THROWS_WITH(read_wheel(folder / "none.whl"), Contains("none.whl: no such file"));
}
