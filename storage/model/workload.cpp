#include "storage/model/workload.hpp"

#include <algorithm>
#include <vector>

namespace nightjar {
namespace {
constexpr int parts = 7;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool is_batch(std::string_view text) {
  if (text == "bmax" || text == "bdefault") return true;
  return text.size() > 1 && text.size() < 10 && text[0] == 'b' && text[1] != '0' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
}  // namespace

std::optional<WorkloadName> WorkloadName::parse(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') != parts - 1) return std::nullopt;
  WorkloadName name(text);
  for (int i = 0; i < parts; ++i) {
    const auto part = name.part(i);
    if (part.empty() || !std::all_of(part.begin(), part.end(), is_word)) return std::nullopt;
  }
  if (!is_batch(name.batch())) return std::nullopt;
  return name;
}

std::string_view WorkloadName::part(int index) const {
  std::string_view rest = text_;
  for (int i = 0; i < index; ++i) rest.remove_prefix(rest.find('/') + 1);
  return rest.substr(0, rest.find('/'));
}

std::optional<WorkloadName> WorkloadName::on(std::string_view device) const {
  const auto at = static_cast<std::size_t>(this->device().data() - text_.data());
  return parse(std::string(text_).replace(at, this->device().size(), device));
}

std::optional<WorkloadName> WorkloadName::variant(std::string_view precision,
                                                  std::string_view batch,
                                                  std::string_view backend) const {
  const auto shared = static_cast<std::size_t>(this->precision().data() - text_.data());
  std::string text = text_.substr(0, shared);
  for (const auto part : {precision, batch, backend}) text.append(part).append("/");
  text.pop_back();
  return parse(text);
}

double result_tolerance(const WorkloadName& name) {
  const bool full = name.precision() == "fp32" || name.precision() == "fp64";
  return full ? .001 : .02;
}

// fnmatch() knows no "**" that crosses slashes.
// reach[i]: the glob read so far matches the first i characters. Linear in glob times text, so that
// a glob from a query cannot keep the service busy.
bool glob_match(std::string_view glob, std::string_view text) {
  std::vector<char> reach(text.size() + 1, 0);
  reach[0] = 1;
  while (!glob.empty()) {
    const bool any = glob.starts_with("**");
    const char token = glob[0];
    glob.remove_prefix(any ? 2 : 1);
    if (token == '*') {
      for (std::size_t i = 0; i < text.size(); ++i)
        if (reach[i] && (any || text[i] != '/')) reach[i + 1] = 1;
      continue;
    }
    for (std::size_t i = text.size(); i > 0; --i)
      reach[i] = reach[i - 1] && (token == '?' ? text[i - 1] != '/' : token == text[i - 1]) ? 1 : 0;
    reach[0] = 0;
  }
  return reach[text.size()] != 0;
}

}  // namespace nightjar
