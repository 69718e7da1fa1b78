// Posteriors against an independent implementation in Python (dense Laplace over all parameters,
// every hypothesis fitted, noise iterated to convergence), frozen in
// tests/bisect/data/reference-posteriors.csv. Compared: P(nothing), P(too small), the runs' sd, and
// P(a step) of every cell. The model is the same but for an improvement as a hypothesis of its own,
// the first guess of the sd and where its iterations end; tolerances: .03 for each probability, 8 %
// for the sd.
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "bisect/search/decide.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar::bisect;

namespace {

struct Frozen {
  std::string name;
  SearchLog log;
  double nothing = 0, too_small = 0, noise = 0;
  std::vector<CellMass> cells;
};

std::vector<Frozen> read_frozen() {
  std::ifstream file(nightjar::test::source_tree() / "tests/bisect/data/reference-posteriors.csv");
  REQUIRE(file);
  std::vector<Frozen> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    char comma = 0;
    std::getline(words, kind, ',');
    if (kind == "log") {
      out.emplace_back();
      words >> out.back().log.commits >> comma;
      std::getline(words, out.back().name);
    } else if (kind == "untestable") {
      words >> out.back().log.untestable.emplace_back();
    } else if (kind == "run") {
      auto& run = out.back().log.runs.emplace_back();
      words >> run.session >> comma >> run.commit >> comma >> run.value;
    } else if (kind == "expect") {
      words >> out.back().nothing >> comma >> out.back().too_small >> comma >> out.back().noise;
    } else if (kind == "cell") {
      auto& cell = out.back().cells.emplace_back();
      words >> cell.first >> comma >> cell.last >> comma >> cell.probability;
    }
  }
  return out;
}

double probability_of(const std::vector<CellMass>& cells, const CellMass& wanted) {
  for (const auto& cell : cells) {
    if (cell.first == wanted.first && cell.last == wanted.last) return cell.probability;
  }
  return 0;
}

}  // namespace

TEST_CASE("posteriors agree with the reference implementation") {
  const auto frozen = read_frozen();
  REQUIRE(frozen.size() == 12);
  for (const auto& one : frozen) {
    INFO(one.name);
    const auto posterior = search::infer(one.log, {});
    const auto belief = search::belief_of(posterior);
    CHECK(belief.noise == Approx(one.noise).epsilon(.08));
    CHECK(belief.nothing == Approx(one.nothing).margin(.03));
    CHECK(belief.too_small == Approx(one.too_small).margin(.03));
    for (const auto& cell : one.cells) {
      INFO("cell " << cell.first << " to " << cell.last);
      CHECK(probability_of(belief.cells, cell) == Approx(cell.probability).margin(.03));
    }
  }
}
