#include "service/config_check.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdlib.h>
#include <unistd.h>

#include "bisect/git/repository.hpp"
#include "service/builds/build_source.hpp"
#include "service/report/chat.hpp"
#include "service/report/exporter.hpp"
#include "web/client.hpp"

namespace nightjar::service {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{60};  // with the repository's remote

// Removed with all that is in it.
class PassingFolder {
 public:
  PassingFolder() {
    std::string made = (fs::temp_directory_path() / "nightjar-check-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr)
      throw std::runtime_error("cannot make a folder in " + fs::temp_directory_path().string());
    path_ = made;
  }
  ~PassingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class PlaceCheck {
 public:
  explicit PlaceCheck(const Config& config) : config_(config) {}

  std::vector<std::string> check() {
    check_folder("[service] data", config_.service.data);
    if (!config_.report.directory.empty())
      check_folder("[report] directory", config_.report.directory);
    check_repository();
    std::vector<const Config::Source*> sound;
    for (const Config::Source* source : sources_of(config_))
      if (check_source(*source)) sound.push_back(source);
    for (const std::string& index : config_.environment.indexes)
      check_answers("[environment] indexes", index);
    if (config_.chat.is_on()) check_answers("[chat] url_file", chat_host(config_.chat));
    if (config_.exported.is_on()) check_answers("[export]", export_host(config_.exported));
    for (const Config::Source* source : sound) check_packages(*source);
    return std::move(found_);
  }

 private:
  void say(const std::string& key, const std::string& what) { found_.push_back(key + ": " + what); }

  // Whether it can be made and written to, by the nearest folder that is there.
  void check_folder(const char* key, const fs::path& folder) {
    std::error_code ignored;
    fs::path there = fs::absolute(folder);
    while (!fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
    if (!fs::is_directory(there, ignored))
      say(key, folder.string() + " cannot be made, since " + there.string() + " is no folder");
    else if (::access(there.c_str(), W_OK | X_OK) != 0)
      say(key, folder.string() + " cannot be used: this user may not write to " + there.string());
  }

  // The branch with nightlies' commits is PyTorch's; others need it not.
  void check_repository() {
    try {
      const PassingFolder folder;
      git::Repository repository({.url = config_.repository.url,
                                  .path = folder.path() / "repository.git",
                                  .branches = {config_.repository.main},
                                  .limits = {patience, patience},
                                  .login = git_login(config_.repository),
                                  .progress = {}});
      for (const std::string& branch : repository.missing_branches())
        say("[repository] main", "the repository has no branch " + branch);
    } catch (const std::exception& error) {
      say("[repository] url", error.what());
    }
  }

  // True if it lists wheels.
  bool check_source(const Config::Source& source) {
    const char* key = source.index.empty() ? "[source] directory" : "[source] index";
    try {
      if (!make_source(source, config_.project.package)->list().empty()) return true;
      say(key, nothing_listed(source, config_.project));
    } catch (const std::exception& error) {
      say(key, error.what());
    }
    return false;
  }

  // That any answer comes shows that name, port and certificate are right.
  void check_answers(const std::string& key, const std::string& url) {
    web::Client client;
    web::ClientRequest request;
    request.url = url + "/";
    const auto result = client.send(request);
    if (!result) say(key, url + " does not answer: " + result.failure.what);
  }

  // PyTorch's wheels for GPUs require packages that only the index of their variant has.
  void check_packages(const Config::Source& source) {
    const auto& indexes = config_.environment.indexes;
    if (!config_.project.is_pytorch() || source.variant == "cpu") return;
    if (indexes.empty()) {
      say("[environment] indexes",
          "there is none, so builds of variant " + source.variant +
              " find no package that they require (nvidia-*, triton) but those of the runner's "
              "own Python; name the index of " +
              source.variant);
      return;
    }
    const auto has_variant = [&](const std::string& index) {
      Config::Source at = source;
      at.index = index;
      at.directory.clear();
      try {
        return !make_source(at, config_.project.package)->list().empty();
      } catch (const std::exception&) {
        return false;  // that one does not answer has been said
      }
    };
    if (std::none_of(indexes.begin(), indexes.end(), has_variant))
      say("[environment] indexes", "none of them has wheels of variant " + source.variant +
                                       ", so what those require cannot be resolved; name the "
                                       "index of " +
                                       source.variant + ", too");
  }

  const Config& config_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> check_surroundings(const Config& config) {
  return PlaceCheck(config).check();
}

}  // namespace nightjar::service
