#include "service/builds/build_source.hpp"

#include "service/builds/directory_source.hpp"
#include "service/builds/index_source.hpp"

namespace nightjar::service {

std::unique_ptr<BuildSource> make_source(const Config::Source& config) {
  if (config.directory.empty())
    return std::make_unique<IndexSource>(config.index, config.variant, config.python_tag);
  return std::make_unique<DirectorySource>(config.directory, config.variant, config.python_tag);
}

}  // namespace nightjar::service
