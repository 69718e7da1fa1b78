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
  return {{"good", name.good},           {"bad", name.bad},
          {"measure", name.measure},     {"build", name.build},
          {"direction", name.direction}, {"find", name.find},
          {"threshold", name.threshold}, {"path", name.paths},
          {"package", name.package},     {"python", name.python}};
}

// Files of earlier versions lack what could not be chosen then.
json stored_name(const json& root) {
  json name{{"direction", "lower"},
            {"find", "worse"},
            {"path", json::array()},
            {"package", ""},
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

json log_json(const bisect::SearchLog& log) {
  json runs = json::array();
  for (const auto& run : log.runs)
    runs.push_back({{"session", run.session}, {"commit", run.commit}, {"value", run.value}});
  return {{"runs", runs}, {"untestable", log.untestable}};
}

bisect::SearchLog stored_log(const json& stored) {
  bisect::SearchLog log;
  for (const json& run : stored.at("runs"))
    log.runs.push_back({field<int>(run, "session"), field<int>(run, "commit"), run.at("value")});
  for (const json& commit : stored.at("untestable"))
    log.untestable.push_back(parse_json(commit, Parsed<int>{}));
  return log;
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
    Progress progress{{{name.good, name.bad}, stored_log(root)}};
    for (const json& inner : root.value("inside_merges", json::array()))
      progress[{inner.at("good"), inner.at("bad")}] = stored_log(inner);
    return progress;
  } catch (const json::exception&) {
    throw BadInput(attempt + "it is no state file of nightjar bisect run; remove it to start over");
  }
}

void save_progress(const fs::path& file, const SearchName& name, const Progress& progress,
                   bool durably) {
  json root{{"search", name_json(name)}}, inside = json::array();
  for (const auto& [ends, log] : progress) {
    json one = log_json(log);
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
