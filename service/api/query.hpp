// Query parameters and path ids as types; what is no good is Refused (400, or 404 for a path).
// Internal to the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "service/api/respond.hpp"
#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/time.hpp"
#include "storage/page.hpp"

namespace nightjar::service::api {

[[noreturn]] void refuse_value(std::string_view name, std::string_view value,
                               std::string_view wanted);

// A positive 64-bit number; nullopt if `text` is none.
std::optional<std::int64_t> parse_id(std::string_view text);

template <class Id>
Id path_id(const web::Request& request) {
  const auto& text = request.parameters.at("id");
  if (const auto value = parse_id(text)) return Id{*value};
  throw Refused(404, "Not found", "'" + text + "' is no id.");
}

template <class Id>
std::optional<Id> query_id(const web::Request& request, std::string_view name) {
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  if (const auto value = parse_id(*text)) return Id{*value};
  refuse_value(name, *text, "a positive number");
}

template <class E>
std::optional<E> query_enum(const web::Request& request, std::string_view name) {
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  if (const auto value = enum_from<E>(*text)) return value;
  refuse_value(name, *text, "one of " + std::string(enum_names(E{})));
}

// 1 to 500.
int query_limit(const web::Request& request, int otherwise = 50);
storage::PageRequest query_page(const web::Request& request);
std::optional<std::string> query_metric(const web::Request& request);
std::optional<std::string> query_glob(const web::Request& request, std::string_view name);
std::optional<Time> query_time(const web::Request& request, std::string_view name);
std::optional<CommitSha> query_commit(const web::Request& request, std::string_view name);

}  // namespace nightjar::service::api
