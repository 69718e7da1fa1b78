#include "runner/build/download.hpp"

#include "runner/build/unpack.hpp"
#include "runner/process/failure.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/log.hpp"

namespace nightjar::runner {
namespace {

bool is_of_service(const std::string& url, const DownloadConfig& config) {
  return !config.service.empty() && url.starts_with(config.service + "/");
}

std::vector<std::pair<std::string, std::string>> headers_for(const std::string& url,
                                                             const DownloadConfig& config) {
  if (!is_of_service(url, config)) return {};
  return {{"Authorization", "Bearer " + config.token}};
}

// The service held the right bytes once, so damage to its copy is not the build's fault.
[[noreturn]] void refuse(const std::string& url, const DownloadConfig& config,
                         const std::string& what) {
  if (is_of_service(url, config)) throw TransientFailure(what);
  throw BrokenArchive(what);
}

}  // namespace

// The client's failures carry no status, so one byte is asked for to learn it.
bool Downloader::is_gone(const std::string& url) {
  web::ClientRequest request;
  request.url = url;
  request.headers = headers_for(url, config_);
  request.headers.emplace_back("Range", "bytes=0-0");
  request.response_limit = 1 << 16;
  const auto answer = client_.send(request);
  return answer && (answer.response->status == 404 || answer.response->status == 410);
}

void Downloader::fetch(const std::string& address, const Sha256& sha256,
                       const std::filesystem::path& to, std::stop_token stop) {
  const bool absolute = address.find("://") != std::string::npos;
  const std::string url = absolute ? address : config_.service + address;
  const auto headers = headers_for(url, config_);
  const auto go_on = [&](std::uint64_t, std::uint64_t) { return !stop.stop_requested(); };
  auto pause = config_.pause;
  std::string last;
  bool differed = false;
  for (int attempt = 1; attempt <= config_.attempts; ++attempt) {
    if (stop.stop_requested()) throw Stopped();
    try {
      const Sha256 got = client_.download(url, headers, to, go_on);
      if (got == sha256) return;
      last = url + " has SHA-256 " + got.str() + " instead of " + sha256.str();
      if (differed) break;  // the same twice: no torn transfer
      differed = true;
    } catch (const std::exception& error) {
      if (stop.stop_requested()) throw Stopped();
      last = error.what();
      if (is_gone(url)) refuse(url, config_, url + " is gone (404)");
    }
    log::warn("download failed attempt={} of={} cause=\"{}\"", attempt, config_.attempts, last);
    if (attempt < config_.attempts && !wait_for(pause, stop)) throw Stopped();
    pause *= 2;
  }
  if (differed) refuse(url, config_, last);
  throw TransientFailure(last);
}

}  // namespace nightjar::runner
