#include "service/builds/ci/listing_xml.hpp"

#include <charconv>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <memory>
#include <optional>

#include "service/builds/ci/trouble.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::service::ci {

namespace {

constexpr std::size_t most_keys = 1000;  // of a page, as S3 has it

constexpr std::string_view s3_namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

std::string_view view(const xmlChar* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

[[noreturn]] void no_listing(const std::string& how) {
  throw Unanswered("the bucket's listing makes no sense: " + how);
}

bool is_element(const xmlNode& node, std::string_view name) {
  return node.type == XML_ELEMENT_NODE && view(node.name) == name && node.ns &&
         view(node.ns->href) == s3_namespace;
}

// The text of the child `name`; nullopt if there is none.
std::optional<std::string> text_of(const xmlNode& parent, std::string_view name) {
  for (xmlNode* child = parent.children; child; child = child->next) {
    if (!is_element(*child, name)) continue;
    const std::unique_ptr<xmlChar, decltype(xmlFree)> text(xmlNodeGetContent(child), xmlFree);
    return std::string(view(text.get()));
  }
  return std::nullopt;
}

std::string required(const xmlNode& parent, std::string_view name) {
  auto text = text_of(parent, name);
  if (!text) no_listing("it has no " + std::string(name));
  return *std::move(text);
}

std::uint64_t number(const std::string& text, std::string_view name) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    no_listing("its " + std::string(name) + " is " + in_quotes(text));
  return value;
}

}  // namespace

ListingPage read_listing(std::string_view xml, std::string_view prefix) {
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(
      xmlReadMemory(xml.data(), static_cast<int>(xml.size()), nullptr, nullptr,
                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING),
      xmlFreeDoc);
  // Its entities could stand for any amount of text.
  if (document && document->intSubset) no_listing("it has a document type");
  const xmlNode* root = document ? xmlDocGetRootElement(document.get()) : nullptr;
  if (!root || !is_element(*root, "ListBucketResult"))
    no_listing("it is no whole ListBucketResult document");
  if (required(*root, "Prefix") != prefix) no_listing("it is of another prefix");
  ListingPage page;
  for (xmlNode* child = root->children; child; child = child->next) {
    if (!is_element(*child, "Contents")) continue;
    ListedObject object{required(*child, "Key"), number(required(*child, "Size"), "Size")};
    if (!object.key.starts_with(prefix))
      no_listing("its key " + in_quotes(object.key) + " is not below it");
    page.objects.push_back(std::move(object));
    if (page.objects.size() > most_keys) no_listing("a page of it has more than 1000 keys");
  }
  if (number(required(*root, "KeyCount"), "KeyCount") != page.objects.size())
    no_listing("it does not have as many keys as it says");
  const std::string truncated = required(*root, "IsTruncated");
  if (truncated == "true") page.next = required(*root, "NextContinuationToken");
  if ((truncated != "true" && truncated != "false") || (truncated == "true" && page.next.empty()))
    no_listing("it does not say whether it goes on");
  return page;
}

}  // namespace nightjar::service::ci
