#include "service/builds/wheel.hpp"

#include <clocale>
#include <stdexcept>

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
      {"is there twice, with another content", {{"torch/version.py", "__version__ = '9'\n"}}},
      {"lies below a file", {{"torch/version.py/x", "x"}}},
      {"two .dist-info folders", {{"other-1.dist-info/METADATA", "Name: other\nVersion: 1\n\n"}}},
      {"two .dist-info folders", {{"other-1.dist-info/LICENSE", "x"}}},
  }));
  INFO(row.more[0].first);
  const ScratchFolder folder;
  const nightjar::test::WheelRecipe recipe;
  Members members = recipe.members();
  members.insert(members.end(), row.more.begin(), row.more.end());
  nightjar::test::write_wheel(folder / "w.whl", members, recipe.info());
  CHECK_THROWS_WITH(read_wheel(folder / "w.whl"), Contains(row.reason));
}

TEST_CASE("a wheel whose texts have more bytes than any honest one's is refused") {
  const ScratchFolder folder;
  const nightjar::test::WheelRecipe recipe;
  const std::size_t megabyte = 1 << 20;
  const auto [name, megabytes] =
      GENERATE(table<std::string, std::size_t>({{"METADATA", 9}, {"RECORD", 33}, {"WHEEL", 2}}));
  Members members = recipe.members();
  std::erase_if(members, [&, &what = name](const auto& member) {
    return member.first.ends_with("/" + what);
  });
  members.emplace_back(recipe.info() + "/" + name, std::string(megabytes * megabyte, 'x'));
  nightjar::test::write_zip(folder / "w.whl", members);
  CHECK_THROWS_WITH(read_wheel(folder / "w.whl"),
                    Contains("/" + name + "' has more than " +
                             std::to_string((megabytes - 1) * megabyte) + " bytes"));
}

