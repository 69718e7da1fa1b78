#include "service/cli/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "service/cli/bench.hpp"

namespace nightjar::cli {
namespace {

constexpr std::size_t cell_count = 6;
constexpr int bar_width = 30;
constexpr double worth_naming = .2;  // in a line of text; the likeliest always is

std::string headline(const bisect::Belief& belief, std::size_t runs) {
  char text[120];
  const int used = std::snprintf(text, sizeof text, "%zu runs", runs);
  if (belief.expected_runs > 0)
    std::snprintf(text + used, sizeof text - static_cast<std::size_t>(used), ", some %.0f to go",
                  belief.expected_runs);
  return text;
}

std::string cell_name(const bisect::CellMass& cell, const std::vector<std::string>& commits) {
  std::string name = short_name(commits.at(static_cast<std::size_t>(cell.first)));
  if (cell.last > cell.first)
    name += " and " + std::to_string(cell.last - cell.first) + " after it";
  return name;
}

std::string bar_line(const std::string& name, double probability, int width) {
  char text[200];
  std::string bar;
  for (int i = 0; i < static_cast<int>(std::lround(probability * width)); ++i) bar += "█";
  if (bar.empty()) bar = "▏";
  std::snprintf(text, sizeof text, "  %-28s %s %.0f %%", name.c_str(), bar.c_str(),
                100 * probability);
  return text;
}

}  // namespace

std::vector<std::string> chart_lines(const bisect::Belief& belief, std::size_t runs,
                                     const std::vector<std::string>& commits, int width) {
  std::vector<std::string> lines{headline(belief, runs)};
  if (runs == 0) return lines;  // the prior tells nothing about this search
  const std::size_t shown = std::min(belief.cells.size(), cell_count);
  for (std::size_t i = 0; i < shown; ++i)
    lines.push_back(
        bar_line(cell_name(belief.cells[i], commits), belief.cells[i].probability, width));
  lines.push_back(bar_line("nobody", belief.nothing + belief.too_small, width));
  return lines;
}

std::string chart_text(const bisect::Belief& belief, std::size_t runs,
                       const std::vector<std::string>& commits) {
  std::string text = headline(belief, runs);
  if (runs == 0) return text;
  for (std::size_t i = 0; i < belief.cells.size(); ++i) {
    const bisect::CellMass& cell = belief.cells[i];
    if (i > 0 && cell.probability < worth_naming) break;
    char share[40];
    std::snprintf(share, sizeof share, ": %.0f %%", 100 * cell.probability);
    text += "; " + cell_name(cell, commits) + share;
  }
  return text;
}

void Chart::show(const bisect::Belief& belief, std::size_t runs,
                 const std::vector<std::string>& commits) {
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", chart_text(belief, runs, commits).c_str());
    return;
  }
  const auto lines = chart_lines(belief, runs, commits, bar_width);
  if (drawn_ > 0) std::fprintf(stderr, "\x1b[%dA\x1b[J", drawn_);
  for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  drawn_ = static_cast<int>(lines.size());
}

}  // namespace nightjar::cli
