// Cholesky factors of small dense symmetric systems, stored row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace nightjar::bisect::search {

// Lower triangle of a size x size matrix; factored in place.
struct Lower {
  std::size_t size = 0;
  std::vector<double> cells;

  void reset(std::size_t to) {
    size = to;
    cells.assign(to * to, 0.0);
  }
  double& at(std::size_t row, std::size_t column) { return cells[row * size + column]; }
  double at(std::size_t row, std::size_t column) const { return cells[row * size + column]; }

  // Cholesky; returns the log determinant.
  double factor() {
    double log = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double* row = &cells[i * size];
      for (std::size_t j = 0; j <= i; ++j) {
        const double* other = &cells[j * size];
        double sum = row[j];
        for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
        if (j < i) {
          row[j] = sum / other[j];
        } else {
          row[i] = std::sqrt(std::max(sum, 1e-12));
          log += std::log(row[i]);
        }
      }
    }
    return 2 * log;
  }
  // b <- L^-1 b
  void forward(double* b) const {
    for (std::size_t i = 0; i < size; ++i) {
      double sum = b[i];
      for (std::size_t k = 0; k < i; ++k) sum -= cells[i * size + k] * b[k];
      b[i] = sum / cells[i * size + i];
    }
  }
  // b <- L^-T b
  void backward(double* b) const {
    for (std::size_t i = size; i-- > 0;) {
      b[i] /= cells[i * size + i];
      for (std::size_t k = 0; k < i; ++k) b[k] -= cells[i * size + k] * b[i];
    }
  }
};

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace nightjar::bisect::search
