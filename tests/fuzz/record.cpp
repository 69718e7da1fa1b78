// A wheel's RECORD, and CSV in general.
#include "storage/base/csv.hpp"
#include "storage/base/wheel_record.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {
namespace {

std::string csv_of(const std::vector<std::vector<std::string>>& lines) {
  std::string text;
  for (const auto& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(cells[i]);
    text += "\n";
  }
  return text;
}

bool is_same_entry(const Record::value_type& a, const Record::value_type& b) {
  return a.first == b.first && a.second.sha256 == b.second.sha256 &&
         a.second.bytes == b.second.bytes;
}

}  // namespace

void record(std::string_view input) {
  const auto lines = csv_lines(input);
  require(csv_lines(csv_of(lines)) == lines, "CSV changes when it is written");
  Record record;
  try {
    record = parse_record(input);
  } catch (const MalformedRecord&) {
    return;
  }
  for (const auto& [path, entry] : record)
    require(entry.bytes >= -1 && (entry.sha256.empty() || entry.sha256.size() == 64),
            "RECORD gives " + path + " a size or a hash that no file has");
  const auto again = parse_record(record_text(record));
  require(std::equal(record.begin(), record.end(), again.begin(), again.end(), is_same_entry),
          "RECORD changes when it is written");
}

}  // namespace nightjar::fuzz
