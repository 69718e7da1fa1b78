#include "runner/build/environments.hpp"

#include <clocale>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "runner/build/libtorch.hpp"
#include "runner/build/marker.hpp"
#include "runner/build/record.hpp"
#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "tests/runner/wheel.hpp"

using namespace nightjar;
using namespace nightjar::runner;
namespace fs = std::filesystem;

namespace {

EnvironmentsConfig config_in(const Scratch& scratch, bool import = false) {
  EnvironmentsConfig config;
  config.cache = scratch / "cache";
  config.python = "python3";
  if (import) config.rights = Unconfined("a test");
  config.download.attempts = 2;
  config.download.pause = std::chrono::milliseconds(1);
  return config;
}

Environment make(Environments& environments, const EnvironmentSpec& spec) {
  environments.begin_session({spec});
  return environments.make(spec, {});
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("A good wheel becomes an environment, and is made once") {
  const Scratch scratch;
  const EnvironmentSpec spec = good_wheel(scratch);
  Environments environments(config_in(scratch));
  const Environment made = make(environments, spec);
  CHECK(made.broken == "");
  CHECK(slurp(made.site_packages / "torch/slow.py") == "FACTOR = 1\n");
  fs::remove(scratch / spec.wheel_file);  // a second making would need it
  CHECK(make(environments, spec).broken == "");
  CHECK(entries_in(scratch / "cache/tmp") == 0);
}

TEST_CASE("Of a wheel at fault no run can tell anything, and nothing stays") {
  const Scratch scratch;
  const auto good = torch_members("2.15.0", "abc");
  struct Case {
    std::string name, reason;
    std::vector<Member> members;
  };
  auto changed = good;
  changed.push_back(record_of(good, "2.15.0"));
  changed[2].text = "FACTOR = 2\n";
  auto missing = good;
  missing.push_back(record_of(good, "2.15.0"));
  missing.erase(missing.begin() + 3);
  const auto with = [&](Member member) {
    auto members = good;
    members.push_back(record_of(good, "2.15.0"));
    members.push_back(std::move(member));
    return members;
  };
  auto long_record = good;
  long_record.push_back({record_of(good, "2.15.0").name, std::string(most_record + 1, '\n'), ""});
  const Case cases[] = {
      {"long record", "RECORD cannot be read, or has more than 33554432 bytes", long_record},
      {"traversal", "leads out", with({"../../evil", "x", ""})},
      {"absolute", "leads out", with({"/tmp/nightjar-evil", "x", ""})},
      {"link", "no regular file", with({"torch/link", "", "/etc/passwd"})},
      {"twice", "torch/slow.py differs", with({"torch/slow.py", "x", ""})},
      {"below a file", "", with({"torch/slow.py/x", "x", ""})},
      {"changed", "torch/slow.py differs", changed},
      {"missing", "torch/old.py, which is missing", missing},
      {"no record", "no RECORD", good},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    const auto spec = wheel_environment(scratch / "torch-x.whl", one.members, "2.15.0", "abc");
    Environments environments(config_in(scratch));
    const Environment made = make(environments, spec);
    const std::string& broken = made.broken;
    CHECK_FALSE(broken.empty());
    CHECK(made.status == RunStatus::unavailable);  // its commit is not to blame
    CHECK(broken.find(one.reason) != std::string::npos);
    INFO(broken);
    CHECK(entries_in(scratch / "cache/env") == 0);
    CHECK(entries_in(scratch / "cache/tmp") == 0);
  }
  CHECK_FALSE(fs::exists(scratch / "evil"));
  CHECK_FALSE(fs::exists("/tmp/nightjar-evil"));
}

TEST_CASE("A wheel of CI may have Python files of a later commit, but no other compiled ones") {
  const Scratch scratch;
  const std::string version = "2.15.0a0+git1234567";
  auto members = torch_members(version, "abc");
  members.push_back({"torch/lib/libtorch.so", "compiled", ""});
  members.push_back(record_of(members, version));
  const auto broken = [&](const char* member) {
    for (Member& one : members)
      if (one.name == member) one.text += "# laid over";
    const auto spec = wheel_environment(scratch / "torch-x.whl", members, version, "abc");
    Environments environments(config_in(scratch));
    return make(environments, spec).broken;
  };
  CHECK(broken("torch/slow.py") == "");
  CHECK(broken("torch/lib/libtorch.so") == "torch/lib/libtorch.so differs from what RECORD says");
}

TEST_CASE("What pip and uv install becomes an environment") {
  const Scratch scratch;
  const std::string info = "torch-2.15.0.dist-info";
  auto members = torch_members("2.15.0", "abc");
  SECTION("METADATA was written again after RECORD") {
    members.push_back(record_of(members, "2.15.0"));
    members[4].text += "Version: 2.15.0\n";
  }
  SECTION("a member is there twice, and the same") {
    members.push_back(record_of(members, "2.15.0"));
    members.push_back(members[2]);
  }
  SECTION("a name is not ASCII") {
    members.push_back({"torch/gr\u00f6\u00dfe.py", "SIZE = 1\n", ""});
    members.push_back(record_of(members, "2.15.0"));
  }
  SECTION("signatures of RECORD are listed") {
    Member record = record_of(members, "2.15.0");
    record.text += info + "/RECORD.jws,sha256=" + std::string(43, 'A') + ",3\n";
    members.push_back(record);
  }
  SECTION("its folder is spelled otherwise") {
    Member record = record_of(members, "2.15.0");
    for (Member* one : {&members[4], &record}) one->name.replace(0, 5, "Torch");
    members.push_back(record);
  }
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "C");  // as a service manager starts an agent
  const auto spec = wheel_environment(scratch / "torch-x.whl", members, "2.15.0", "abc");
  Environments environments(config_in(scratch));
  const Environment made = make(environments, spec);
  CHECK(made.broken == "");
  CHECK(slurp(made.site_packages / "torch/slow.py") == "FACTOR = 1\n");
  for (const Member& member : members) CHECK(fs::exists(made.site_packages / member.name));
  Environments again(config_in(scratch));  // verifies what it finds
  CHECK(make(again, spec).broken == "");
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("An overlay may put a file where a folder was, and a folder where a file was") {
  const Scratch scratch;
  auto members = torch_members("2.15.0", "abc");
  members.push_back({"torch/thing/part.py", "x = 1\n", ""});
  members.push_back(record_of(members, "2.15.0"));
  const auto wheel =
      wheel_environment(scratch / "torch-2.15.0-py3-none-any.whl", members, "2.15.0", "abc");
  Environments environments(config_in(scratch));
  const fs::path base = make(environments, wheel).site_packages;
  fs::create_directories(base / "torch/thing/__pycache__");
  std::ofstream(base / "torch/thing/__pycache__/part.python-3.pyc") << "byte code";
  const auto overlay =
      with_overlay(wheel, scratch / "overlay.tar",
                   {{"torch/thing", "a file\n", ""}, {"torch/old.py/part.py", "y = 1\n", ""}},
                   {"torch/thing/part.py", "torch/old.py"});
  const Environment made = make(environments, overlay);
  CHECK(made.broken == "");
  CHECK(slurp(made.site_packages / "torch/thing") == "a file\n");
  CHECK(slurp(made.site_packages / "torch/old.py/part.py") == "y = 1\n");
  CHECK(fs::exists(base / "torch/thing/part.py"));
}

TEST_CASE("Byte code that a wheel brings along is nowhere, be it listed or not") {
  const Scratch scratch;
  auto members = torch_members("2.15.0", "abc");
  members.push_back({"torch/__pycache__/slow.cpython-311.pyc", "another module"});
  members.push_back({"torch/__pycache__/old.x.pyc/folder", "x"});
  members.push_back(record_of(members, "2.15.0"));
  Environments environments(config_in(scratch));
  const Environment made =
      make(environments,
           wheel_environment(scratch / "torch-2.15.0-py3-none-any.whl", members, "2.15.0", "abc"));
  CHECK(made.broken == "");
  CHECK_FALSE(fs::exists(made.site_packages / "torch/__pycache__"));
}

TEST_CASE("Byte code counts as the environment's, and has limits of its own") {
  const Scratch scratch;
  auto members = torch_members("2.15.0", "abc");
  std::string folded;
  for (int i = 0; i < 1000; ++i) folded += "x='" + std::to_string(10000 + i) + "'*819\n";
  members.push_back({"torch/folded.py", folded});
  members.push_back(record_of(members, "2.15.0"));
  const auto spec =
      wheel_environment(scratch / "torch-2.15.0-py3-none-any.whl", members, "2.15.0", "abc");
  EnvironmentsConfig config = config_in(scratch, true);
  config.byte_code.bytes = 1 << 20;
  Environments few(config);
  CHECK(make(few, spec).broken == "its Python files translate to more than 1 MiB of byte code");
  CHECK(entries_in(scratch / "cache/env") == 0);
  config.byte_code = {64 << 20, .01};
  Environments hasty(config);
  CHECK(make(hasty, spec).broken == "its Python files take more than 0 s to translate");
  CHECK(entries_in(scratch / "cache/env") == 0);
  config.byte_code.seconds = 300;
  Environments enough(config);
  const fs::path made = make(enough, spec).site_packages.parent_path();
  CHECK(read_marker(made).value().bytes > 4'000'000);
}

TEST_CASE("A name that no file can have is the wheel's fault, not the machine's") {
  const Scratch scratch;
  auto members = torch_members("2.15.0", "abc");
  members.push_back({"torch/" + std::string(300, 'x') + ".py", "x"});
  members.push_back(record_of(members, "2.15.0"));
  Environments environments(config_in(scratch));
  const Environment made =
      make(environments,
           wheel_environment(scratch / "torch-2.15.0-py3-none-any.whl", members, "2.15.0", "abc"));
  CHECK(made.status == RunStatus::unavailable);
  CHECK_FALSE(made.broken.empty());
  CHECK(entries_in(scratch / "cache/env") == 0);
}

TEST_CASE("A second wheel shares the files that are the same with the first, and no other") {
  const Scratch scratch;
  Environments environments(config_in(scratch));
  const fs::path first = make(environments, good_wheel(scratch)).site_packages;
  fs::create_directories(first / "torch/__pycache__");
  std::ofstream(first / "torch/__pycache__/old.python-3.pyc") << "byte code";
  std::ofstream(first / "torch/__pycache__/slow.python-3.pyc") << "byte code of another slow.py";
  auto members = torch_members("2.16.0", "abd");
  members[2].text = "FACTOR = 2\n";  // as long as the other
  members.push_back(record_of(members, "2.16.0"));
  const auto spec =
      wheel_environment(scratch / "torch-2.16.0-py3-none-any.whl", members, "2.16.0", "abd");
  const fs::path second = make(environments, spec).site_packages;
  CHECK(fs::equivalent(first / "torch/old.py", second / "torch/old.py"));
  CHECK(slurp(second / "torch/__pycache__/old.python-3.pyc") == "byte code");
  CHECK(slurp(first / "torch/slow.py") == "FACTOR = 1\n");
  CHECK(slurp(second / "torch/slow.py") == "FACTOR = 2\n");
  CHECK_FALSE(fs::exists(second / "torch/__pycache__/slow.python-3.pyc"));
  CHECK(slurp(second / "torch/version.py").find("2.16.0") != std::string::npos);
}

TEST_CASE("A truncated wheel and a wrong hash are told apart from a missing one") {
  const Scratch scratch;
  EnvironmentSpec spec = good_wheel(scratch);
  Environments environments(config_in(scratch));
  SECTION("wrong hash") {
    spec.wheel_sha256 = digest_of("something else");
    CHECK(make(environments, spec).broken.find("has SHA-256") != std::string::npos);
  }
  SECTION("truncated") {
    fs::resize_file(scratch / spec.wheel_file, 300);
    CHECK(make(environments, spec).broken.find("has SHA-256") != std::string::npos);
  }
  SECTION("truncated when it was hashed") {
    fs::resize_file(scratch / spec.wheel_file, 300);
    spec.wheel_sha256 = digest_of_file(scratch / spec.wheel_file);
    CHECK_FALSE(make(environments, spec).broken.empty());
  }
  SECTION("of the service's own copy nothing is blamed on the build") {
    EnvironmentsConfig config = config_in(scratch, false);
    config.download.service = spec.wheel_url.substr(0, spec.wheel_url.find('/', 7));
    Environments of_service(config);
    fs::resize_file(scratch / spec.wheel_file, 300);
    CHECK_THROWS_AS(make(of_service, spec), TransientFailure);
    fs::remove(scratch / spec.wheel_file);
    CHECK_THROWS_AS(make(of_service, spec), TransientFailure);
  }
  SECTION("unreachable: nothing is blamed on the build") {
    spec.wheel_url = "http://127.0.0.1:1/torch.whl";
    CHECK_THROWS_AS(make(environments, spec), TransientFailure);
  }
}

TEST_CASE("Native workloads are compiled anew against a header that was laid over or removed") {
  const Scratch scratch;
  const std::string header = "torch/include/torch/csrc/api/include/torch/nn.h";
  auto members = torch_members("2.15.0", "abc");
  members.push_back({header, "inline int f() { return 1; }\n", ""});
  members.push_back(record_of(members, "2.15.0"));
  const EnvironmentSpec wheel =
      wheel_environment(scratch / "torch-2.15.0-py3-none-any.whl", members, "2.15.0", "abc");
  Environments environments(config_in(scratch));
  const auto libtorch_with = [&](const std::string& name, const std::vector<Member>& files,
                                 const std::vector<std::string>& removed) {
    const Environment made =
        make(environments, with_overlay(wheel, scratch / name, files, removed));
    CHECK(made.broken == "");
    return hashes_of(libtorch_of_build(made.site_packages));
  };
  const std::string base = hashes_of(libtorch_of_build(make(environments, wheel).site_packages));
  CHECK(base.find(header) != std::string::npos);
  CHECK(libtorch_with("python.tar", {{"torch/slow.py", "FACTOR = 3\n", ""}}, {}) == base);
  const auto changed =
      libtorch_with("header.tar", {{header, "inline int f() { return 2; }\n", ""}}, {});
  CHECK(changed != base);
  CHECK(changed == libtorch_with("again.tar",
                                 {{header, "inline int f() { return 2; }\n", ""},
                                  {"torch/slow.py", "FACTOR = 3\n", ""}},
                                 {}));
  CHECK(libtorch_with("removed.tar", {}, {header}).find(header) == std::string::npos);
  // The wheel's own environment is as it was.
  CHECK(hashes_of(libtorch_of_build(make(environments, wheel).site_packages)) == base);
}

TEST_CASE("A RECORD that was rewritten for an overlay reads like any other") {
  const Scratch scratch;
  const fs::path file = scratch / "torch-2.15.0.dist-info/RECORD";
  spit(file, "\"torch/a,b.py\",sha256=" + base64url(digest_of("a").str()) +
                 ",1\ntorch/old.py,,\ntorch-2.15.0.dist-info/RECORD,,\n");
  record_overlay(scratch / "", "torch", {{"torch/new.py", {digest_of("new").str(), 3}}},
                 {"torch/old.py"});
  const Record record = parse_record(slurp(file));
  CHECK(record.size() == 3);
  CHECK(record.at("torch/a,b.py").sha256 == digest_of("a").str());
  CHECK(record.at("torch/new.py").sha256 == digest_of("new").str());
  CHECK(record.at("torch/new.py").bytes == 3);
  CHECK(record.at("torch-2.15.0.dist-info/RECORD").bytes == -1);
}

TEST_CASE("An overlay changes its own environment and not the wheel's") {
  const Scratch scratch;
  const EnvironmentSpec wheel = good_wheel(scratch);
  const EnvironmentSpec overlay = with_overlay(
      wheel, scratch / "overlay.tar",
      {{"torch/slow.py", "FACTOR = 3\n", ""}, {"torch/new/x.py", "", ""}}, {"torch/old.py"});
  Environments environments(config_in(scratch));
  const Environment base = make(environments, wheel), made = make(environments, overlay);
  CHECK(made.broken == "");
  CHECK(slurp(made.site_packages / "torch/slow.py") == "FACTOR = 3\n");
  CHECK(slurp(base.site_packages / "torch/slow.py") == "FACTOR = 1\n");
  CHECK(fs::exists(made.site_packages / "torch/new/x.py"));
  CHECK_FALSE(fs::exists(base.site_packages / "torch/new"));
  CHECK_FALSE(fs::exists(made.site_packages / "torch/old.py"));
  CHECK(fs::exists(base.site_packages / "torch/old.py"));
  CHECK(fs::hard_link_count(made.site_packages / "torch/version.py") == 2);
  CHECK(fs::hard_link_count(base.site_packages / "torch/slow.py") == 1);
  CHECK(made.site_packages.string().size() == base.site_packages.string().size());
}

TEST_CASE("A damaged environment is found before it is used, and is made anew") {
  const Scratch scratch;
  const EnvironmentSpec wheel = good_wheel(scratch);
  const EnvironmentSpec overlay =
      with_overlay(wheel, scratch / "overlay.tar", {{"torch/more.py", "MORE = 3\n", ""}}, {});
  fs::path of_wheel, of_overlay;
  {
    Environments environments(config_in(scratch));
    of_wheel = make(environments, wheel).site_packages;
    of_overlay = make(environments, overlay).site_packages;
  }
  const auto damage = [](const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;  // in place: all hard links have it
  };
  SECTION("a file of the wheel, in both of them") {
    damage(of_wheel / "torch/slow.py", "FACTOR = 2\n");
    CHECK(slurp(of_overlay / "torch/slow.py") == "FACTOR = 2\n");
  }
  SECTION("a file of the overlay") {
    damage(of_overlay / "torch/more.py", "");
  }
  SECTION("a file is gone") {
    fs::remove(of_overlay / "torch/slow.py");
  }
  SECTION("RECORD is no RECORD") {
    damage(find_record(of_overlay, "torch"), "torch/slow.py");
  }
  Environments environments(config_in(scratch));
  CHECK(make(environments, overlay).broken == "");
  CHECK(slurp(of_overlay / "torch/slow.py") == "FACTOR = 1\n");
  CHECK(slurp(of_overlay / "torch/more.py") == "MORE = 3\n");
  CHECK(make(environments, wheel).broken == "");
  CHECK(slurp(of_wheel / "torch/slow.py") == "FACTOR = 1\n");
}

TEST_CASE("An overlay that only removes files may be empty") {
  const Scratch scratch;
  const auto spec =
      with_overlay(good_wheel(scratch), scratch / "overlay.tar", {}, {"torch/old.py"});
  Environments environments(config_in(scratch));
  const Environment made = make(environments, spec);
  CHECK(made.broken == "");
  CHECK_FALSE(fs::exists(made.site_packages / "torch/old.py"));
}

TEST_CASE("An overlay cannot write or remove beside its environment") {
  const Scratch scratch;
  const EnvironmentSpec wheel = good_wheel(scratch);
  Environments environments(config_in(scratch));
  spit(scratch / "cache/precious", "kept");
  const auto outside = with_overlay(wheel, scratch / "a.tar", {{"../../../precious", "x", ""}});
  const auto linked = with_overlay(wheel, scratch / "b.tar", {{"torch/l", "", "/etc"}});
  const auto removing = with_overlay(wheel, scratch / "c.tar", {}, {"../../../precious"});
  for (const auto& spec : {outside, linked, removing})
    CHECK_FALSE(make(environments, spec).broken.empty());
  CHECK(slurp(scratch / "cache/precious") == "kept");
}

TEST_CASE("Byte code of a changed file cannot outlive it") {
  const Scratch scratch;
  const EnvironmentSpec wheel = good_wheel(scratch);
  Environments environments(config_in(scratch, true));
  const Environment base = make(environments, wheel);
  REQUIRE(base.broken == "");
  CHECK(fs::exists(base.site_packages / "torch/__pycache__"));
  // Same size, and a time in the same second: Python would take the old byte code.
  const auto overlay =
      with_overlay(wheel, scratch / "overlay.tar", {{"torch/slow.py", "FACTOR = 1/0", ""}});
  CHECK(make(environments, overlay).broken.find("ZeroDivisionError") != std::string::npos);
  CHECK(make(environments, wheel).broken == "");
}

TEST_CASE("An environment that imports as something else than promised is broken") {
  const Scratch scratch;
  EnvironmentSpec spec = good_wheel(scratch);
  Environments environments(config_in(scratch, true));
  spec.git_version = "def";
  CHECK(make(environments, spec).broken == "torch says it is commit 'abc' instead of def");
  spec.git_version = "abc";
  CHECK(make(environments, spec).broken == "");
}

namespace {

// A wheel of another package, which needs the PyTorch of the runner's Python: a stand-in on
// PYTHONPATH's place, since the tests' Python has none.
EnvironmentSpec other_wheel(const Scratch& scratch, const std::string& text) {
  std::vector<Member> members = {{"tiny_ops/__init__.py", text, ""},
                                 {"tiny_ops-1.0.dist-info/METADATA",
                                  "Metadata-Version: 2.1\nName: tiny-ops\nVersion: 1.0\n", ""}};
  Member record = record_of(members, "1.0");
  record.name.replace(0, std::string("torch").size(), "tiny_ops");
  members.push_back(record);
  auto spec = wheel_environment(scratch / "tiny_ops-1.0-py3-none-any.whl", members, "1.0", "");
  spec.module = "tiny_ops";
  return spec;
}

// A Python that has a torch of its own.
fs::path python_with_torch(const Scratch& scratch) {
  spit(scratch / "base/torch/__init__.py", "SCALE = 3\n");
  spit(scratch / "python", "#!/bin/sh\nPYTHONPATH=\"$PYTHONPATH:" + (scratch / "base").string() +
                               "\" exec python3 \"$@\"\n");
  fs::permissions(scratch / "python", fs::perms::owner_all);
  return scratch / "python";
}

}  // namespace

TEST_CASE("A wheel of another package comes before the runner's own PyTorch") {
  const Scratch scratch;
  EnvironmentsConfig config = config_in(scratch, true);
  config.python = python_with_torch(scratch);
  Environments environments(config);
  EnvironmentSpec spec = other_wheel(scratch, "import torch\nSCALE = torch.SCALE\n");
  const Environment made = make(environments, spec);
  CHECK(made.broken == "");
  CHECK(fs::exists(made.site_packages / "tiny_ops/__init__.py"));
  spec.version = "1.1";
  CHECK(make(environments, spec).broken == "tiny_ops says it is version '1.0' instead of 1.1");
  spec.version = "1.0";
  const auto overlay =
      with_overlay(spec, scratch / "o.tar", {{"tiny_ops/__init__.py", "import nowhere\n", ""}});
  CHECK_THAT(make(environments, overlay).broken,
             Catch::Contains("import tiny_ops") && Catch::Contains("No module named 'nowhere'"));
}

TEST_CASE("The longest unused environment goes first, one in use never") {
  const Scratch scratch;
  EnvironmentsConfig config = config_in(scratch);
  config.limit_bytes = 1200;  // each holds about 500
  Environments environments(config);
  const auto first = good_wheel(scratch, "2.1", "a"), second = good_wheel(scratch, "2.2", "b"),
             third = good_wheel(scratch, "2.3", "c");
  const auto is_there = [&](const EnvironmentSpec& spec) {
    return read_marker(scratch / "cache/env" / spec.key()).has_value();
  };
  const auto used = [&](const EnvironmentSpec& spec, int hours_ago) {
    fs::last_write_time(scratch / "cache/env" / spec.key() / "complete",
                        fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  };
  make(environments, first);
  make(environments, second);
  used(first, 1);
  used(second, 2);
  make(environments, third);
  CHECK((is_there(third) && is_there(first)));
  CHECK_FALSE(is_there(second));
  environments.begin_session({first, second, third});
  environments.make(second, {});  // over the limit, but all in use
  CHECK((is_there(first) && is_there(second) && is_there(third)));
}

TEST_CASE("Packages that uv keeps count, and go before an environment does") {
  const Scratch scratch;
  EnvironmentsConfig config = config_in(scratch);
  config.limit_bytes = 2000;
  Environments environments(config);
  const fs::path linked = scratch / "cache/uv/archive/a/linked.so";
  spit(linked, std::string(9000, 'x'));
  fs::create_hard_link(linked, scratch / "an environment's");
  spit(scratch / "cache/uv/archive/b/small.so", std::string(100, 'x'));
  const auto spec = good_wheel(scratch);  // about 500 bytes
  make(environments, spec);
  CHECK(fs::exists(linked));  // what an environment has, too, takes no room of its own
  spit(scratch / "cache/uv/archive/b/large.so", std::string(1900, 'x'));
  make(environments, spec);
  CHECK_FALSE(fs::exists(scratch / "cache/uv"));
  CHECK(read_marker(scratch / "cache/env" / spec.key()));
  CHECK(entries_in(scratch / "cache/tmp") == 0);
  CHECK(usual_limit(scratch.path()) <= 40LL << 30);
}

TEST_CASE("A wheel that lies in a folder of others is not downloaded, unless it has other bytes") {
  const Scratch scratch;
  EnvironmentsConfig config = config_in(scratch);
  config.wheels = scratch / "wheels";
  EnvironmentSpec spec = good_wheel(scratch);
  fs::create_directory(config.wheels);
  const auto made = [&](const char* cache, bool can_download) {
    config.cache = scratch / cache;
    EnvironmentSpec asked = spec;
    if (!can_download) asked.wheel_url = "http://127.0.0.1:1/torch.whl";
    Environments environments(config);
    return make(environments, asked).broken;
  };
  fs::copy_file(scratch / spec.wheel_file, config.wheels / spec.wheel_file);
  CHECK(made("one", false) == "");
  spit(config.wheels / spec.wheel_file, "another wheel");
  CHECK_THROWS_AS(made("two", false), TransientFailure);
  CHECK(made("three", true) == "");
}

TEST_CASE("What a killed runner left is removed, what a live one works on is not") {
  const Scratch scratch;
  spit(scratch / "cache/tmp/999999999.1-0/half", "x");
  spit(scratch / "cache/env" / std::string(64, 'a') / "site-packages/half", "x");
  const TemporaryFolder live(scratch / "cache/tmp");
  Environments environments(config_in(scratch));
  CHECK_FALSE(fs::exists(scratch / "cache/tmp/999999999.1-0"));
  CHECK(fs::exists(live.path()));
  CHECK(entries_in(scratch / "cache/env") == 0);
}

TEST_CASE("Packages that cannot be installed say nothing of the build, and nothing of it stays") {
  const Scratch scratch;
  EnvironmentSpec spec = good_wheel(scratch);
  const fs::path lock = scratch / "lock";
  std::ofstream(lock) << "sympy==1.13.3 \\\n    --hash=sha256:" << std::string(64, '0') << "\n";
  spec.lock = LockSpec{FileServer::shared().url_of(lock), digest_of_file(lock)};
  EnvironmentsConfig config = config_in(scratch);
  config.uv = "no-such-uv";
  Environments environments(config);
  environments.begin_session({spec});
  CHECK_THROWS_AS(environments.make(spec, {}), TransientFailure);
  CHECK(entries_in(scratch / "cache/tmp") == 0);
  CHECK(entries_in(scratch / "cache/env") == 1);  // the wheel alone, to go on with
}
