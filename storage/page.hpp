// Keyset paging of lists: newest first, a cursor names the last id seen. What a list is filtered by
// is a struct of optional values; its `conditions` has the SQL of each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nightjar::storage {

// SQL: whether this column is one of a list that is bound. The plus keeps SQLite from taking the
// column's index: then it would sort all rows for each page.
#define IS_AMONG(column) "+" column " IN (SELECT value FROM json_each(?))"

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
