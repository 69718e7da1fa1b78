#include "harness/kernels.hpp"

#include <ATen/record_function.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <unistd.h>

#include "harness/kernel_trace.hpp"

namespace nightjar::workloads {
namespace {
namespace profiler = torch::autograd::profiler;
namespace impl = torch::profiler::impl;

constexpr int warm_iterations = 1;   // a profiler's first iteration makes its own memory
constexpr int least_iterations = 3;  // however slow they are
constexpr double longest = 5;        // seconds that the others take at most
constexpr std::size_t longest_reason = 300;

// A file that is gone with the object.
class TemporaryFile {
 public:
  TemporaryFile() : path_((std::filesystem::temp_directory_path() / "traceXXXXXX.json").string()) {
    const int file = mkstemps(path_.data(), 5);
    if (file < 0) throw std::runtime_error("cannot make " + path_);
    close(file);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

// Returns the profiler's trace of `iterations` iterations.
std::string traced(const std::function<void()>& step, int iterations) {
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
  const std::set<impl::ActivityType> activities{impl::ActivityType::CPU, impl::ActivityType::CUDA};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities,
                           {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
  for (int i = 0; i < iterations; ++i) {
    RECORD_USER_SCOPE(iteration_mark);
    step();
  }
  const auto result = profiler::disableProfiler();
  const TemporaryFile file;
  result->save(file.path());
  return file.text();
}

}  // namespace

void time_kernels(const std::function<void()>& step, int iterations, double seconds,
                  OnDevice& found) {
  try {
    traced(step, warm_iterations);
    const int fits =
        std::min(iterations, std::max(least_iterations, static_cast<int>(longest / seconds)));
    found.kernels = kernel_seconds(traced(step, fits), static_cast<std::size_t>(fits));
  } catch (const std::exception& error) {  // also what CUPTI refuses
    const std::string text = error.what();
    found.kernels_missing = text.substr(0, std::min(text.find('\n'), longest_reason));
  }
}

}  // namespace nightjar::workloads
