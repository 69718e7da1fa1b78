// Wheels and overlays fetched from an index or from the service, checked against their hash.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "storage/model/hex.hpp"
#include "web/client.hpp"

namespace nightjar::runner {

struct DownloadConfig {
  std::string service;  // "http://host:port": where relative addresses lead
  std::string token;    // sent to the service only
  int attempts = 4;
  std::chrono::milliseconds pause{1000};  // before the second attempt; doubles
};

class Downloader {
 public:
  explicit Downloader(DownloadConfig config) : config_(std::move(config)) {}
  // Throws BrokenArchive if the archive has another hash or is gone for good, TransientFailure if
  // nothing came after all attempts or the service's own copy is damaged or gone, and Stopped.
  void fetch(const std::string& url, const Sha256& sha256, const std::filesystem::path& to,
             std::stop_token stop);

 private:
  bool is_gone(const std::string& url);
  DownloadConfig config_;
  web::Client client_;
};

}  // namespace nightjar::runner
