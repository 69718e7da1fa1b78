#include "service/cli/direction_options.hpp"

#include <CLI/CLI.hpp>

namespace nightjar::cli {

void add_direction_options(CLI::App& command, ChosenDirections& directions) {
  command
      .add_option("--higher", directions.higher,
                  "metrics of which more is better, where their names do not say so; a glob")
      ->allow_extra_args(false);
  command
      .add_option("--lower", directions.lower,
                  "metrics of which less is better, where their names do not say so; a glob")
      ->allow_extra_args(false);
}

}  // namespace nightjar::cli
