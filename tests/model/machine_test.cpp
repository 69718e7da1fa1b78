#include "storage/model/machine.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("updates change a machine's facts, and another model or size is another class") {
  const std::map<std::string, std::string> before{
      {"arch", "x86_64"}, {"cpu_count", "8"}, {"cpu_model", "EPYC"}, {"driver", "580"},
      {"gpu", "none"},    {"kernel", "6.1"},  {"memory_bytes", "7"}, {"thp", "always"}};
  CHECK(class_text(before) ==
        "arch=x86_64\ncpu_count=8\ncpu_model=EPYC\ngpu=none\nmemory_bytes=7\n");
  auto after = before;
  for (const char* name : {"kernel", "driver", "thp"}) after[name] = "new";
  CHECK(class_text(after) == class_text(before));
  for (const char* name : {"arch", "cpu_count", "cpu_model", "cpu_quota", "gpu", "memory_bytes"}) {
    auto other = before;
    other[name] = "other";
    CHECK(class_text(other) != class_text(before));
  }
}

TEST_CASE("a class without any of the known facts is made by all that it has") {
  CHECK(class_text({{"imported", "a"}}) != class_text({{"imported", "b"}}));
  CHECK(class_text({}).empty());
}

TEST_CASE("what changed is said by name") {
  CHECK(facts_changed({{"kernel", "6.1"}, {"smt", "on"}, {"thp", "always"}},
                      {{"kernel", "6.8"}, {"smt", "off"}, {"thp", "always"}}) ==
        "kernel 6.1 → 6.8, smt on → off");
  CHECK(facts_changed({{"kernel", "6.1"}}, {{"kernel", "6.1"}}).empty());
}

TEST_CASE("a fact that one side has not read is no change, and a package that is gone is one") {
  using Facts = std::map<std::string, std::string>;
  const Facts before{{"kernel", "6.1"}, {"package timm", "1.0"}};
  Facts after = before;
  after["microcode"] = "0x1b";
  CHECK(facts_changed(before, after).empty());
  CHECK(facts_changed(after, before).empty());
  Facts updated = after;
  updated["microcode"] = "0x1c";
  CHECK(facts_changed(after, updated) == "microcode 0x1b → 0x1c");
  after.erase("package timm");
  CHECK(facts_changed(before, after) == "package timm 1.0 → none");
  CHECK(facts_changed(after, before) == "package timm none → 1.0");
}
