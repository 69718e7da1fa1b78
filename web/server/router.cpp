#include "web/server/router.hpp"

#include <sstream>

namespace nightjar::web {
namespace {

bool is_name(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool fits(const Endpoint& endpoint, const Target& target) {
  if (endpoint.segments.size() != target.segments.size()) return false;
  for (std::size_t i = 0; i < endpoint.segments.size(); ++i)
    if (!is_name(endpoint.segments[i]) && endpoint.segments[i] != target.segments[i]) return false;
  return true;
}

bool serves(const Endpoint& endpoint, std::optional<Method> method) {
  return method && (endpoint.route.method == *method ||
                    (*method == Method::head && endpoint.route.method == Method::get));
}

void allow(std::string& list, Method method) {
  if (!list.empty()) list += ", ";
  list += method_text(method);
  if (method == Method::get) list += ", HEAD";
}

}  // namespace

std::optional<Method> parse_method(std::string_view text) {
  for (const Method method : all_of<Method>())
    if (method_text(method) == text) return method;
  return std::nullopt;
}

void Router::add(Endpoint endpoint) {
  // Split like a target in parse_target(): "/" at the end is an empty segment.
  std::istringstream pattern(endpoint.route.pattern.substr(1) + '/');
  for (std::string segment; std::getline(pattern, segment, '/');)
    endpoint.segments.push_back(segment);
  auto kept = std::make_shared<const Endpoint>(std::move(endpoint));
  if (kept->route.pattern.find('{') == std::string::npos)
    literal_[kept->route.pattern].push_back(kept);
  else
    patterns_.push_back(kept);
}

Match Router::match(std::optional<Method> method, const Target& target) const {
  Match match;
  const auto consider = [&](const std::shared_ptr<const Endpoint>& endpoint) {
    if (match.endpoint) return;
    if (serves(*endpoint, method))
      match.endpoint = endpoint;
    else
      allow(match.allow, endpoint->route.method);
  };
  if (const auto found = literal_.find(target.path); found != literal_.end())
    for (const auto& endpoint : found->second)
      if (fits(*endpoint, target)) consider(endpoint);
  if (match.endpoint || !match.allow.empty()) return match;
  for (const auto& endpoint : patterns_)
    if (fits(*endpoint, target)) consider(endpoint);
  if (match.endpoint)
    for (std::size_t i = 0; i < target.segments.size(); ++i)
      if (const auto& name = match.endpoint->segments[i]; is_name(name))
        match.parameters[name.substr(1, name.size() - 2)] = target.segments[i];
  return match;
}

}  // namespace nightjar::web
