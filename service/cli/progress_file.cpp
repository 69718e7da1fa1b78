#include "service/cli/progress_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "service/cli/failure.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {
using nlohmann::json;

json name_json(const SearchName& name) {
  return {{"good", name.good},
          {"bad", name.bad},
          {"measure", name.measure},
          {"build", name.build},
          {"direction", name.direction},
          {"find", name.find},
          {"threshold", name.threshold},
          {"path", name.paths},
          {"measure-file", name.measure_file},
          {"value", name.value},
          {"measure-format", name.measure_format},
          {"only", name.only},
          {"metric", name.metric},
          {"package", name.package},
          {"python", name.python}};
}

// Files of earlier versions lack what could not be chosen then.
json stored_name(const json& root) {
  json name{{"direction", "lower"},  {"find", "worse"},    {"path", json::array()},
            {"measure-file", ""},    {"value", ""},        {"measure-format", ""},
            {"only", json::array()}, {"metric", "number"}, {"package", ""},
            {"python", ""}};
  name.update(root.at("search"));
  return name;
}

void refuse_another(const json& stored, const json& asked, const std::string& attempt) {
  for (const auto& [key, value] : asked.items())
    if (stored.at(key) != value)
      throw BadInput(attempt + "it belongs to another search, whose --" + key + " is " +
                     stored.at(key).dump() + " instead of " + value.dump() +
                     "; name another --state file");
}

json part_json(const SavedPart& part) {
  return {{"name", part.subject.benchmark},
          {"unit", part.subject.unit},
          {"more_is_better", part.subject.more_is_better},
          {"answered_after", part.answered_after},
          {"runs_for_others", part.runs_for_others}};
}

SavedPart part_in(const json& one) {
  return {{one.at("name"), one.at("unit"), one.at("more_is_better")},
          field<std::size_t>(one, "answered_after"),
          field<int>(one, "runs_for_others")};
}

// A search without names has one value a run.
json run_json(const SavedRun& run, bool has_names) {
  json out{{"session", run.session}, {"commit", run.commit}};
  if (!has_names) {
    out["value"] = run.values.at(0).value();
    return out;
  }
  out["values"] = json::array();
  for (const auto& value : run.values) out["values"].push_back(value ? json(*value) : json());
  return out;
}

SavedRun run_in(const json& one) {
  SavedRun run{field<int>(one, "session"), field<int>(one, "commit"), {}};
  if (one.contains("value")) {
    run.values.emplace_back(one["value"].get<double>());
    return run;
  }
  for (const json& value : one.at("values"))
    run.values.push_back(value.is_null() ? std::nullopt : std::optional(value.get<double>()));
  return run;
}

json search_json(const SavedSearch& search) {
  const bool has_names = search.parts.size() != 1 || !search.parts[0].subject.benchmark.empty();
  json runs = json::array(), benchmarks = json::array();
  for (const SavedRun& run : search.runs) runs.push_back(run_json(run, has_names));
  for (const SavedPart& part : search.parts) benchmarks.push_back(part_json(part));
  json out{{"runs", runs}, {"untestable", search.untestable}};
  if (has_names) out["benchmarks"] = benchmarks;
  return out;
}

SavedSearch search_in(const json& stored) {
  SavedSearch search;
  if (const auto found = stored.find("benchmarks"); found != stored.end())
    for (const json& one : *found) search.parts.push_back(part_in(one));
  else
    search.parts.emplace_back();
  for (const json& run : stored.at("runs")) search.runs.push_back(run_in(run));
  for (const json& commit : stored.at("untestable"))
    search.untestable.push_back(parse_json(commit, Parsed<int>{}));
  return search;
}

bool lies_in(const fs::path& folder, const fs::path& inner) {
  const auto relative =
      fs::weakly_canonical(inner).lexically_relative(fs::weakly_canonical(folder));
  return !relative.empty() && *relative.begin() != "..";
}

// Whoever reads sees the old text or the new one; when the disk has it is not waited for.
void replace_file(const fs::path& file, const std::string& text) {
  fs::path beside = file;
  beside += ".part";
  std::ofstream out(beside, std::ios::trunc);
  if (!(out << text << std::flush))
    throw std::system_error(errno, std::generic_category(), "cannot write " + beside.string());
  fs::rename(beside, file);
}

// Empty if the environment names none.
fs::path folder_of_states() {
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value ? value : "");
  };
  fs::path folder = named("XDG_STATE_HOME");
  // The specification of these folders ignores relative ones.
  if (!folder.is_absolute() && named("HOME").is_absolute()) folder = named("HOME") / ".local/state";
  return folder.is_absolute() ? folder / "nightjar" : fs::path();
}

}  // namespace

fs::path usual_place(const SearchName& name, const GitFolders& repository) {
  const fs::path folder = folder_of_states();
  if (folder.empty()) return {};
  for (const fs::path& inside : {repository.base, repository.own, repository.common})
    if (!inside.empty() && lies_in(inside, folder)) return {};
  return folder / ("bisect-" + digest_of(name_json(name).dump()).str().substr(0, 16) + ".json");
}

void require_place_for(const std::filesystem::path& file) {
  const std::string problem = output_problem(file);
  if (!problem.empty()) throw BadInput("cannot keep the search with --state: " + problem);
  // A save replaces the file, which a device or a pipe must not suffer.
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    throw BadInput("cannot keep the search in --state " + file.string() +
                   ": it is no regular file; name another");
}

Progress load_progress(const fs::path& file, const SearchName& name) {
  const auto text = read_file(file);
  if (!text || text->empty()) return {};  // what a power failure may leave
  const std::string attempt = "cannot go on with " + file.string() + ": ";
  const json root = parse_foreign(*text);
  try {
    refuse_another(stored_name(root), name_json(name), attempt);
    Progress progress{{{name.good, name.bad}, search_in(root)}};
    for (const json& inner : root.value("inside_merges", json::array()))
      progress[{inner.at("good"), inner.at("bad")}] = search_in(inner);
    return progress;
  } catch (const json::exception&) {
    throw BadInput(attempt + "it is no state file of nightjar bisect run; remove it to start over");
  }
}

void save_progress(const fs::path& file, const SearchName& name, const Progress& progress,
                   bool durably) {
  json root{{"search", name_json(name)}}, inside = json::array();
  for (const auto& [ends, search] : progress) {
    json one = search_json(search);
    if (ends == SearchEnds{name.good, name.bad}) {
      root.update(one);
      continue;
    }
    one.update({{"good", ends.good}, {"bad", ends.bad}});
    inside.push_back(one);
  }
  if (!inside.empty()) root["inside_merges"] = inside;
  const std::string text = root.dump(1) + "\n";
  durably ? write_durably(file, text) : replace_file(file, text);
}

}  // namespace nightjar::cli
