#include "service/builds/directory_source.hpp"

#include <algorithm>
#include <stdexcept>

#include "service/builds/index_page.hpp"
#include "storage/base/digest.hpp"

namespace nightjar::service {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view scheme = "file://";

}  // namespace

DirectorySource::DirectorySource(fs::path directory, WantedWheels wanted)
    : directory_(fs::absolute(directory).lexically_normal()), wanted_(std::move(wanted)) {}

std::vector<ListedWheel> DirectorySource::list() {
  problems_.clear();
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file()) names.push_back(at->path().filename().string());
  if (error)
    throw std::runtime_error("cannot list builds: " + directory_.string() + ": " + error.message());
  std::sort(names.begin(), names.end());
  std::vector<ListedWheel> wheels;
  for (const std::string& name : names) {
    std::string problem;
    if (auto wheel = select_wheel(name, wanted_, problem)) {
      wheel->url = std::string(scheme) + (directory_ / name).string();
      wheels.push_back(std::move(*wheel));
    }
    if (!problem.empty()) problems_.push_back(directory_.string() + ": " + problem);
  }
  return in_order(std::move(wheels));
}

Sha256 DirectorySource::fetch(const ListedWheel& wheel, const fs::path& to) {
  if (!wheel.url.starts_with(scheme))
    throw std::runtime_error("cannot copy " + wheel.url + ": it is not in " + directory_.string());
  const fs::path from = wheel.url.substr(scheme.size());
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) {
    const std::string why =
        "cannot copy " + from.string() + " to " + to.string() + ": " + error.message();
    std::error_code unknown;
    const bool is_there = fs::exists(from, unknown);
    if (!is_there && !unknown) throw WheelGone(why);
    throw std::runtime_error(why);
  }
  return digest_of_file(to);
}

}  // namespace nightjar::service
