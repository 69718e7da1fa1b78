#include "service/cli/progress_file.hpp"

#include "service/cli/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

json name_json(const SearchName& name) {
  return {{"good", name.good},           {"bad", name.bad},
          {"measure", name.measure},     {"build", name.build},
          {"direction", name.direction}, {"find", name.find},
          {"threshold", name.threshold}};
}

// Files of earlier versions lack what could not be chosen then.
json stored_name(const json& root) {
  json name{{"direction", "lower"}, {"find", "worse"}};
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

}  // namespace

void require_place_for(const std::filesystem::path& file) {
  const std::string problem = output_problem(file);
  if (!problem.empty()) throw BadInput("cannot keep the search with --state: " + problem);
  // A save replaces the file, which a device or a pipe must not suffer.
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    throw BadInput("cannot keep the search in --state " + file.string() +
                   ": it is no regular file; name another");
}

void load_progress(const std::filesystem::path& file, const SearchName& name,
                   bisect::SearchLog& log) {
  const auto text = read_file(file);
  if (!text) return;
  const std::string attempt = "cannot go on with " + file.string() + ": ";
  const json root = parse_foreign(*text);
  try {
    refuse_another(stored_name(root), name_json(name), attempt);
    for (const json& run : root.at("runs"))
      log.runs.push_back({field<int>(run, "session"), field<int>(run, "commit"), run.at("value")});
    for (const json& commit : root.at("untestable"))
      log.untestable.push_back(parse_json(commit, Parsed<int>{}));
  } catch (const json::exception&) {
    throw BadInput(attempt + "it is no state file of nightjar bisect run; remove it to start over");
  }
}

void save_progress(const std::filesystem::path& file, const SearchName& name,
                   const bisect::SearchLog& log) {
  json runs = json::array();
  for (const auto& run : log.runs)
    runs.push_back({{"session", run.session}, {"commit", run.commit}, {"value", run.value}});
  const json root{{"search", name_json(name)}, {"runs", runs}, {"untestable", log.untestable}};
  write_durably(file, root.dump(1) + "\n");
}

}  // namespace nightjar::cli
