#include "service/api/registrations.hpp"

#include <algorithm>
#include <set>

#include "service/api/respond.hpp"
#include "storage/runners.hpp"

namespace nightjar::service::api {
namespace {

constexpr auto counted_time = std::chrono::hours(24);

// Equal sets that one query has read are the same object.
struct ByContent {
  using List = const std::vector<std::string>*;
  bool operator()(List a, List b) const { return a != b && *a < *b; }
};

template <class Runners>
std::size_t announced_by(const Runners& runners) {
  std::set<ByContent::List, ByContent> different;
  std::size_t workloads = 0;
  for (const auto& [name, one] : runners)
    if (different.insert(&one.workloads.texts()).second) workloads += one.workloads.size();
  return workloads;
}

}  // namespace

bool Registrations::add(const storage::Database& db, const Runner& asked) {
  OfToken all = tokens_[asked.token];
  refresh(db, all, asked);
  const bool is_new =
      all[asked.machine]
          .runners.insert_or_assign(asked.name, Announced{asked.workloads, asked.seen_at})
          .second;
  for (auto& [machine, one] : all)
    one.workloads = std::max(one.workloads, announced_by(one.runners));
  require_few(all, asked);
  tokens_[asked.token] = std::move(all);
  return is_new;
}

void Registrations::refresh(const storage::Database& db, OfToken& known,
                            const Runner& asked) const {
  const Time oldest = asked.seen_at - counted_time;
  for (Runner& one : storage::runners_of_token(db, asked.token, oldest))
    known[one.machine].runners[one.name] = {std::move(one.workloads), one.seen_at};
  for (auto& [machine, one] : known)
    std::erase_if(one.runners, [&](const auto& runner) { return runner.second.at < oldest; });
  std::erase_if(known, [](const auto& one) { return one.second.runners.empty(); });
}

void Registrations::require_few(const OfToken& all, const Runner& asked) const {
  std::size_t runners = 0, workloads = 0;
  for (const auto& [machine, one] : all) {
    runners += one.runners.size();
    workloads += one.workloads;
  }
  const auto require = [&](const char* what, std::size_t count, std::size_t most) {
    if (count > most)
      throw Refused(429, "Too many runners",
                    "With '" + asked.name + "' the token '" + asked.token + "' has registered " +
                        std::to_string(count) + " " + what + " within a day; at most " +
                        std::to_string(most) + " are taken. Give these machines another token.");
  };
  require("runners", runners, limits_.runners);
  require("machine classes", all.size(), limits_.classes);
  require("workloads, added up over its machine classes,", workloads, limits_.workloads);
}

}  // namespace nightjar::service::api
