#include "service/cli/progress_file.hpp"

#include <cstdlib>
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
          {"only", name.only}};
}

// Files of earlier versions lack what could not be chosen then.
json stored_name(const json& root) {
  json name{{"direction", "lower"}, {"find", "worse"}, {"path", json::array()},
            {"measure-file", ""},   {"value", ""},     {"measure-format", ""},
            {"only", json::array()}};
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

bool lies_in(const fs::path& folder, const fs::path& inner) {
  const auto relative =
      fs::weakly_canonical(inner).lexically_relative(fs::weakly_canonical(folder));
  return !relative.empty() && *relative.begin() != "..";
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
    if (lies_in(inside, folder)) return {};
  return folder / ("bisect-" + digest_of(name_json(name).dump()).str().substr(0, 16) + ".json");
}

bool save_if_possible(const fs::path& file, const SearchName& name, const SavedSearch& search) {
  try {
    fs::create_directories(file.parent_path());
    save_progress(file, name, search);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void require_place_for(const std::filesystem::path& file) {
  const std::string problem = output_problem(file);
  if (!problem.empty()) throw BadInput("cannot keep the search with --state: " + problem);
  // A save replaces the file, which a device or a pipe must not suffer.
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    throw BadInput("cannot keep the search in --state " + file.string() +
                   ": it is no regular file; name another");
}

SavedSearch load_progress(const std::filesystem::path& file, const SearchName& name) {
  const auto text = read_file(file);
  SavedSearch search;
  if (!text) return search;
  const std::string attempt = "cannot go on with " + file.string() + ": ";
  const json root = parse_foreign(*text);
  try {
    refuse_another(stored_name(root), name_json(name), attempt);
    if (const auto found = root.find("benchmarks"); found != root.end())
      for (const json& one : *found) search.parts.push_back(part_in(one));
    else
      search.parts.emplace_back();
    for (const json& run : root.at("runs")) search.runs.push_back(run_in(run));
    for (const json& commit : root.at("untestable"))
      search.untestable.push_back(parse_json(commit, Parsed<int>{}));
  } catch (const json::exception&) {
    throw BadInput(attempt + "it is no state file of nightjar bisect run; remove it to start over");
  }
  return search;
}

void save_progress(const std::filesystem::path& file, const SearchName& name,
                   const SavedSearch& search) {
  const bool has_names = search.parts.size() != 1 || !search.parts[0].subject.benchmark.empty();
  json runs = json::array(), benchmarks = json::array();
  for (const SavedRun& run : search.runs) runs.push_back(run_json(run, has_names));
  for (const SavedPart& part : search.parts) benchmarks.push_back(part_json(part));
  json root{{"search", name_json(name)}, {"runs", runs}, {"untestable", search.untestable}};
  if (has_names) root["benchmarks"] = benchmarks;
  write_durably(file, root.dump(1) + "\n");
}

}  // namespace nightjar::cli
