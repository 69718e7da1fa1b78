#include <algorithm>
#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <memory>
#include <new>

#include "service/builds/index_page.hpp"

namespace nightjar::service {

namespace {

std::string_view view(const xmlChar* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r\f";
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

// One pass of the parser. It stops behind a tag that swallowed others, since its quote is never
// closed, and `next` is then where the last of those begins.
struct Pass {
  std::string_view html;
  std::vector<Anchor>& anchors;
  std::unique_ptr<htmlParserCtxt, decltype(&htmlFreeParserCtxt)> parser{
      htmlCreateMemoryParserCtxt(html.data(), static_cast<int>(html.size())), &htmlFreeParserCtxt};
  std::size_t next = 0;

  // A value may have "&lt;a" in it; then the last tag that begins is the one it belongs to.
  bool stopped_by(std::string_view value) {
    if (value.find("<a ") == value.npos && value.find("</a") == value.npos) return false;
    const auto consumed = static_cast<std::size_t>(xmlByteConsumed(parser.get()));
    const auto last = html.substr(0, consumed).rfind('<');
    if (last == html.npos || last == 0) return false;
    next = last;
    xmlStopParser(parser.get());
    return true;
  }

  void take_anchor(const xmlChar** attribute) {
    std::optional<Anchor> anchor;
    bool yanked = false;
    for (; attribute && attribute[0]; attribute += 2) {
      const std::string_view name = view(attribute[0]), value = view(attribute[1]);
      if (stopped_by(value)) return;
      if (name == "href") anchor = Anchor{std::string(trim(value))};
      yanked |= name == "data-yanked";
    }
    if (!anchor) return;
    anchor->yanked = yanked;
    anchors.push_back(std::move(*anchor));
  }

  static void on_element(void* pass, const xmlChar* name, const xmlChar** attributes) noexcept {
    if (view(name) == "a") static_cast<Pass*>(pass)->take_anchor(attributes);
  }

  void run() {
    if (!parser) throw std::bad_alloc();
    *parser->sax = {};
    parser->sax->startElement = &on_element;
    parser->userData = this;
    htmlCtxtUseOptions(parser.get(), HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOIMPLIED |
                                         HTML_PARSE_IGNORE_ENC);
    xmlSwitchEncoding(parser.get(), XML_CHAR_ENCODING_UTF8);
    htmlParseDocument(parser.get());
  }
};

// Bytes that are no UTF-8 are taken for Latin-1. libxml2 would do so too, but then count wrongly.
std::string in_utf8(std::string page) {
  std::replace(page.begin(), page.end(), '\0', ' ');  // which would be the end for libxml2
  const auto* bytes = reinterpret_cast<const unsigned char*>(page.c_str());
  if (xmlCheckUTF8(bytes)) return page;
  int from = static_cast<int>(page.size()), to = 2 * from;
  std::string converted(static_cast<std::size_t>(to), '\0');
  isolat1ToUTF8(reinterpret_cast<unsigned char*>(converted.data()), &to, bytes, &from);
  converted.resize(static_cast<std::size_t>(to));
  return converted;
}

}  // namespace

std::vector<Anchor> read_anchors(std::string_view html) {
  std::vector<Anchor> anchors;
  // Without a tag that is cut off.
  const std::string page = in_utf8(std::string(html.substr(0, html.rfind('>') + 1)));
  std::string_view rest = page;
  while (!rest.empty()) {
    Pass pass{rest, anchors};
    pass.run();
    rest.remove_prefix(pass.next > 0 ? pass.next : rest.size());
  }
  return anchors;
}

}  // namespace nightjar::service
