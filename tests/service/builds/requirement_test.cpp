#include "service/builds/requirement.hpp"

#include <catch2/catch.hpp>

#include "service/builds/wheel.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;

TEST_CASE("requirements as real wheels have them are read") {
  struct Row {
    std::string line, text;
  };
  const auto row = GENERATE(values<Row>({
      {"filelock", "filelock"},
      {"typing-extensions>=4.10.0", "typing-extensions>=4.10.0"},
      {"setuptools; python_version >= \"3.12\"", "setuptools ; python_version >= \"3.12\""},
      {"nvidia-cudnn-cu12==9.10.2.21; platform_system == \"Linux\" and platform_machine == "
       "'x86_64'",
       "nvidia-cudnn-cu12==9.10.2.21 ; platform_system == \"Linux\" and platform_machine == "
       "\"x86_64\""},
      {"pytorch-triton==3.5.0+git1b0418a9", "pytorch-triton==3.5.0+git1b0418a9"},
      {"opt-einsum>=3.3 ; extra == 'opt-einsum'", "opt-einsum>=3.3 ; extra == \"opt-einsum\""},
      {"PySocks (!=1.5.7,>=1.5.6)", "pysocks!=1.5.7,>=1.5.6"},
      {"Typing.Extensions [ test,Docs ] ~= 5.*,", "typing-extensions[test,docs]~=5.*"},
      {"a[] ===1.0", "a===1.0"},
      {"x;(os_name=='nt'or'3' not  in python_version)and extra!='y'",
       "x ; (os_name == \"nt\" or \"3\" not in python_version) and extra != \"y\""},
  }));
  const auto requirement = Requirement::parse(row.line);
  INFO(row.line);
  REQUIRE(requirement);
  CHECK(requirement->text() == row.text);
  CHECK(Requirement::parse(row.text) == requirement);
}

TEST_CASE("what is more than a requirement is none") {
  const auto line = GENERATE(
      as<std::string>(), "", "-r /etc/passwd", "-e .", "--extra-index-url http://evil.test",
      "--find-links /tmp", "evil @ git+http://evil.test/x", "evil @ file:///tmp/evil.whl",
      "evil@https://evil.test/e.whl", "https://evil.test/e.whl", "git+ssh://evil.test/x",
      "./evil-1.0-py3-none-any.whl", "../evil", "/tmp/evil", "a b", "a 1.0", "a==", "a>=1 # x",
      "a # x", "a\n-e .", "a\r-e .", "a \\", "a>=1 --hash=sha256:00", "a>=1 --config-settings=x=y",
      "a;", "a[b", "a(>=1", "a; extra", "a; extra == \"b", "a; extra == 'b\" -e .'",
      "a; os.system == '1'", "a; 'x' == 'y' ; b", "a>=1;python_version>'3'\n", "a>=${HOME}",
      "a>=1,,<2", "\xC3\xA9",
      "a; " + std::string(100, '(') + "extra == 'b'" + std::string(100, ')'), "a-", ".a",
      "a>=1 ,b");
  INFO(line);
  CHECK_FALSE(Requirement::parse(line));
  const std::string said = unreadable_requirement(line);
  CHECK_THAT(said, Contains("its METADATA requires '") && !Contains("\n"));
  CHECK(said.size() < 300);
}

TEST_CASE("no requirement of METADATA is passed over") {
  struct Row {
    std::string metadata;
    std::vector<std::string> requirements;
    bool is_readable;
  };
  const auto row = GENERATE(values<Row>({
      {"Name: x\nRequires-Dist: a\nREQUIRES-DIST: b\r\nrequires-dist : c\n\nRequires-Dist: text\n",
       {"a", "b", "c"},
       true},
      {"Requires-Dist: a\n @ git+http://evil.test\nName: x\n", {"a"}, false},
      {"Requires-Dist: a\n\t-e .\n", {"a"}, false},
      {"Requires-Dist: -e .\nRequires-Dist: b\n", {"b"}, false},
      {"Summary: x\n Requires-Dist: a\n", {}, true},  // of the summary
      {"Name: x\n \nRequires-Dist: a\n", {"a"}, true},
      {"Requires-Dist:\n", {}, false},
  }));
  INFO(row.metadata);
  WheelFacts facts;
  read_metadata(row.metadata, facts);
  std::vector<std::string> texts;
  for (const Requirement& one : facts.requires_dist) texts.push_back(one.text());
  CHECK(texts == row.requirements);
  CHECK(facts.unreadable.empty() == row.is_readable);
}

TEST_CASE("a locked package is required by its version alone") {
  CHECK(exactly({"numpy", "2.1.0"})->text() == "numpy==2.1.0");
  CHECK_FALSE(exactly({"numpy @ http://evil.test", "1"}));
  CHECK_FALSE(exactly({"numpy", "1 --find-links /tmp"}));
  CHECK_FALSE(exactly({"numpy", ""}));
}
