// The C++ twin of wave.py.
#include "harness/case.hpp"

namespace nightjar::workloads::wave {

constexpr double courant = 0.4;  // (speed * time step / grid spacing) squared; stable below .5

// The field without its edges, moved by a row or a column: (1, 1) is not moved.
torch::Tensor inner(const torch::Tensor& field, std::int64_t row, std::int64_t column) {
  return field.narrow(0, row, field.size(0) - 2).narrow(1, column, field.size(1) - 2);
}

Step make(Case& made_for) {
  const auto points = made_for.size("points"), steps = made_for.size("steps");
  const auto begin = made_for.uniform("field", {points, points});
  return [begin, steps] {
    torch::Tensor before = begin.clone(), now = begin.clone();
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto here = inner(now, 1, 1), old = inner(before, 1, 1);
      const auto bent =
          inner(now, 2, 1) + inner(now, 0, 1) + inner(now, 1, 2) + inner(now, 1, 0) - 4 * here;
      old.copy_(2 * here - old + courant * bent);
      std::swap(before, now);
    }
    return now;
  };
}

const Registration registered{"wave", make};

}  // namespace nightjar::workloads::wave
