// JSON from outside that is too large to be held as a document: items are handed over as they end,
// numbers go straight into lists, and what is held meanwhile has a limit. Used for bodies of
// results and of histories. Brings json.hpp along: see SLOW in tests/star_test.py.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/json.hpp"

namespace nightjar {

// Where something is in a document: names of members, "*" for each item of a list.
using JsonPath = std::vector<std::string>;

struct StreamLimits {
  std::size_t held_bytes = 0;  // of what is not handed over yet, roughly as the library holds it
  std::size_t text_bytes = 0;  // of one text, as it is written
  std::size_t numbers = 0;     // in all lists of numbers together
};

struct StreamSink {
  // Where the numbers of the list at this path go, which is empty in its item then. nullptr: it is
  // no such list. The place must stay until the item is taken.
  std::function<std::vector<double>*(const JsonPath&)> numbers;
  // Takes the object at this path, which is then left out of what is around it. False: not taken.
  std::function<bool(const JsonPath&, nlohmann::json& item)> take;
};

// What a text may not be; says which limit it breaks.
class StreamRefused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is left of `text` once the sink has what it takes; a discarded value if it is no JSON, or is
// nested absurdly deep. Throws StreamRefused above a limit, and for anything else than numbers in a
// list of numbers.
nlohmann::json read_stream(std::string_view text, const StreamLimits& limits,
                           const StreamSink& sink);

}  // namespace nightjar