TEST_CASE("a wheel that lists more members than any honest one is refused before they are kept") {
  const ScratchFolder folder;
  std::string directory;
  for (int i = 0; i <= 400'000; ++i) directory += "PK\1\2";
  nightjar::test::write_file(folder / "w.whl", directory);
  CHECK_THROWS_WITH(read_wheel(folder / "w.whl"), "it has more than 400000 members");
}

TEST_CASE("reading a wheel ends when the service does") {
  const ScratchFolder folder;
  const auto wheel = nightjar::test::WheelRecipe().write(folder.path());
  std::stop_source service;
  CHECK_NOTHROW(read_wheel(wheel, "torch/version.py", false, service.get_token()));
  service.request_stop();
  CHECK_THROWS_WITH(read_wheel(wheel, "torch/version.py", false, service.get_token()),
                    "stopped while the wheel was read");
}

TEST_CASE("a wheel that requires more packages than any honest one is unusable") {
  std::string text;
  for (int i = 0; i < 10'100; ++i) text += "Requires-Dist: a" + std::to_string(i) + "\n";
  WheelFacts facts;
  read_metadata(text, facts);
  CHECK(facts.unreadable == "its METADATA requires more than 10,000 packages");
  CHECK(facts.requires_dist.size() == 10'000);
}

TEST_CASE("a wheel without what tells its identity is refused") {
  const ScratchFolder folder;
  const nightjar::test::WheelRecipe recipe;
  const Members members = recipe.members();
  const auto refused = [&](const Members& some, const char* reason) {
    nightjar::test::write_wheel(folder / "w.whl", some, recipe.info());
    CHECK_THROWS_WITH(read_wheel(folder / "w.whl"), Contains(reason));
  };
  refused({members[0], members[2], members[3]}, "no torch/version.py");
  refused({members[0], members[1], members[3]}, "/METADATA");
  CHECK_THROWS_WITH(read_wheel(folder / "none.whl"), Contains("none.whl: no such file"));
}

namespace {

// A wheel, and its RECORD as it was before somebody changed the wheel.
struct Packaged {
  ScratchFolder folder;
  nightjar::test::WheelRecipe recipe;
  Members members = recipe.members();
  std::string record = nightjar::test::record_of(members, recipe.info());
  bool laid_over = false;

  void add_line(const std::string& line) { record += line + "\n"; }
  void remove(const std::string& name) {
    std::erase_if(members, [&](const auto& member) { return member.first == name; });
  }
  std::string& content(const std::string& name) {
    for (auto& [member, text] : members)
      if (member == name) return text;
    throw std::out_of_range(name);
  }
  WheelFacts read() {
    members.emplace_back(recipe.info() + "/RECORD", record);
    nightjar::test::write_zip(folder / "w.whl", members);
    return read_wheel(folder / "w.whl", "torch/version.py", laid_over);
  }
};

const std::string info_folder = nightjar::test::WheelRecipe{}.info();
const std::string some_hash(43, 'A');

}  // namespace

TEST_CASE("a wheel that is broken as a package is refused with what is wrong") {
  struct Row {
    std::string reason;
    void (*harm)(Packaged&);
  };
  const auto row = GENERATE(values<Row>({
      {"RECORD lists torch/__init__.py, which is missing",
       [](Packaged& p) { p.remove("torch/__init__.py"); }},
      {"RECORD lists torch/lib/gone.so, which is missing",
       [](Packaged& p) { p.add_line("torch/lib/gone.so,,"); }},
      {"torch/__init__.py differs from what RECORD says",
       [](Packaged& p) { p.content("torch/__init__.py")[0] = 'F'; }},
      {"torch/__init__.py differs from what RECORD says",
       [](Packaged& p) { p.content("torch/__init__.py") += "# more"; }},
      {"torch/x.py differs from what RECORD says",  // its size alone is known
       [](Packaged& p) {
         p.members.emplace_back("torch/x.py", "12");
         p.add_line("torch/x.py,,3");
       }},
      {"malformed line for 'torch/y.py'", [](Packaged& p) { p.add_line("torch/y.py"); }},
      {"malformed line for 'torch/y.py'", [](Packaged& p) { p.add_line("torch/y.py,sha256=A,1"); }},
      {"malformed line for 'torch/y.py'", [](Packaged& p) { p.add_line("torch/y.py,,x"); }},
      {"RECORD lists " + info_folder + "/WHEEL, which is missing",
       [](Packaged& p) { p.remove(info_folder + "/WHEEL"); }},
      {"it has no " + info_folder + "/METADATA",
       [](Packaged& p) { p.remove(info_folder + "/METADATA"); }},
      {"no METADATA with a version",
       [](Packaged& p) { p.content(info_folder + "/METADATA") = "Name: torch\n\nVersion: 1\n"; }},
  }));
  Packaged packaged;
  row.harm(packaged);
  CHECK_THROWS_WITH(packaged.read(), Contains(row.reason));
}

TEST_CASE("what pip and uv install is no fault of a wheel") {
  using Allow = void (*)(Packaged&);
  const auto allow = GENERATE(values<Allow>({
      // METADATA was written again after RECORD, as tools do that change a version.
      [](Packaged& p) { p.content(info_folder + "/METADATA") += "and more\n"; },
      [](Packaged& p) { p.content(info_folder + "/WHEEL") += "Build: 1\n"; },
      [](Packaged& p) { p.add_line(info_folder + "/RECORD.jws,sha256=" + some_hash + ",3"); },
      [](Packaged& p) {
        p.add_line("torch/__pycache__/a.python-3.pyc,sha256=" + some_hash + ",3");
      },
      [](Packaged& p) { p.members.emplace_back("torch/not_listed.py", "x = 1\n"); },
      [](Packaged& p) { p.members.push_back(p.members[0]); },  // twice, and the same
      [](Packaged& p) { p.record.insert(0, "\xEF\xBB\xBF"); },
      [](Packaged& p) { p.record.insert(p.record.find(",", p.record.find("sha256=")), "="); },
      [](Packaged& p) { p.record.insert(0, "./"); },
      [](Packaged& p) { p.record[p.record.find('/')] = '\\'; },
      [](Packaged& p) {
        for (std::size_t at = 0; (at = p.record.find('\n', at)) != std::string::npos; at += 2)
          p.record.replace(at, 1, "\r\n");
      },
      [](Packaged& p) {
        p.members.emplace_back("torch/gr\u00f6\u00dfe.py", "x = 1\n");
        p.record = nightjar::test::record_of(p.members, info_folder);
      },
  }));
  Packaged packaged;
  allow(packaged);
  CHECK(packaged.read().metadata_name == "torch");
}

TEST_CASE("a name that is not ASCII is held against RECORD in any locale") {
  Packaged packaged;
  packaged.members.emplace_back("torch/gr\u00f6\u00dfe.py", "x = 1\n");
  packaged.record = nightjar::test::record_of(packaged.members, info_folder);
  packaged.members.back().second = "x = 2\n";
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "C");
  CHECK_THROWS_WITH(packaged.read(), Contains("torch/gr\u00f6\u00dfe.py differs"));
  CHECK(std::setlocale(LC_ALL, nullptr) == std::string("C"));  // the program's own is as it was
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("a wheel of CI may have Python files of a later commit, but no other compiled ones") {
  Packaged packaged;
  packaged.laid_over = true;
  packaged.members.emplace_back("torch/lib/libtorch.so", "compiled");
  packaged.record = nightjar::test::record_of(packaged.members, info_folder);
  packaged.content("torch/__init__.py") += "# laid over";
  SECTION("Python") {
    CHECK(packaged.read().metadata_name == "torch");
  }
  SECTION("compiled") {
    packaged.content("torch/lib/libtorch.so") += "again";
    CHECK_THROWS_WITH(packaged.read(), Contains("torch/lib/libtorch.so differs"));
  }
}

TEST_CASE("METADATA of a proved wheel is read without a look at the rest") {
  Packaged packaged;
  packaged.content(info_folder + "/METADATA").insert(0, "Requires-Dist: sympy (>=1.13)\n");
  packaged.content("torch/__init__.py") += "# differs";
  packaged.members.emplace_back(info_folder + "/RECORD", packaged.record);
  nightjar::test::write_zip(packaged.folder / "w.whl", packaged.members);
  CHECK(read_metadata_of(packaged.folder / "w.whl").requirements.at("sympy") == "(>=1.13)");
}
