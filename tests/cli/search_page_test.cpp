#include "service/cli/search_page.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::cli;

namespace {

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the page of a search has a dot for each run and a bar for each likely commit") {
  SearchPage page{"./bench <large> | tail -1",
                  {std::string(40, 'a'), std::string(40, 'b'), std::string(40, 'c')},
                  {{0, 0, 1.5, -1}, {0, 2, 3, -1}, {1, 1, 1.5, -1}},
                  {},
                  ""};
  page.belief.cells = {{2, 2, .9}, {1, 1, .05}};
  const std::string running = page_text(page);
  CHECK(count_of(running, "<circle") == 3);
  CHECK(count_of(running, "<rect") == 2);
  CHECK(running.find("cccccccccccc: 90 %") != std::string::npos);
  CHECK(running.find("./bench &lt;large> | tail -1") != std::string::npos);
  CHECK(count_of(running, "http-equiv=\"refresh\"") == 1);
  // The higher number stands higher, and in the column of its commit.
  CHECK(running.find("<circle cx=\"864.0\" cy=\"16.0\"") != std::string::npos);

  page.answer = "a commit is named";
  const std::string done = page_text(page);
  CHECK(count_of(done, "http-equiv=\"refresh\"") == 0);
  CHECK(done.find("<pre>a commit is named</pre>") != std::string::npos);
}
