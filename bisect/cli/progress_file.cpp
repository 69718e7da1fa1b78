#include "bisect/cli/progress_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "bisect/cli/failure.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

json name_json(const SearchName& name) {
  return {{"good", name.good},
          {"bad", name.bad},
          {"measure", name.measure},
          {"build", name.build},
          {"threshold", name.threshold}};
}

}  // namespace

void load_progress(const std::filesystem::path& file, const SearchName& name, bisect::SearchLog& log) {
  if (!std::filesystem::exists(file)) return;
  const std::string attempt = "cannot go on with " + file.string() + ": ";
  std::ifstream in(file);
  const json root = json::parse(in, nullptr, false);
  try {
    if (root.at("search") != name_json(name))
      throw BadInput(attempt + "it belongs to another search; name another --state file");
    for (const json& run : root.at("runs"))
      log.runs.push_back({run.at("session"), run.at("commit"), run.at("value")});
    for (const json& commit : root.at("untestable")) log.untestable.push_back(commit);
  } catch (const json::exception&) {
    throw BadInput(attempt + "it is no state file of nightjar bisect run; remove it to start anew");
  }
}

void save_progress(const std::filesystem::path& file, const SearchName& name,
                   const bisect::SearchLog& log) {
  json runs = json::array();
  for (const auto& run : log.runs)
    runs.push_back({{"session", run.session}, {"commit", run.commit}, {"value", run.value}});
  const json root{{"search", name_json(name)}, {"runs", runs}, {"untestable", log.untestable}};
  const std::filesystem::path next = file.string() + ".new";
  {
    std::ofstream out(next, std::ios::trunc);
    out << root.dump(1) << "\n";
    if (!out.flush()) throw Broken("cannot write " + next.string() + ": is the disk full?");
  }
  std::error_code error;
  std::filesystem::rename(next, file, error);
  if (error) throw Broken("cannot write " + file.string() + ": " + error.message());
}

}  // namespace nightjar::cli
