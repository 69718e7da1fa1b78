// The options --higher and --lower, which several commands have.
#pragma once

#include "service/cli/metric_direction.hpp"

namespace CLI {
class App;
}

namespace nightjar::cli {

void add_direction_options(CLI::App& command, ChosenDirections& directions);

}  // namespace nightjar::cli
