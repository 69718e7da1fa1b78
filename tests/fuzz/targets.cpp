#include "tests/fuzz/targets.hpp"

#include <algorithm>

namespace nightjar::fuzz {

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::span<const Target> all_targets() {
  static constexpr Target targets[] = {
      {"build_log", build_log},
      {"config", config},
      {"cursor", cursor},
      {"evidence_bundle", evidence_bundle},
      {"git_words", git_words},
      {"glob", glob},
      {"http_request", http_request},
      {"index_page", index_page},
      {"metadata", metadata},
      {"query_string", query_string},
      {"record", record},
      {"requirement", requirement},
      {"result_json", result_json},
      {"webhook_payload", webhook_payload},
      {"wheel", wheel},
      {"wheel_name", wheel_name},
      {"workload_protocol", workload_protocol},
      {"zip_directory", zip_directory},
  };
  return targets;
}

}  // namespace nightjar::fuzz
