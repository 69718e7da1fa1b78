#include "service/builds/ci/bucket.hpp"

#include <charconv>

#include "service/builds/ci/trouble.hpp"
#include "service/report/github_rest.hpp"
#include "storage/base/foreign_text.hpp"
#include "web/retry_after.hpp"

namespace nightjar::service::ci {

namespace {

constexpr std::size_t bucket_page_bytes = 8u << 20;  // a page of 1000 keys has 300 KiB
constexpr int most_bucket_pages = 100;

// Throws unless an answer came.
web::ClientResponse send(web::Client& client, const web::ClientRequest& request) {
  web::Client::Result result = client.send(request);
  if (!result) throw Unanswered(result.failure.what);
  return *std::move(result.response);
}

std::string answered(const web::ClientRequest& request, const web::ClientResponse& response) {
  return request.method + " " + request.url + ": the bucket answered " +
         std::to_string(response.status);
}

}  // namespace

Bucket::Bucket(web::Client& client, std::string url) : client_(client), url_(std::move(url)) {}

// S3 takes a '+' in a path for a space, so each part is encoded.
std::string Bucket::url_of(std::string_view key) const {
  std::string url = url_;
  for (;;) {
    const auto slash = key.find('/');
    url += "/" + encoded(std::string(key.substr(0, slash)));
    if (slash == std::string_view::npos) return url;
    key.remove_prefix(slash + 1);
  }
}

std::vector<ListedObject> Bucket::list(std::string_view prefix) {
  std::vector<ListedObject> objects;
  std::string token;
  for (int page = 0; page < most_bucket_pages; ++page) {
    web::ClientRequest request;
    request.url = url_ + "/?list-type=2&prefix=" + encoded(std::string(prefix));
    if (!token.empty()) request.url += "&continuation-token=" + encoded(token);
    request.response_limit = bucket_page_bytes;
    const web::ClientResponse response = send(client_, request);
    if (response.status != 200)
      throw Unanswered(answered(request, response), web::retry_after(response.headers));
    ListingPage read = read_listing(response.body, prefix);
    objects.insert(objects.end(), read.objects.begin(), read.objects.end());
    if (read.next.empty()) return objects;
    token = std::move(read.next);
  }
  throw Unanswered("the bucket's listing below " + std::string(prefix) + " has more than " +
                   std::to_string(most_bucket_pages) + " pages");
}

RemoteObject Bucket::head(std::string_view key) {
  return head_at(url_of(key));
}

RemoteObject Bucket::head_at(const std::string& url) {
  web::ClientRequest request;
  request.method = "HEAD";
  request.url = url;
  const web::ClientResponse response = send(client_, request);
  if (response.status == 404 || response.status == 410) throw Gone(answered(request, response));
  const auto length = response.headers.find("content-length");
  const auto etag = response.headers.find("etag");
  RemoteObject object{request.url, 0, ""};
  // If-Match compares strongly, so a weak ETag never matches (RFC 9110, 13.1.1).
  if (etag != response.headers.end() && !etag->second.starts_with("W/")) object.etag = etag->second;
  if (response.status != 200 || length == response.headers.end())
    throw Unanswered(answered(request, response), web::retry_after(response.headers));
  const std::string& text = length->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), object.size_bytes);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    throw Unanswered(answered(request, response) + " with the length " + in_quotes(text));
  return object;
}

}  // namespace nightjar::service::ci
