#include "storage/model/workload_variant.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace nightjar {
namespace {

constexpr std::array<std::string_view, 2> sizes = {"paper", "small"};
constexpr int most_threads = 1024;

// Where the suffix "-tN" begins; the end of the text if it has none.
std::size_t thread_suffix(std::string_view backend) {
  const auto at = backend.rfind("-t");
  if (at == std::string_view::npos || at + 2 == backend.size() || backend[at + 2] == '0')
    return backend.size();
  return backend.find_first_not_of("0123456789", at + 2) == std::string_view::npos ? at
                                                                                   : backend.size();
}

}  // namespace

std::vector<std::string_view> model_sizes() {
  return {sizes.begin(), sizes.end()};
}

std::optional<std::string_view> size_of(const WorkloadName& name) {
  const auto model = name.model();
  const auto dash = model.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto last = model.substr(dash + 1);
  return std::find(sizes.begin(), sizes.end(), last) == sizes.end() ? std::nullopt
                                                                    : std::optional(last);
}

std::string_view model_without_size(const WorkloadName& name) {
  const auto size = size_of(name);
  return name.model().substr(0, name.model().size() - (size ? size->size() + 1 : 0));
}

std::optional<int> threads_of(const WorkloadName& name) {
  const auto backend = name.backend();
  const auto at = thread_suffix(backend);
  if (at == backend.size()) return std::nullopt;
  int threads = 0;
  const auto [end, error] =
      std::from_chars(backend.data() + at + 2, backend.data() + backend.size(), threads);
  return error == std::errc() && threads <= most_threads ? std::optional(threads) : std::nullopt;
}

std::string_view compiler_of(const WorkloadName& name) {
  return name.backend().substr(0, thread_suffix(name.backend()));
}

std::optional<WorkloadName> in_size(const WorkloadName& name, std::string_view size) {
  const auto own = size_of(name);
  if (!own) return std::nullopt;
  const auto at = static_cast<std::size_t>(own->data() - name.str().data());
  return WorkloadName::parse(std::string(name.str()).replace(at, own->size(), size));
}

std::optional<WorkloadName> with_threads(const WorkloadName& name, int threads) {
  return name.variant(name.precision(), name.batch(),
                      std::string(compiler_of(name)) + "-t" + std::to_string(threads));
}

}  // namespace nightjar
