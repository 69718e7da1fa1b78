// One page of a bucket's listing, S3's ListBucketResult. Pure; used by Bucket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::service::ci {

struct ListedObject {
  std::string key;  // "pytorch/pytorch/<run>/<environment>/artifacts.zip"
  std::uint64_t size_bytes = 0;
};

struct ListingPage {
  std::vector<ListedObject> objects;  // in the order of their keys
  std::string next;                   // continuation token; empty: the listing is complete
};

// Throws Unanswered if `xml` is no whole page of objects below `prefix`: a proxy's error page, a
// page that was cut off, one that says it is truncated and does not say how to go on.
ListingPage read_listing(std::string_view xml, std::string_view prefix);

}  // namespace nightjar::service::ci
