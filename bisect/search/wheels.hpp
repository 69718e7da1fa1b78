// The effects of wheels: what the model expects of them, and which are told apart from commits.
// Used inside `bisect/search` only.
#pragma once

#include "bisect/search/cholesky.hpp"
#include "bisect/search/model.hpp"

namespace nightjar::bisect::search {

// Standard deviations of effects before any wheel is measured: of an origin, of a wheel within its
// origin, and of an odd wheel. The first two are estimated from the runs once wheels are compared.
constexpr double usual_origin = .08, usual_wheel = .004, odd_wheel = .15;

inline double odd_variance(const Data& data) {
  return odd_wheel * odd_wheel * data.stretch * data.stretch;
}

// Prior of the effects of Data's wheels: normal with mean 0.
struct WheelPrior {
  Lower precision;         // full and symmetric
  double determinant = 0;  // log of the precision's
};
WheelPrior wheel_prior(const Data& data, const Noise& noise, int odd);

// What is expected of a wheel of this origin that was not measured: a share of the sum of its
// origin's measured effects, and the variance that this leaves open.
struct NewWheel {
  double share = 0, variance = 0;
};
NewWheel new_wheel(int origin, const Data& data, const Noise& noise, int odd);

// Whether Data's wheel counts as one of its origin.
inline bool is_of(int origin, std::size_t wheel, const Data& data, int odd) {
  return data.wheels[wheel].origin == origin && static_cast<int>(wheel) != odd;
}

}  // namespace nightjar::bisect::search
