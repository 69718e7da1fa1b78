// Reads how a wheel was made from the wheel itself. Nothing of it is run. Used by the daemon's
// discovery thread, for every proved wheel once.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bisect/git/commit_graph.hpp"
#include "service/project.hpp"
#include "storage/model/build.hpp"
#include "storage/model/provenance.hpp"

namespace nightjar::service {

// What a member of a wheel is; nullopt: a file of the commit's tree, a header, or a description of
// the wheel. `installed`: where the files of the tree lie below site-packages.
std::optional<WheelFileKind> kind_of_member(std::string_view name,
                                            const std::set<std::string, std::less<>>& installed);

// Reads the directory, RECORD, WHEEL, and the three largest own libraries of up to 600 MB: a
// PyTorch wheel takes some seconds. `wheel` is a proved build, `file` lies where its content is.
// Never throws for what the wheel or the repository is like: that is its `trouble`.
Provenance read_provenance(const Build& wheel, const std::filesystem::path& file,
                           const git::CommitGraph& graph, const Project& project);

}  // namespace nightjar::service
