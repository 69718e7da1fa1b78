// Whether the commits that a search names are a culprit or only a range. Used when a search ends
// and when its verdict is verified.
#pragma once

#include <map>
#include <vector>

#include "bisect/search.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::evidence {

// What a measured commit's libraries were compiled from: the native state of its wheel, and the
// positions first..last of the commits whose headers those libraries lack, or have too early, since
// the headers were laid over. last < first: they are the commit's own.
struct Libraries {
  Sha256 native_state;
  int first = 0, last = -1;
};

struct Naming {
  int max_named = 3;                      // a culprit is at most this many neighbours
  std::map<int, UntestableCause> causes;  // of the log's untestable commits, by position
  std::map<int, Libraries> libraries;     // of measured commits, where headers were laid over
};

struct NamedEnd {
  bisect::NamedStep step;
  bool is_range = false;
};

// A culprit is one commit, or at most `max_named` of which all but the last were tried. Every wider
// step is a range. A step is also a range if it has a commit that nobody could try, or if its sides
// ran on wheels that may differ. A step between libraries that were compiled from different headers
// is widened by the commits of those headers, since their change may lie in the libraries. Several
// small steps, one of which is a range, are one range from the first to the last.
std::vector<NamedEnd> ends_of(const bisect::Answer& answer, const Naming& naming);

// "range" if the search named steps and none of them is a culprit; else the answer's own outcome.
std::string_view outcome_word(const bisect::Answer& answer, const std::vector<NamedEnd>& ends);

}  // namespace nightjar::evidence
