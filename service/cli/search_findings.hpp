// From what a search measured to what its report says. Used by `bisect run`.
#pragma once

#include <functional>
#include <string>

#include "service/cli/search_loop.hpp"
#include "service/cli/search_report.hpp"

namespace nightjar::cli {

// The benchmark has an answer. `facts` are those of a commit that the report names.
SearchReport report_of(const BisectOptions& options, const SearchResult& result,
                       std::size_t benchmark,
                       const std::function<CommitFacts(const std::string&)>& facts);

}  // namespace nightjar::cli
