// A page of an index. Written again by what was read of it, it must read the same, and no byte is
// looked at twice.
#include "service/builds/index_page.hpp"

#include <stdexcept>

#include "tests/fuzz/targets.hpp"
#include "web/anchors.hpp"

namespace nightjar::fuzz {
namespace {

using web::Anchor;

std::string page_of(const std::vector<Anchor>& anchors) {
  std::string page = "<!DOCTYPE html><html><body>\n";
  for (const Anchor& anchor : anchors) {
    page += "<a href=\"";
    for (const char c : anchor.href)
      page += c == '&'   ? "&amp;"
              : c == '"' ? "&quot;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
                         : std::string(1, c);
    page += anchor.yanked ? "\" data-yanked=\"\">wheel</a><br/>\n" : "\">wheel</a><br/>\n";
  }
  return page + "</body></html>\n";
}

constexpr const char* page_address = "https://wheels.test/nightly/cpu/torch/";

bool is_same(const Anchor& a, const Anchor& b) {
  return a.href == b.href && a.yanked == b.yanked;
}

}  // namespace

void index_page(std::string_view input) {
  std::size_t work = 0;
  const auto anchors = web::read_links(page_address, input, &work).anchors;
  require(work <= 2 * input.size(), "a page is looked at again and again");  // Latin-1 grows
  const auto again = web::read_links(page_address, page_of(anchors)).anchors;
  require(std::equal(anchors.begin(), anchors.end(), again.begin(), again.end(), is_same),
          "anchors change when they are written");
  service::IndexPage page;
  try {
    page = service::read_index_page(page_address, input, {"cpu", "cp311"});
  } catch (const std::runtime_error&) {
    require(anchors.empty(), "a page with links is no index");
    return;
  }
  std::string before;
  for (const service::ListedWheel& wheel : page.wheels) {
    require(wheel.date > before, "wheels are not in the order of their dates");
    require(wheel.url.starts_with("http://") || wheel.url.starts_with("https://"),
            "a wheel has no address that can be fetched");
    require(wheel.file_name.find('/') == wheel.file_name.npos, "a wheel's name has a folder");
    before = wheel.date;
  }
}

}  // namespace nightjar::fuzz
