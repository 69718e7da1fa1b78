#include "service/cli/carried_config.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::cli;
using namespace std::string_literals;

namespace {
std::vector<std::string> keys_carried(const std::vector<std::string>& keys) {
  std::vector<ConfigEntry> here;
  for (const auto& key : keys) here.push_back({key, "true"});
  std::vector<std::string> out;
  for (const auto& entry : carried(here, {}, "/r")) out.push_back(entry.key);
  return out;
}
}  // namespace

TEST_CASE("Work trees get what checks files out and brings objects") {
  const std::vector<std::string> keys{"filter.a.b.smudge",
                                      "core.autocrlf",
                                      "core.sparsecheckout",
                                      "remote.origin.promisor",
                                      "remote.a.b.partialclonefilter",
                                      "http.https://h.example/.extraheader",
                                      "url.ssh://git@h.example/.insteadof",
                                      "submodule.third_party/x.url",
                                      "extensions.objectformat",
                                      "lfs.url",
                                      "transcrypt.cipher"};
  CHECK(keys_carried(keys) == keys);
}

TEST_CASE("Work trees get nothing that starts a program which a checkout does not need") {
  CHECK(keys_carried({"gpg.program",
                      "gpg.ssh.program",
                      "log.showsignature",
                      "core.fsmonitor",
                      "core.pager",
                      "pager.log",
                      "alias.x",
                      "core.hookspath",
                      "core.editor",
                      "diff.external",
                      "diff.x.textconv",
                      "merge.x.driver",
                      "remote.origin.vcs",
                      "remote.origin.uploadpack",
                      "submodule.x.update",
                      "core.worktree",
                      "core.alternaterefscommand",
                      "protocol.ext.allow",
                      "include.path",
                      "core.bare",
                      "lfs.storage",
                      "init.templatedir",
                      "core.askpass"})
            .empty());
  const std::vector<ConfigEntry> none{{"submodule.x.update", "none"}};
  CHECK(carried(none, {}, "/r") == none);
}

TEST_CASE("What work trees see by themselves is not carried twice, and the last value stays last") {
  const std::vector<ConfigEntry> here{{"core.autocrlf", "true"},
                                      {"core.autocrlf", "input"},
                                      {"core.autocrlf", "true"},
                                      {"http.extraheader", "once"}};
  const std::vector<ConfigEntry> left{{"core.autocrlf", "input"}, {"core.autocrlf", "true"}};
  CHECK(carried(here, {{"core.autocrlf", "true"}, {"http.extraheader", "once"}}, "/r") == left);
}

TEST_CASE("Relative addresses of remotes start where the repository is") {
  const auto url = [](const std::string& address) {
    return *carried({{"remote.up.url", address}}, {}, "/home/r").at(0).value;
  };
  CHECK(url("../other") == "/home/other");
  CHECK(url("other") == "/home/r/other");
  CHECK(url("/other") == "/other");
  CHECK(url("host:other") == "host:other");
  CHECK(url("https://h.example/other") == "https://h.example/other");
}

TEST_CASE("Configuration is read and written with odd names, values and bare names") {
  const auto entries = parse_config("filter.a.\"b\\.smudge\nx \"y\"\\z\nw\0core.symlinks\0odd\0"s);
  const std::vector<ConfigEntry> read{{"filter.a.\"b\\.smudge", "x \"y\"\\z\nw"},
                                      {"core.symlinks", std::nullopt}};
  CHECK(entries == read);
  CHECK(config_text(entries) ==
        "[filter \"a.\\\"b\\\\\"]\n\tsmudge = \"x \\\"y\\\"\\\\z\\nw\"\n[core]\n\tsymlinks\n");
}
