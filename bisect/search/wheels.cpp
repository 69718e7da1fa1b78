#include "bisect/search/wheels.hpp"

namespace nightjar::bisect::search {

WheelPrior wheel_prior(const Data& data, const Noise& noise, int odd) {
  const std::size_t n = data.wheels.size();
  Lower factor;
  factor.reset(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      if (data.wheels[i].origin == data.wheels[j].origin) factor.at(i, j) = noise.origin;
    factor.at(i, i) += noise.wheel;
    if (static_cast<int>(i) == odd) factor.at(i, i) += odd_variance(data);
  }
  WheelPrior out;
  out.determinant = -factor.factor();
  out.precision.reset(n);
  std::vector<double> column(n);
  for (std::size_t j = 0; j < n; ++j) {
    std::fill(column.begin(), column.end(), 0.0);
    column[j] = 1;
    factor.forward(column.data());
    factor.backward(column.data());
    for (std::size_t i = 0; i < n; ++i) out.precision.at(i, j) = column[i];
  }
  return out;
}

NewWheel new_wheel(int origin, const Data& data, const Noise& noise, int odd) {
  double known = 0;
  for (std::size_t w = 0; w < data.wheels.size(); ++w) known += is_of(origin, w, data, odd);
  const double share = noise.origin / (noise.wheel + known * noise.origin);
  return {share, noise.wheel + noise.origin - known * share * noise.origin};
}

}  // namespace nightjar::bisect::search
