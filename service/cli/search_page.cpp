#include "service/cli/search_page.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "service/cli/bench.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/quantity_text.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::cli {
namespace {

constexpr std::string_view markup = "&<\"";

constexpr double picture_width = 880, left = 64, right = 16;  // pixels
constexpr double runs_top = 16, runs_bottom = 236;            // where the numbers are
constexpr double belief_top = 272, belief_bottom = 372, picture_height = 400;

constexpr const char* style_sheet =
    ":root{color-scheme:light dark;--page:#f6f7f9;--text:#1b2230;--soft:#566072;--line:#d9dde4;"
    "--point:#2456c4;--bad:#b3261e}@media(prefers-color-scheme:dark){:root{--page:#12151c;"
    "--text:#e7eaf0;--soft:#a3adbd;--line:#323a49;--point:#8db4ff;--bad:#ff9d94}}"
    "body{margin:2rem auto;max-width:56rem;padding:0 1rem;background:var(--page);color:var(--text);"
    "font:1rem/1.5 system-ui,sans-serif}svg{width:100%;height:auto}pre{overflow-x:auto}"
    "text{font-size:12px;fill:var(--soft)}line{stroke:var(--line)}"
    "circle{fill:var(--point);fill-opacity:.6}rect{fill:var(--bad)}";

// A number of pixels.
std::string px(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

class SearchPicture {
 public:
  explicit SearchPicture(const SearchPage& page) : page_(page) {
    for (const auto& run : page.runs) {
      low_ = first_ ? run.value : std::min(low_, run.value);
      high_ = first_ ? run.value : std::max(high_, run.value);
      first_ = false;
    }
  }

  std::string text() const {
    std::string out =
        "<svg viewBox=\"0 0 " + px(picture_width) + " " + px(picture_height) +
        "\" role=\"img\" aria-label=\"Runs by commit, and the probability of a step "
        "at each\">" +
        axis(runs_bottom) + axis(belief_bottom) +
        label(0, runs_top + 4, "start", number_text(high_)) +
        label(0, runs_bottom, "start", number_text(low_)) +
        label(0, belief_top + 4, "start", "100 %") + label(0, belief_bottom, "start", "0 %") +
        label(left, picture_height - 8, "start", "good " + short_name(0)) +
        label(picture_width - right, picture_height - 8, "end", "bad " + short_name(last()));
    for (const auto& run : page_.runs) out += point(run);
    for (const auto& cell : page_.belief.cells) out += bar(cell);
    return out + "</svg>";
  }

 private:
  std::size_t last() const { return page_.commits.size() - 1; }
  std::string short_name(std::size_t commit) const {
    return cli::short_name(page_.commits.at(commit));
  }
  double x(double commit) const {
    const double all = static_cast<double>(std::max<std::size_t>(last(), 1));
    return left + (picture_width - left - right) * commit / all;
  }
  double y(double value) const {
    const double share = high_ > low_ ? (value - low_) / (high_ - low_) : .5;
    return runs_bottom - (runs_bottom - runs_top) * share;
  }
  static std::string axis(double at) {
    return "<line x1=\"" + px(left) + "\" x2=\"" + px(picture_width - right) + "\" y1=\"" + px(at) +
           "\" y2=\"" + px(at) + "\"/>";
  }
  static std::string label(double at, double below, const char* anchor, const std::string& text) {
    return "<text x=\"" + px(at) + "\" y=\"" + px(below) + "\" text-anchor=\"" + anchor + "\">" +
           with_entities(text, markup) + "</text>";
  }
  std::string point(const bisect::SearchRun& run) const {
    return "<circle cx=\"" + px(x(run.commit)) + "\" cy=\"" + px(y(run.value)) +
           "\" r=\"4\"><title>" + short_name(static_cast<std::size_t>(run.commit)) + ": " +
           number_text(run.value) + "</title></circle>";
  }
  // A step at a commit lies between it and the one before.
  std::string bar(const bisect::CellMass& cell) const {
    const double begin = x(cell.first - 1), end = x(cell.last);
    const double height = (belief_bottom - belief_top) * cell.probability;
    const std::string more = cell.last > cell.first
                                 ? " and " + std::to_string(cell.last - cell.first) + " after it"
                                 : "";
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.0f %%", 100 * cell.probability);
    return "<rect x=\"" + px(begin) + "\" y=\"" + px(belief_bottom - height) + "\" width=\"" +
           px(std::max(end - begin - 1, 2.)) + "\" height=\"" + px(height) + "\"><title>" +
           short_name(static_cast<std::size_t>(cell.first)) + more + ": " + percent +
           "</title></rect>";
  }

  const SearchPage& page_;
  double low_ = 0, high_ = 0;
  bool first_ = true;
};

std::string state_line(const SearchPage& page) {
  char text[160];
  std::snprintf(text, sizeof text, "%zu commits, %zu runs%s", page.commits.size() - 1,
                page.runs.size(), page.answer.empty() ? ", still searching" : "");
  return text;
}

}  // namespace

std::string page_text(const SearchPage& page) {
  const bool is_done = !page.answer.empty();
  return std::string("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">") +
         (is_done ? "" : "<meta http-equiv=\"refresh\" content=\"2\">") +
         "<meta name=\"viewport\" content=\"width=device-width\">"
         "<title>nightjar bisect run</title><style>" +
         style_sheet + "</style></head><body><h1>Which commit?</h1><p>" + state_line(page) +
         "</p><pre>" + with_entities(page.measure, markup) + "</pre>" + SearchPicture(page).text() +
         "<p>Above, each dot is a run of a commit. Below, a bar is the probability that a commit, "
         "or one of several, made a step.</p>" +
         (is_done ? "<pre>" + with_entities(page.answer, markup) + "</pre>" : "") +
         "</body></html>\n";
}

void write_page(const std::filesystem::path& file, const SearchPage& page) {
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    throw BadInput("cannot write the page " + file.string() + ": it is no regular file");
  try {
    write_durably(file, page_text(page));
  } catch (const std::system_error& error) {
    throw BadInput("cannot write the page " + file.string() + ": " + error.what());
  }
}

}  // namespace nightjar::cli
