// Shows how likely each commit is while a search runs: a bar chart on a terminal, a line elsewhere.
#pragma once

#include <string>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::cli {

class Chart {
 public:
  explicit Chart(bool terminal) : terminal_(terminal) {}
  // To standard error; on a terminal it replaces what it drew before.
  void show(const bisect::Belief& belief, std::size_t runs,
            const std::vector<std::string>& commits);
  // What is printed next stands below the chart.
  void leave() { drawn_ = 0; }

 private:
  bool terminal_;
  int drawn_ = 0;  // lines
};

// The chart's lines: the likeliest cells, then nobody; bars of at most `width` columns.
std::vector<std::string> chart_lines(const bisect::Belief& belief, std::size_t runs,
                                     const std::vector<std::string>& commits, int width);
// The same in one line: the likeliest cell, and what else holds a step with at least 20 %.
std::string chart_text(const bisect::Belief& belief, std::size_t runs,
                       const std::vector<std::string>& commits);

}  // namespace nightjar::cli
