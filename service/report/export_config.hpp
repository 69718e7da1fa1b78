// Where verdicts are exported to. Part of the service's configuration.
#pragma once

#include <filesystem>
#include <string>

#include "storage/model/address.hpp"

namespace nightjar::service {

// A bucket or a webhook, not both.
struct ExportConfig {                 // [export]
  Address bucket;                     // of S3, with a folder of it if need be; empty: no bucket
  std::string region = "us-east-1";   // of the bucket
  std::filesystem::path login_file;   // its first line is KEY:SECRET, or KEY:SECRET:SESSION
  std::filesystem::path url_file;     // its first line is the webhook's address; empty: no webhook
  std::filesystem::path secret_file;  // what is posted there is signed with it
  std::string repository;             // "pytorch/pytorch"; default: repository.url's
  std::string branch = "main";        // of the verdicts' commits: repository.main
  bool is_on() const { return !bucket.empty() || !url_file.empty(); }
};

}  // namespace nightjar::service
