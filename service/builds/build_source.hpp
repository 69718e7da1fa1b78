// Where builds come from. Port with two implementations: a PEP 503 index over HTTP, and a directory
// of wheels.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "service/config.hpp"
#include "storage/model/hex.hpp"

namespace nightjar::service {

// Which wheels a source is asked for.
struct WantedWheels {
  std::string variant;     // "cpu"
  std::string python_tag;  // "cp311"
  std::string package = "torch";
};

// A wheel as its source lists it; nothing about it is proved.
struct ListedWheel {
  std::string file_name;         // "torch-2.15.0.dev20260820+cpu-cp311-cp311-linux_x86_64.whl"
  std::string url;               // absolute
  std::string version;           // "2.15.0.dev20260820+cpu"
  std::string variant;           // "cpu"
  std::string date;              // "2026-08-20"
  std::optional<Sha256> sha256;  // nightly anchors carry none
};

// The place that a wheel was listed at says that it is not there.
class WheelGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class BuildSource {
 public:
  virtual ~BuildSource() = default;
  // The wheels of this package, variant and Python tag, oldest first; of two base versions on one
  // date the higher one. Throws std::runtime_error with the URL if the source cannot be read at
  // all; a broken entry is left out and named in problems().
  virtual std::vector<ListedWheel> list() = 0;
  virtual const std::vector<std::string>& problems() const = 0;
  // Brings a wheel to `to`; returns its SHA-256. Throws WheelGone, or another std::runtime_error if
  // it may come later.
  virtual Sha256 fetch(const ListedWheel& wheel, const std::filesystem::path& to) = 0;
};

// The source that the configuration names, of the wheels of this package. What it waits for fails
// soon after `stop` is requested.
std::unique_ptr<BuildSource> make_source(const Config::Source& config, const std::string& package,
                                         std::stop_token stop = {});

// "[source] index, variant and python_tag": what decides which wheels a source lists.
std::string keys_to_check(const Config::Source& source, const Project& project);
// What an operator is told where a source lists nothing.
std::string nothing_listed(const Config::Source& source, const Project& project);

}  // namespace nightjar::service
