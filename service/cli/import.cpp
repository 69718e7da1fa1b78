#include "service/cli/import.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "service/cli/failure.hpp"
#include "service/cli/history/collect.hpp"
#include "storage/base/terminal.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/history_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "web/access.hpp"
#include "web/client.hpp"
#include "web/secret.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

constexpr std::size_t values_of_a_part = 10000;  // about a second of the service's writer
constexpr std::size_t lines_left_out = 20;

// A line every few seconds, so that short work says nothing.
class ImportProgress {
 public:
  void say(const char* doing, std::size_t done, std::size_t all, const char* of_what) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    nightjar::say(stderr, "nightjar: %s %zu of %zu %s\n", doing, done, all, of_what);
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// What the service said of the batches of one machine class.
struct Stored {
  std::int64_t machine = 0;
  std::int64_t nights = 0, added = 0, known = 0, differing = 0;
};

class Service {
 public:
  explicit Service(const ImportOptions& options) {
    try {
      address_ = web::service_address(options.to);
      token_ = web::token_in(options.token_file);
    } catch (const std::invalid_argument& error) {
      throw BadInput("cannot import: " + std::string(error.what()));
    }
    if (const auto warning = web::exposure(options.token_file))
      say(stderr, "nightjar: %s\n", warning->c_str());
  }

  json send(const History& history) {
    web::ClientRequest request;
    request.method = "POST";
    request.url = address_ + "/api/v1/imports";
    request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token_}};
    request.body = described(Parsed<History>{})
                       .write(history)
                       .dump(-1, ' ', false, json::error_handler_t::replace);
    request.timeout = std::chrono::minutes(2);
    request.while_moving = true;
    const auto result = client_.send(request);
    if (!result) throw Broken(result.failure.what + "; the same command goes on from here");
    const auto& answer = *result.response;
    const std::string said = request.url + " was answered with " + std::to_string(answer.status) +
                             ": " + web::problem_detail(answer.body);
    if (web::may_pass(answer.status)) throw Broken(said + "; the same command goes on from here");
    if (answer.status != 200) throw BadInput("cannot import: " + said);
    return parse_foreign_or_throw(answer.body);
  }

 private:
  web::Client client_;
  std::string address_, token_;
};

std::map<std::string, Stored> send_all(const ImportOptions& options,
                                       const std::vector<FoundNight>& nights) {
  Service service(options);
  ImportProgress progress;
  std::map<std::string, Stored> stored;
  const auto batches = batches_of(nights, values_of_a_part);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const json answer = service.send(batches[i]);
    Stored& sum = stored[batches[i].machine_class];
    sum.machine = field<std::int64_t>(answer, "machine");
    sum.nights += field<std::int64_t>(answer, "nights");
    sum.added += field<std::int64_t>(answer, "added");
    sum.known += field<std::int64_t>(answer, "known");
    sum.differing += field<std::int64_t>(answer, "differing");
    progress.say("sent", i + 1, batches.size(), "batches");
  }
  return stored;
}

void print_faults(const Collection& all) {
  for (const auto& [place, why] : all.not_read)
    say(stderr, "nightjar: not read: %s: %s\n", place.c_str(), why.c_str());
  for (std::size_t i = 0; i < all.left_out.size() && i < lines_left_out; ++i)
    say(stderr, "nightjar: left out: %s\n", all.left_out[i].c_str());
  if (all.left_out.size() > lines_left_out)
    say(stderr, "nightjar: left out: %zu more of this kind\n",
        all.left_out.size() - lines_left_out);
}

int sum_of(const std::map<std::string, int>& counts) {
  int sum = 0;
  for (const auto& [what, count] : counts) sum += count;
  return sum;
}

