#include "service/engine/context.hpp"

#include "storage/model/json.hpp"

namespace nightjar::service {

void announce(const EngineContext& context, const Night& night) {
  const nlohmann::json told{{"id", night.id.value},
                            {"state", name_of(night.state)},
                            {"build", night.build ? night.build->value : 0}};
  context.publish("night", told.dump());
}

void announce(const EngineContext& context, const Regression& regression, RegressionState state) {
  const nlohmann::json told{{"id", regression.id.value}, {"state", name_of(state)}};
  context.publish("regression", told.dump());
}

void announce(const EngineContext& context, const Bisection& search, std::string_view what) {
  const nlohmann::json told{
      {"id", search.id.value},
      {"regression",
       search.regression ? nlohmann::json(search.regression->value) : nlohmann::json()},
      {"state", name_of(search.state)},
      {"what", what}};
  context.publish("bisection", told.dump());
}

}  // namespace nightjar::service
