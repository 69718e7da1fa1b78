// A public S3 bucket, read without credentials: what lies below a prefix, and whether an object is
// there. Used by CiRung. Every function throws Unanswered if there is no answer now, or only a 403.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/builds/ci/listing_xml.hpp"
#include "service/builds/ci/remote_zip.hpp"
#include "web/client.hpp"

namespace nightjar::service::ci {

class Bucket {
 public:
  // `url` without slash at its end. `client` must outlive this object.
  Bucket(web::Client& client, std::string url);

  // All objects below `prefix`, read page by page to the last. Never a part of them: a page that
  // does not come is an exception.
  std::vector<ListedObject> list(std::string_view prefix);
  // HEAD. Throws Gone if there is no such object (any more).
  RemoteObject head(std::string_view key);
  RemoteObject head_at(const std::string& url);

 private:
  std::string url_of(std::string_view key) const;

  web::Client& client_;
  std::string url_;
};

}  // namespace nightjar::service::ci