// "3 'infra_error', 2 null or NaN", the most first.
std::string counts_text(const std::map<std::string, int>& counts) {
  constexpr std::size_t most_shown = 8;
  std::vector<std::pair<int, std::string>> most;
  for (const auto& [what, count] : counts) most.emplace_back(-count, what);
  std::sort(most.begin(), most.end());
  std::string text;
  for (std::size_t i = 0; i < most.size() && i < most_shown; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(-most[i].first) + " " + most[i].second;
  return most.size() > most_shown ? text + ", ..." : text;
}

const char* direction_text(Direction direction) {
  if (direction == Direction::unknown) return "not known: it is not judged";
  return direction == Direction::lower_is_better ? "lower is better" : "higher is better";
}

void print_directions(const std::map<std::string, Direction>& directions) {
  TextTable table{{"metric", "direction"}, {}, 2};
  for (const auto& [name, direction] : directions)
    table.rows.push_back({name, direction_text(direction)});
  std::fputs("\n", stdout);
  std::fputs(table_text(table, false).c_str(), stdout);
}

// Says which globs decided nothing. Throws BadInput where two of them disagree.
void check_directions(const ChosenDirections& chosen,
                      const std::map<std::string, Direction>& directions) {
  const auto check = [&](const std::vector<std::string>& globs, const char* option) {
    for (const std::string& glob : globs) {
      const bool used = std::any_of(directions.begin(), directions.end(), [&](const auto& one) {
        return !find_metric(one.first) && is_named_by({glob}, one.first);
      });
      if (!used)
        say(stderr, "nightjar: %s '%s' names no metric whose direction may be chosen\n", option,
            glob.c_str());
    }
  };
  check(chosen.higher, "--higher");
  check(chosen.lower, "--lower");
  for (const auto& [name, direction] : directions)
    if (!find_metric(name) && is_named_by(chosen.higher, name) && is_named_by(chosen.lower, name))
      throw BadInput("cannot import: both --higher and --lower name the metric '" + name + "'");
}

void print_extents(const std::vector<Extent>& extents) {
  TextTable table{{"machine class", "suite", "series", "nights", "values", "first", "last"}, {}, 2};
  for (const Extent& one : extents)
    table.rows.push_back({one.machine_class, one.suite, std::to_string(one.series),
                          std::to_string(one.nights), std::to_string(one.values),
                          to_date(one.first), to_date(one.last)});
  std::fputs(table_text(table, false).c_str(), stdout);
}

void print_text(const Collection& all, const std::vector<Extent>& extents,
                const std::map<std::string, Stored>& stored, const ImportOptions& options) {
  print_extents(extents);
  if (options.dry_run) print_directions(all.directions);
  say(stdout, "\n%d files read, %zu not read, %d skipped; %zu values left out, %d not measured\n",
      all.files, all.not_read.size(), all.skipped, all.left_out.size(), sum_of(all.unmeasured));
  if (!all.unmeasured.empty())
    say(stdout, "not measured: %s\n", counts_text(all.unmeasured).c_str());
  if (!all.not_taken.empty())
    say(stdout, "columns that are not taken, and their rows: %s\n",
        counts_text(all.not_taken).c_str());
  if (options.dry_run) {
    say(stdout, "nothing is sent: this was a dry run\n");
    return;
  }
  for (const auto& [name, sum] : stored)
    say(stdout,
        "%s: %lld new nights, %lld values added, %lld were there, %lld differ and stay as "
        "they are\n",
        name.c_str(), static_cast<long long>(sum.nights), static_cast<long long>(sum.added),
        static_cast<long long>(sum.known), static_cast<long long>(sum.differing));
  say(stdout, "steps are looked for next; %s/api/v1/imports says how far that is\n",
      options.to.c_str());
}

json extent_json(const Extent& one) {
  return {{"machine_class", one.machine_class},
          {"suite", one.suite},
          {"series", one.series},
          {"nights", one.nights},
          {"values", one.values},
          {"first", to_rfc3339(one.first)},
          {"last", to_rfc3339(one.last)}};
}

void print_json(const Collection& all, const std::vector<Extent>& extents,
                const std::map<std::string, Stored>& stored) {
  json root{{"files", all.files},
            {"not_read", json::array()},
            {"skipped", all.skipped},
            {"left_out", all.left_out},
            {"unmeasured", sum_of(all.unmeasured)},
            {"unmeasured_by_reason", all.unmeasured},
            {"columns_not_taken", all.not_taken},
            {"metrics", json::array()},
            {"found", json::array()},
            {"stored", json::array()}};
  for (const auto& [name, direction] : all.directions)
    root["metrics"].push_back({{"name", name}, {"direction", direction}});
  for (const auto& [place, why] : all.not_read)
    root["not_read"].push_back({{"file", place}, {"reason", why}});
  for (const Extent& one : extents) root["found"].push_back(extent_json(one));
  for (const auto& [name, sum] : stored)
    root["stored"].push_back({{"machine_class", name},
                              {"machine", sum.machine},
                              {"nights", sum.nights},
                              {"added", sum.added},
                              {"known", sum.known},
                              {"differing", sum.differing}});
  put_text(stdout, root.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace

int import_history(const ImportOptions& options) {
  if (!options.dry_run && (options.to.empty() || options.token_file.empty()))
    throw BadInput("cannot import: --to and --token-file are needed, or --dry-run");
  ImportProgress progress;
  const Collection all = collect(
      options.path, options.format, options.machine_class, options.directions,
      [&](std::size_t done, std::size_t count) { progress.say("read", done, count, "files"); });
  print_faults(all);
  check_directions(options.directions, all.directions);
  if (all.nights.empty())
    throw BadInput("cannot import " + options.path.string() +
                   ": no result was found in it; docs/importing.md says which formats there are");
  const auto extents = extents_of(all.nights);
  std::map<std::string, Stored> stored;
  if (!options.dry_run) stored = send_all(options, all.nights);
  if (options.json)
    print_json(all, extents, stored);
  else
    print_text(all, extents, stored, options);
  return 0;
}

}  // namespace nightjar::cli
