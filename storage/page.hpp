// Keyset paging of lists: newest first, a cursor names the last id seen.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nightjar::storage {

struct PageRequest {
  int limit = 50;                      // 1 to 500
  std::optional<std::int64_t> before;  // the cursor: ids below it
};

template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::int64_t> next;  // cursor of the next page
};

}  // namespace nightjar::storage
