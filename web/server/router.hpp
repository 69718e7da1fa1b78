// Which route answers a path. Patterns are literal segments and {names}; a literal goes before a
// name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/server/server.hpp"
#include "web/text.hpp"

namespace nightjar::web {

// A route, or a stream of events in its place.
struct Endpoint {
  Route route;
  std::shared_ptr<EventStream::Impl> events;
  std::vector<std::string> segments;
};

struct Match {
  std::shared_ptr<const Endpoint> endpoint;
  std::map<std::string, std::string> parameters;
  std::string allow;  // methods that the path has, if it is known but `method` is not among them
};

class Router {
 public:
  void add(Endpoint endpoint);
  // HEAD finds GET's route where it has none of its own. `method` nullopt: one we never serve.
  Match match(std::optional<Method> method, const Target& target) const;

 private:
  std::map<std::string, std::vector<std::shared_ptr<const Endpoint>>> literal_;
  std::vector<std::shared_ptr<const Endpoint>> patterns_;
};

std::optional<Method> parse_method(std::string_view text);

}  // namespace nightjar::web
