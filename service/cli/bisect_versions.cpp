#include "service/cli/bisect_versions.hpp"

#include <cstdlib>

#include "service/cli/search_session.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

// An environment for each version that is asked for, removed at the end.
class VersionEnvironments : public Bench {
 public:
  VersionEnvironments(const Uv& uv, const BisectOptions& options, std::stop_token stop)
      : uv_(uv), options_(options), stop_(std::move(stop)), folder_("environments") {}

  void prepare(const std::vector<std::string>& versions) override {
    for (const std::string& version : versions)
      if (!made_.contains(version))
        made_[version] = uv_.install(options_.package, version, folder_ / version);
  }

  Measurement measure(const std::string& version) override {
    prepare({version});
    if (!problem(version).empty()) return {{}, problem(version)};
    return measure_once(options_, work_of(version),
                        "it runs in this folder, with the version's environment first in PATH",
                        stop_);
  }

 private:
  // As if the environment were activated, in the folder that nightjar was started in.
  WorkPlace work_of(const std::string& version) const {
    const fs::path environment = folder_ / version;
    const char* path = std::getenv("PATH");
    return {fs::current_path(),
            {{"NIGHTJAR_VERSION", version},
             {"VIRTUAL_ENV", environment.string()},
             {"PATH", (environment / "bin").string() + ":" + (path ? path : "/usr/bin:/bin")}}};
  }

  const Uv& uv_;
  const BisectOptions& options_;
  std::stop_token stop_;
  const TemporaryFolder folder_;
};

}  // namespace

int bisect_versions(const BisectOptions& options, const UvOptions& uv_options,
                    std::stop_token stop) {
  check_options(options);
  const Uv uv(uv_options, stop);
  const std::string good = uv.exact_version(options.package, options.good, "good end");
  const std::string bad = uv.exact_version(options.package, options.bad, "bad end");
  const auto versions = uv.versions(options.package, good, bad);
  SearchName name;
  name.good = good;
  name.bad = bad;
  name.measure = options.measure;
  name.direction = direction_word(options);
  name.find = options.find;
  name.threshold = options.threshold;
  name.value = options.source.value;
  name.measure_format = options.source.format;
  name.only = options.only;
  name.metric = metric_word(options);
  name.package = options.package;
  name.python = uv_options.python;
  KeptSearch kept(options.state, name, {});
  VersionEnvironments environments(uv, options, stop);
  SearchSession session(
      options, environments, kept,
      [&](const std::string& version) {
        return CommitFacts{options.package + " " + version, "", ""};
      },
      stop);
  say(stderr, "searching %zu versions\n", versions.size() - 1);
  return session.run(versions, nullptr);
}

}  // namespace nightjar::cli
