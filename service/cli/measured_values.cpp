#include "service/cli/measured_values.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "bisect/statistics.hpp"
#include "service/cli/bench_files.hpp"
#include "service/cli/history/reading.hpp"
#include "service/cli/metric_direction.hpp"
#include "service/cli/result_file.hpp"
#include "service/cli/value_path.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

constexpr std::size_t shown_of_line = 80;

// White space around it does not count.
std::string last_line_of(const std::string& output) {
  constexpr const char* white_space = " \t\r\n";
  const auto end = output.find_last_not_of(white_space);
  if (end == std::string::npos) return "";
  const auto newline = output.rfind('\n', end);
  const auto begin =
      output.find_first_not_of(white_space, newline == std::string::npos ? 0 : newline);
  return output.substr(begin, end + 1 - begin);
}

std::string problem_of_number(double value, const std::string& shown) {
  if (std::isfinite(value) && value > 0) return "";
  return "printed " + shown + "; the number must be positive and finite";
}

Measured number_in(const std::string& line) {
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const bool whole = error == std::errc() && end == line.data() + line.size();
  if (line.empty()) return {{}, "printed nothing; its last line must be one number"};
  if (!whole)
    return {{}, "printed " + visible(line, shown_of_line) + "; its last line must be one number"};
  if (auto problem = problem_of_number(value, line.substr(0, shown_of_line)); !problem.empty())
    return {{}, std::move(problem)};
  return {{{"", "", Direction::unknown, value, ""}}, ""};
}

MeasuredValue median_of(MeasuredValue of, const std::vector<double>& samples) {
  of.value = bisect::median(samples);
  if (!std::isfinite(of.value) || of.value <= 0)
    of.problem = "gave " + json(of.value).dump() + "; the number must be positive and finite";
  return of;
}

// A text as JSON; of objects that stand one a line, a list of them.
json json_in(const std::string& text) {
  const std::string plain = json_of_python(text);
  if (json root = parse_foreign(plain); !root.is_discarded()) return root;
  json list = json::array();
  for (std::size_t from = 0; from < plain.size();) {
    const std::size_t end = std::min(plain.find('\n', from), plain.size());
    if (plain[from] == '{') list.push_back(parse_foreign(plain.substr(from, end - from)));
    if (!list.empty() && list.back().is_discarded()) list.erase(list.size() - 1);
    from = end + 1;
  }
  if (list.empty()) throw std::invalid_argument("it is not JSON");
  return list;
}

void add_benches(Measured& out, const BenchFile& file) {
  for (const BenchValue& bench : file.values) {
    MeasuredValue one{bench.name, bench.unit, bench.direction, 0, ""};
    if (bench.samples.empty())
      one.problem = bench.failure.empty() ? "has no samples" : "failed: " + one_line(bench.failure);
    out.values.push_back(bench.samples.empty() ? one : median_of(one, bench.samples));
  }
}

// An object of numbers, or of lists of samples, by the names of benchmarks; which way is better,
// the names say. Empty if it is something else.
std::vector<MeasuredValue> named_numbers(const json& root) {
  std::vector<MeasuredValue> values;
  if (!root.is_object()) return values;
  for (const auto& [name, member] : root.items()) {
    const json list = member.is_array() ? member : json::array({member});
    std::vector<double> samples;
    for (const json& one : list)
      if (one.is_number()) samples.push_back(one.get<double>());
    if (samples.empty() || samples.size() != list.size()) return {};
    values.push_back(median_of({name, "", direction_of(name), 0, ""}, samples));
  }
  return values;
}

class SourceReader {
 public:
  SourceReader(const MeasureSource& source, const std::filesystem::path& tree)
      : source_(source), tree_(tree) {}

  Measured read(const std::string& output) {
    std::vector<ResultText> texts;
    if (source_.file.empty())
      texts.push_back({"", output});
    else
      texts = read_result(source_.file, tree_);
    if (texts.empty()) return {{}, "wrote no file " + source_.file.string()};
    const bool is_folder = texts.size() > 1 || std::filesystem::is_directory(tree_ / source_.file);
    if (is_folder && !source_.value.empty())
      return {{}, "wrote a folder " + source_.file.string() + ", but --value is a place in a file"};
    for (const ResultText& text : texts) add(text, is_folder);
    if (out_.values.empty() && is_folder)
      out_.problem = "wrote no results of " + wanted() + " into " + source_.file.string();
    return out_;
  }

 private:
  std::string wanted() const { return source_.format.empty() ? "a known format" : source_.format; }
  std::string called(const ResultText& text) const {
    return source_.file.empty() ? "standard output" : text.path.lexically_relative(tree_).string();
  }

  // Files of a folder that are something else are left out.
  void add(const ResultText& text, bool is_folder) {
    if (!source_.value.empty()) {
      try {
        const auto samples = numbers_at(json_in(text.text), source_.value);
        out_.values.push_back(median_of({source_.value, "", Direction::unknown, 0, ""}, samples));
      } catch (const std::invalid_argument& error) {
        out_.problem = "wrote no number: in " + called(text) + " " + error.what();
      }
      return;
    }
    const auto file = read_bench_file(text.path, text.text);
    const bool fits = file && (source_.format.empty() || format_of(*file) == source_.format);
    if (fits) return add_benches(out_, *file);
    if (is_folder) return;
    if (!file && source_.format.empty()) out_.values = named_numbers(parse_foreign(text.text));
    if (!out_.values.empty()) return;
    out_.problem = file ? "wrote " + called(text) + " as " + std::string(file->program) +
                              " does, and not as " + source_.format
                        : "wrote " + called(text) + ", which has no results of " + wanted() +
                              "; --value says where in a JSON file the number stands";
  }

  const MeasureSource& source_;
  const std::filesystem::path& tree_;
  Measured out_;
};

}  // namespace

Measured measured_values(const MeasureSource& source, const std::filesystem::path& tree,
                         const std::string& output) {
  if (source.is_last_line()) {
    const std::string line = last_line_of(output);
    auto values =
        line.starts_with('{') ? named_numbers(parse_foreign(line)) : std::vector<MeasuredValue>();
    if (values.empty()) return number_in(line);
    return {std::move(values), ""};
  }
  try {
    return SourceReader(source, tree).read(output);
  } catch (const std::exception& error) {  // of reading the file
    return {{}, "wrote " + source.file.string() + ", which " + one_line(error.what())};
  }
}

}  // namespace nightjar::cli
