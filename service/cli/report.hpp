// `nightjar report`: what a service found, as Markdown or as a web page to save or to send.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nightjar::cli {

struct ReportOptions {
  std::string from;                  // the service's address
  std::filesystem::path token_file;  // empty: reads need no token there
  std::string as = "markdown";       // or "html"
  // For a digest.
  int days = 7;
  std::string until;  // RFC 3339; empty: now
  // For a difference: ids of builds.
  std::int64_t reference = 0, build = 0;
  int least = 3;  // percent
};

// Print the text and return 0. Throw BadInput if the service refuses it, Broken if it is away.
int report_digest(const ReportOptions& options);
int report_difference(const ReportOptions& options);

}  // namespace nightjar::cli
