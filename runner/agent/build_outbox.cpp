#include "runner/agent/build_outbox.hpp"

#include <algorithm>
#include <fcntl.h>
#include <system_error>
#include <tuple>
#include <unistd.h>

#include "storage/base/fd.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr std::size_t part_bytes = 8 << 20;
constexpr std::size_t log_end = 8 << 20;  // of a longer log only the end is sent

// `bytes` of the file from `offset`, or fewer at its end; empty if it cannot be read.
std::string part_of(const fs::path& file, std::uint64_t offset, std::size_t bytes) {
  const Fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string part(bytes, '\0');
  std::size_t got = 0;
  while (in && got < bytes) {
    const auto more =
        ::pread(in.get(), part.data() + got, bytes - got, static_cast<off_t>(offset + got));
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  part.resize(got);
  return part;
}

std::string end_of(const fs::path& log) {
  std::error_code error;
  const auto size = fs::file_size(log, error);
  if (error) return "the builder has no log any more\n";
  return part_of(log, size - std::min<std::uint64_t>(size, log_end), log_end);
}

}  // namespace

struct BuildOutbox::Entry {
  JobId job;
  int attempt = 0;
  std::string nonce;
  SourceResult result;
  fs::path wheel, log, file;
};

BuildOutbox::BuildOutbox(fs::path folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_);
}

void BuildOutbox::put(const Claim& claim, const MadeWheel& made) {
  const nlohmann::json body{{"job", claim.job.value},       {"attempt", claim.attempt},
                            {"nonce", claim.nonce},         {"result", made.result},
                            {"wheel", made.wheel.string()}, {"log", made.log.string()}};
  const std::string name =
      std::to_string(claim.job.value) + "-" + std::to_string(claim.attempt) + ".json";
  write_durably(folder_ / name,
                body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::vector<BuildOutbox::Entry> BuildOutbox::pending() const {
  std::vector<Entry> entries;
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path().extension() != ".json") continue;
    const auto json = parse_foreign(read_file(file.path()).value_or(""));
    try {
      entries.push_back({JobId{field<std::int64_t>(json, "job")}, field<int>(json, "attempt"),
                         json.value("nonce", ""), json.at("result").get<SourceResult>(),
                         text_in(json, "wheel"), text_in(json, "log"), file.path()});
    } catch (const nlohmann::json::exception& error) {
      log::error("cannot read what came of a build file={} cause=\"{}\"", file.path().string(),
                 error.what());
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.job, a.attempt) < std::tuple(b.job, b.attempt);
  });
  return entries;
}

// The service says where to go on, so an interrupted transfer does not start over.
Answer BuildOutbox::send_wheel(Coordinator& coordinator, const Entry& entry, std::stop_token stop) {
  std::error_code error;
  const auto size = fs::file_size(entry.wheel, error);
  if (error) return Answer::refused;
  WheelTransfer transfer{entry.job, entry.attempt, entry.nonce, *entry.result.sha256, size,
                         0,         false};
  Answer answer = coordinator.send_part(transfer, "");
  while (answer == Answer::done && !transfer.complete && !stop.stop_requested()) {
    const std::string part = part_of(entry.wheel, transfer.received, part_bytes);
    if (part.empty()) return Answer::refused;  // shorter than it was
    answer = coordinator.send_part(transfer, part);
  }
  return answer == Answer::done && !transfer.complete ? Answer::away : answer;
}

Answer BuildOutbox::send_one(Coordinator& coordinator, const Entry& entry, std::stop_token stop) {
  const Answer log = coordinator.send_log(entry.job, entry.attempt, entry.nonce, end_of(entry.log));
  if (log != Answer::done) return log;
  if (entry.result.outcome == SourceOutcome::built) {
    const Answer wheel = send_wheel(coordinator, entry, stop);
    if (wheel != Answer::done) return wheel;
  }
  return coordinator.send_outcome(
      entry.job,
      nlohmann::json{{"attempt", entry.attempt}, {"nonce", entry.nonce}, {"result", entry.result}}
          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

bool BuildOutbox::send(Coordinator& coordinator, std::stop_token stop) {
  for (const Entry& entry : pending()) {
    const Answer answer = send_one(coordinator, entry, stop);
    if (answer == Answer::away) return false;
    if (answer == Answer::refused && coordinator.may_be_lifted()) return false;
    std::error_code error;
    if (answer == Answer::done) {
      if (!entry.wheel.empty()) fs::remove_all(entry.wheel.parent_path(), error);
      log::info("build accepted job={} attempt={} outcome={}", entry.job.value, entry.attempt,
                name_of(entry.result.outcome));
    } else {
      const std::string cause = coordinator.error();
      log::warn("build refused job={} attempt={} cause=\"{}\"", entry.job.value, entry.attempt,
                cause);
      Claim claim;
      claim.job = entry.job;
      claim.attempt = entry.attempt;
      claim.nonce = entry.nonce;
      coordinator.fail(claim, "what came of the build was refused: " + cause,
                       Coordinator::Failure::final);
    }
    fs::remove(entry.file, error);
  }
  return true;
}

}  // namespace nightjar::runner
