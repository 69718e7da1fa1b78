// Builds from a PEP 503 index over HTTP, as https://download.pytorch.org/whl/nightly/cpu.
#pragma once

#include <string>
#include <vector>

#include "service/builds/build_source.hpp"
#include "web/client.hpp"

namespace nightjar::service {

class IndexSource final : public BuildSource {
 public:
  // `index`: URL without slash at its end; its page <index>/<package>/ is read.
  IndexSource(std::string index, WantedWheels wanted);
  std::vector<ListedWheel> list() override;
  const std::vector<std::string>& problems() const override { return problems_; }
  Sha256 fetch(const ListedWheel& wheel, const std::filesystem::path& to) override;

 private:
  std::string page_url_;
  WantedWheels wanted_;
  web::Client client_;
  std::vector<std::string> problems_;
};

}  // namespace nightjar::service
