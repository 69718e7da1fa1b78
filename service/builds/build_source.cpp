#include "service/builds/build_source.hpp"

#include "service/builds/directory_source.hpp"
#include "service/builds/index_source.hpp"

namespace nightjar::service {

std::unique_ptr<BuildSource> make_source(const Config::Source& config, const std::string& package,
                                         std::stop_token stop) {
  const WantedWheels wanted{config.variant, config.python_tag, package};
  if (config.directory.empty())
    return std::make_unique<IndexSource>(config.index, config.internal, wanted, std::move(stop));
  return std::make_unique<DirectorySource>(config.directory, wanted);
}

}  // namespace nightjar::service
