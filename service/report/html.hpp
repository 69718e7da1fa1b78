// Our reports as a web page of their own, for mail and for files.
#pragma once

#include <string>
#include <string_view>

namespace nightjar::service {

// The HTML document of a report. It knows the Markdown that reports have: headings, paragraphs,
// lists, tables, links, code and bold. All else shows as written; no markup gets through.
std::string html_page(std::string_view title, std::string_view markdown);

// The text of the page's <style>, for the policy that it is served with.
std::string_view html_style();

}  // namespace nightjar::service
