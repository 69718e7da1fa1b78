#include "storage/natural_order.hpp"

#include <catch2/catch.hpp>

using nightjar::storage::natural_compare;

TEST_CASE("versions are ordered as people read them") {
  const char* ordered[] = {"",       "2",      "2.9.0", "2.9.0+cpu", "2.10.0",
                           "2.10.1", "2.10.a", "10",    "a",         "a1"};
  for (std::size_t i = 0; i < std::size(ordered); ++i)
    for (std::size_t j = 0; j < std::size(ordered); ++j) {
      INFO(ordered[i] << " and " << ordered[j]);
      const int order = natural_compare(ordered[i], ordered[j]);
      CHECK((order < 0) == (i < j));
      CHECK((order > 0) == (i > j));
    }
  CHECK(natural_compare("2.09", "2.9") == 0);
}
