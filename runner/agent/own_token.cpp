#include "runner/agent/own_token.hpp"

#include <algorithm>
#include <stdexcept>

#include "runner/agent/coordinator.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"
#include "web/secret.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
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

bool OwnToken::enrol(const std::string& one_time_token, const std::string& name,
                     std::stop_token stop) {
  Coordinator coordinator(service_, "");
  const Sha256 own = web::sha256(next());
  for (auto pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    const Answer answer = coordinator.use_enrolment(one_time_token, name, own);
    if (answer == Answer::done) break;
    if (answer != Answer::away)
      throw std::runtime_error("cannot enrol at " + service_ + ": " + coordinator.error());
    log::warn("service away attempted=\"enrolling\" cause=\"{}\"", coordinator.error());
    if (!wait_for(pause, stop)) return false;
  }
  keep_next();
  log::info("enrolled name={} service={} token_file={}", name, service_, file_.string());
  return true;
}

bool OwnToken::rotate() {
  Coordinator coordinator(service_, read());
  const Answer answer = coordinator.replace_token(web::sha256(next()));
  error_ = coordinator.error();
  if (answer == Answer::done) keep_next();
  if (answer == Answer::refused) fs::remove(next_file());  // the next attempt draws another one
  return answer == Answer::done;
}

}  // namespace nightjar::runner
