// The double of CI's bucket and of GitHub's workflow runs (server.py), started on first use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/files.hpp"
#include "storage/model/hex.hpp"
#include "tests/support/python_double.hpp"
#include "web/client.hpp"

namespace nightjar::tests {

class CiDouble : public PythonDouble {
 public:
  static constexpr const char* repository = "pytorch/pytorch";
  static constexpr const char* environment = "linux-jammy-py3.11-gcc11";

  // The one of this program, with nothing in it. Its pages have two entries, so that there are
  // always several.
  static CiDouble& fresh() {
    static const TemporaryFolder folder(std::filesystem::temp_directory_path() / "nightjar-ci");
    static CiDouble one(folder.path());
    one.control("reset", nlohmann::json::object());
    return one;
  }

  std::string api() const { return url() + "/api"; }
  std::string bucket() const { return url() + "/bucket"; }

  void run(std::int64_t id, const CommitSha& head, nlohmann::json more = nlohmann::json::object()) {
    more["id"] = id;
    more["head_sha"] = head.str();
    control("runs", {{"items", nlohmann::json::array({more})}});
  }
  static std::string key(std::int64_t run, const std::string& of = environment) {
    return std::string(repository) + "/" + std::to_string(run) + "/" + of + "/artifacts.zip";
  }
  void archive(const std::string& key, const std::vector<nlohmann::json>& members,
               const char* flaw = nullptr) {
    nlohmann::json item{{"key", key}, {"members", members}};
    if (flaw) item["flaw"] = flaw;
    control("archives", {{"items", nlohmann::json::array({item})}});
  }
  // As CI's wheel of `head`, compiled from `compiled` if that is another commit.
  static nlohmann::json wheel(const CommitSha& head,
                              nlohmann::json more = nlohmann::json::object()) {
    nlohmann::json recipe{{"version", "2.15.0a0+git" + head.str().substr(0, 7)},
                          {"git_version", head.str()}};
    recipe.update(more);
    return {{"wheel", recipe}};
  }
  std::uint64_t sent() { return state()["sent"]; }
  nlohmann::json violations() { return state()["violations"]; }

 private:
  explicit CiDouble(const std::filesystem::path& folder)
      : PythonDouble("ci/server.py", {"--repository", repository, "--folder", folder.string(),
                                      "--page-size", "2"}) {}
};

}  // namespace nightjar::tests
