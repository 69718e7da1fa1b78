// Builds from a directory of wheels: a mirror, or what a person put there.
#pragma once

#include <string>
#include <vector>

#include "service/builds/build_source.hpp"

namespace nightjar::service {

class DirectorySource final : public BuildSource {
 public:
  DirectorySource(std::filesystem::path directory, WantedWheels wanted);
  // A file that is still being written is not a whole zip yet; names that start with '.' are left
  // alone, so write to such a name and rename.
  std::vector<ListedWheel> list() override;
  const std::vector<std::string>& problems() const override { return problems_; }
  Sha256 fetch(const ListedWheel& wheel, const std::filesystem::path& to) override;

 private:
  std::filesystem::path directory_;
  WantedWheels wanted_;
  std::vector<std::string> problems_;
};

}  // namespace nightjar::service
