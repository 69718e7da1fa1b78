#include <algorithm>

#include "bisect/search/decide.hpp"

namespace nightjar::bisect::search {

namespace {

// P(all of the claim's gaps hold real worsenings) and P(they do, and there is another).
void weigh(Claim& claim, const Posterior& posterior) {
  for (std::size_t i = 0; i < posterior.fits.size(); ++i) {
    const Fit& fit = posterior.fits[i];
    const Hypothesis& h = fit.hypothesis;
    if (h.kind == Kind::nothing || h.kind == Kind::better) continue;
    const bool holds =
        std::all_of(claim.gaps.begin(), claim.gaps.end(), [&](int gap) { return h.has(gap); });
    if (!holds) continue;
    double real = 1, alone = 1;
    for (std::size_t k = 0; h.kind == Kind::steps && k < static_cast<std::size_t>(h.count); ++k) {
      if (claim.has(h.gaps[k])) {
        real *= fit.worse[k];
      } else {
        alone *= 1 - fit.relevant[k];
      }
    }
    claim.all_real += posterior.share[i] * real;
    claim.further += posterior.share[i] * (1 - alone);
  }
}

}  // namespace

Claim claim(const Posterior& posterior) {
  Claim out;
  out.fit = posterior.best_steps();
  if (out.fit < 0) return out;
  const Fit& best = posterior.fits[static_cast<std::size_t>(out.fit)];
  for (int k = 0; k < best.hypothesis.count; ++k) {
    if (best.worse[static_cast<std::size_t>(k)] > .5) {
      out.gaps.push_back(best.hypothesis.gaps[static_cast<std::size_t>(k)]);
    }
  }
  weigh(out, posterior);
  return out;
}

Claim certain_part(const Claim& claim, const Posterior& posterior, const SearchLog& log,
                   const SearchPolicy& policy) {
  Claim out;
  out.fit = claim.fit;
  for (const int gap : claim.gaps) {
    Claim one;
    one.fit = claim.fit;
    one.gaps = {gap};
    weigh(one, posterior);
    if (one.all_real >= needed_certainty(policy) && is_cell(gap, posterior.data, log) &&
        !confirmation(one, posterior, log, policy)) {
      out.gaps.push_back(gap);
    }
  }
  weigh(out, posterior);
  return out;
}

double chance_of_step(int gap, const Posterior& posterior) {
  Claim one;
  one.gaps = {gap};
  weigh(one, posterior);
  return std::min(one.all_real, 1.0);
}

bool is_cell(int gap, const Data& data, const SearchLog& log) {
  const int from = data.commits[static_cast<std::size_t>(gap)];
  const int to = data.commits[static_cast<std::size_t>(gap) + 1];
  for (int commit = from + 1; commit < to; ++commit) {
    if (std::find(log.untestable.begin(), log.untestable.end(), commit) == log.untestable.end()) {
      return false;
    }
  }
  return true;
}

bool all_cells(const Claim& claim, const Data& data, const SearchLog& log) {
  return !claim.gaps.empty() && std::all_of(claim.gaps.begin(), claim.gaps.end(),
                                            [&](int gap) { return is_cell(gap, data, log); });
}

Belief belief_of(const Posterior& posterior) {
  Belief out;
  out.nothing = posterior.nothing;
  out.too_small = posterior.too_small;
  out.noise = std::sqrt(posterior.noise.run) * posterior.data.unit;
  for (int gap = 0; gap < posterior.data.gaps(); ++gap) {
    double sum = 0;
    for (std::size_t i = 0; i < posterior.fits.size(); ++i) {
      const Fit& fit = posterior.fits[i];
      if (fit.hypothesis.kind != Kind::steps) continue;
      for (std::size_t k = 0; k < static_cast<std::size_t>(fit.hypothesis.count); ++k) {
        if (fit.hypothesis.gaps[k] == gap) sum += posterior.share[i] * fit.worse[k];
      }
    }
    if (sum <= .001) continue;
    const auto at = static_cast<std::size_t>(gap);
    out.cells.push_back(
        {posterior.data.commits[at] + 1, posterior.data.commits[at + 1], std::min(sum, 1.0)});
  }
  std::stable_sort(out.cells.begin(), out.cells.end(), [](const CellMass& a, const CellMass& b) {
    return a.probability > b.probability;
  });
  return out;
}

}  // namespace nightjar::bisect::search
