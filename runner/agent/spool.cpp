#include "runner/agent/spool.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "storage/base/files.hpp"
#include "storage/model/json.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;

Spool::Spool(fs::path folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_ / "rejected");
}

void Spool::put(const Claim& claim, const SessionResult& result) {
  const nlohmann::json body{{"attempt", claim.attempt}, {"nonce", claim.nonce}, {"result", result}};
  const std::string name =
      std::to_string(claim.job.value) + "-" + std::to_string(claim.attempt) + ".json";
  // A process may have said anything; what is no UTF-8 in a reason becomes a replacement character.
  write_durably(folder_ / name,
                body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::vector<Spool::Entry> Spool::pending() const {
  std::vector<Entry> entries;
  for (const auto& file : fs::directory_iterator(folder_)) {
    long long job = 0;
    int attempt = 0, read = 0;
    const std::string name = file.path().filename().string();
    if (std::sscanf(name.c_str(), "%lld-%d.json%n", &job, &attempt, &read) == 2 &&
        static_cast<std::size_t>(read) == name.size())
      entries.push_back({JobId{job}, attempt, file.path()});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.job, a.attempt) < std::tuple(b.job, b.attempt);
  });
  return entries;
}

void Spool::remove(const Entry& entry) {
  fs::remove(entry.path);
}

void Spool::reject(const Entry& entry) {
  fs::rename(entry.path, folder_ / "rejected" / entry.path.filename());
}

}  // namespace nightjar::runner
