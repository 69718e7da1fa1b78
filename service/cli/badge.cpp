#include "service/cli/badge.hpp"

#include "service/cli/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {

Badge badge_of(const BadgeCounts& counts) {
  const auto of_all = [&](int some, const std::string& word) {
    return std::to_string(some) + " of " + std::to_string(counts.all) + " " + word;
  };
  std::string bad = counts.worse > 0 ? of_all(counts.worse, "worse") : "";
  if (counts.failed > 0)
    bad += (bad.empty() ? "" : ", ") + std::to_string(counts.failed) + " failed";
  if (!bad.empty()) return {bad, "red"};
  if (counts.better > 0) return {of_all(counts.better, "better"), "brightgreen"};
  if (counts.same == 0) return {"not known", "lightgrey"};
  return {counts.same == counts.all ? "unchanged" : of_all(counts.same, "unchanged"), "green"};
}

void require_place_for_badge(const std::filesystem::path& file) {
  const std::string problem = file.empty() ? "" : output_problem(file);
  if (!problem.empty()) throw BadInput("cannot write the badge with --badge: " + problem);
}

void write_badge(const std::filesystem::path& file, const Badge& badge) {
  if (file.empty()) return;
  const nlohmann::json out{{"schemaVersion", 1},
                           {"label", "performance"},
                           {"message", badge.message},
                           {"color", badge.color}};
  write_output(file, out.dump() + "\n");
}

}  // namespace nightjar::cli
