// Builds from a PEP 503 index over HTTP, as https://download.pytorch.org/whl/nightly/cpu.
#pragma once

#include <string>
#include <vector>

#include "service/builds/build_source.hpp"
#include "storage/model/address.hpp"
#include "web/client.hpp"

namespace nightjar::service {

class IndexSource final : public BuildSource {
 public:
  // The page <index>/<package>/ is read. `internal`: origins on internal addresses that its links
  // may lead to, besides its own.
  IndexSource(const Address& index, std::vector<std::string> internal, WantedWheels wanted,
              std::stop_token stop = {});
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
