// Rows into values, and lists with filters into pages. Private to this folder.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/chosen_workloads.hpp"
#include "storage/page.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

// The first row as `read` makes it; nullopt if there is none.
template <class Read>
auto read_one(Statement& statement, Read read) {
  using T = decltype(read(statement));
  return statement.step() ? std::optional<T>(read(statement)) : std::nullopt;
}

template <class Read>
auto read_all(Statement& statement, Read read) {
  std::vector<decltype(read(statement))> items;
  while (statement.step()) items.push_back(read(statement));
  return items;
}

// A list newest first, with the conditions that apply: their SQL, and their values in order.
class Query {
 public:
  explicit Query(std::string_view select, std::string_view id = "id") : sql_(select), id_(id) {}

  // Adds `condition`, with a `?` for the value, if there is a value.
  template <class T>
  Query& where(std::string_view condition, const std::optional<T>& value) {
    if (!value) return *this;
    add(condition);
    binders_.push_back([value = *value](Statement& statement) { statement.bind(value); });
    return *this;
  }

  // The conditions of a list's filter; see storage/page.hpp.
  template <class Filter>
  Query& filter(const Database& db, const Filter& filter) {
    filter.conditions([&](std::string_view condition, const auto& value) {
      where(condition, bindable(db, value));
    });
    return *this;
  }

  // Items must have an id; it is the cursor.
  template <class T, class Read>
  Page<T> page(const Database& db, const PageRequest& request, Read read) {
    where(id_ + " < ?", request.before);
    const int limit = std::clamp(request.limit, 1, 500);
    sql_ += " ORDER BY " + id_ + " DESC LIMIT ?";
    Statement statement(db, sql_);
    // The values live in the binders, hence as long as the statement runs.
    for (const auto& bind : binders_) bind(statement);
    statement.bind(limit + 1);
    Page<T> page;
    page.items = read_all(statement, read);
    if (std::cmp_greater(page.items.size(), limit)) {
      page.items.pop_back();
      page.next = number(page.items.back().id);
    }
    return page;
  }

 private:
  void add(std::string_view condition) {
    sql_ += binders_.empty() ? " WHERE " : " AND ";
    sql_ += condition;
  }
  template <class T>
  static const std::optional<T>& bindable(const Database&, const std::optional<T>& value) {
    return value;
  }
  static std::optional<std::string> bindable(const Database& db, const WorkloadFilter& filter) {
    return workloads_that_match(db, filter);
  }
  // A list in JSON. No text of these types has a character that JSON escapes.
  template <class T>
  static std::optional<std::string> bindable(const Database&,
                                             const std::optional<std::vector<T>>& values) {
    if (!values) return std::nullopt;
    std::string list;
    for (const T& value : *values) {
      list += list.empty() ? "\"" : ",\"";
      if constexpr (std::is_enum_v<T>)
        list += name_of(value);
      else
        list += value.str();
      list += '"';
    }
    return "[" + list + "]";
  }
  static std::int64_t number(std::int64_t id) { return id; }
  template <class Tag>
  static std::int64_t number(Id<Tag> id) {
    return id.value;
  }

  std::string sql_;
  std::string id_;
  std::vector<std::function<void(Statement&)>> binders_;
};

}  // namespace nightjar::storage
