#include "runner/agent/own_token.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <stdexcept>

#include "runner/process/wait.hpp"
#include "storage/base/files.hpp"
#include "web/access.hpp"
#include "web/secret.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

constexpr std::chrono::milliseconds first_pause{500}, longest_pause{30000};

}  // namespace

OwnToken::OwnToken(fs::path file, std::string service)
    : file_(std::move(file)), service_(std::move(service)) {}

bool OwnToken::is_kept() const {
  std::error_code error;
  return fs::exists(file_, error);
}

std::string OwnToken::read() const {
  return web::token_in(file_);
}

Time OwnToken::made_at() const {
  return std::chrono::time_point_cast<Time::duration>(
      std::chrono::file_clock::to_sys(fs::last_write_time(file_)));
}

fs::path OwnToken::next_file() const {
  return file_.string() + ".next";
}

// The service may have stored the hash of the one that waits already.
std::string OwnToken::next() {
  std::error_code error;
  if (fs::exists(next_file(), error)) return web::token_in(next_file());
  if (file_.has_parent_path()) fs::create_directories(file_.parent_path());
  std::string token = web::random_token();
  write_durably(next_file(), token + "\n", 0600);
  return token;
}

void OwnToken::keep_next() {
  move_durably(next_file(), file_);
}

OwnToken::Outcome OwnToken::post(const std::string& path, const std::string& body,
                                 const std::string& bearer) {
  web::ClientRequest request;
  request.method = "POST";
  request.url = service_ + path;
  request.headers = {{"Content-Type", "application/json"}};
  if (!bearer.empty()) request.headers.emplace_back("Authorization", "Bearer " + bearer);
  request.body = body;
  const auto result = client_.send(request);
  if (!result) {
    error_ = result.failure.what;
    return Outcome::away;
  }
  const unsigned status = result.response->status;
  if (status == 200) return Outcome::done;
  error_ = "POST " + request.url + " was answered with " + std::to_string(status) + ": " +
           web::problem_detail(result.response->body);
  return status >= 500 || status == 408 || status == 429 ? Outcome::away : Outcome::refused;
}

bool OwnToken::enrol(const std::string& one_time_token, const std::string& name,
                     std::stop_token stop) {
  const Json body{
      {"enrolment", one_time_token}, {"name", name}, {"sha256", web::sha256(next()).str()}};
  for (auto pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    switch (post("/api/v1/agent/enrol", body.dump(), "")) {
      case Outcome::done:
        keep_next();
        spdlog::info("enrolled name={} service={} token_file={}", name, service_, file_.string());
        return true;
      case Outcome::refused:
        throw std::runtime_error("cannot enrol at " + service_ + ": " + error_);
      case Outcome::away:
        spdlog::warn("service away attempted=\"enrolling\" cause=\"{}\"", error_);
        if (!wait_for(pause, stop)) return false;
    }
  }
}

bool OwnToken::rotate() {
  const Json body{{"sha256", web::sha256(next()).str()}};
  const Outcome outcome = post("/api/v1/agent/rotate", body.dump(), read());
  if (outcome == Outcome::done) keep_next();
  if (outcome == Outcome::refused) fs::remove(next_file());  // the next attempt draws another one
  return outcome == Outcome::done;
}

}  // namespace nightjar::runner
