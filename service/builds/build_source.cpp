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

std::string keys_to_check(const Config::Source& source, const Project& project) {
  return std::string(source.index.empty() ? "[source] directory" : "[source] index") +
         ", variant and python_tag" + (project.is_pytorch() ? "" : ", and [project] package");
}

std::string nothing_listed(const Config::Source& source, const Project& project) {
  const std::string where = source.index.empty() ? source.directory.string() : source.index.text();
  return where + " lists no wheel of " + project.package + " of variant " + source.variant +
         " for " + source.python_tag + "; check " + keys_to_check(source, project);
}

}  // namespace nightjar::service
