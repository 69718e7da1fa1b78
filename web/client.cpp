#include "web/client.hpp"

#include <arpa/inet.h>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cerrno>
#include <cstring>
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "web/certificate.hpp"
#include "web/credentials.hpp"
#include "web/secret.hpp"
#include "web/text.hpp"

namespace nightjar::web {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

bool is_loopback(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(url);
  return parsed && (parsed->host_ipv4_address().is_loopback() ||
                    parsed->host_ipv6_address().is_loopback() || parsed->host() == "localhost");
}

// nullopt for a name.
std::optional<sockaddr_storage> address_in_numbers(const std::string& host) {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, host.c_str(), &ipv4.sin_addr) == 1)
    ipv4.sin_family = AF_INET;
  else if (::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &ipv6.sin6_addr) == 1)
    ipv6.sin6_family = AF_INET6;
  else
    return std::nullopt;
  return address;
}

struct List {
  curl_slist* head = nullptr;
  ~List() { curl_slist_free_all(head); }
  void add(const std::string& line) { head = curl_slist_append(head, line.c_str()); }
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* to) {
  auto& headers = *static_cast<std::map<std::string, std::string>*>(to);
  std::string_view line(data, size);
  if (line.starts_with("HTTP/")) headers.clear();  // of a redirect or an interim answer
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  auto value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && static_cast<unsigned char>(value.back()) <= ' ') value.remove_suffix(1);
  headers[lower_case(line.substr(0, colon))] = std::string(value);
  return size;
}

struct BodySink {
  std::string body;
  std::size_t limit = 0;
  bool over = false;
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto& sink = *static_cast<BodySink*>(to);
  sink.over = sink.body.size() + size > sink.limit;
  if (sink.over) return 0;
  sink.body.append(data, size);
  return size;
}

struct FileSink {
  CURL* curl = nullptr;
  int descriptor = -1;
  Digest digest;
  std::string error;
  std::function<bool(std::uint64_t, std::uint64_t)> progress;
  std::uint64_t so_far = 0, most_bytes = 0;
};

std::size_t on_file(char* data, std::size_t, std::size_t size, void* to) {
  auto& sink = *static_cast<FileSink*>(to);
  if (size > sink.most_bytes - sink.so_far) {
    sink.error = "it has more than " + std::to_string(sink.most_bytes) + " bytes";
    return 0;
  }
  for (std::size_t done = 0; done < size;) {
    const auto count = ::write(sink.descriptor, data + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      sink.error = std::string("cannot write: ") + std::strerror(errno);
      return 0;
    }
    done += static_cast<std::size_t>(count);
  }
  sink.digest.add({data, size});
  sink.so_far += size;
  curl_off_t total = 0;
  curl_easy_getinfo(sink.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &total);
  if (sink.progress && !sink.progress(sink.so_far, total > 0 ? std::uint64_t(total) : 0)) {
    sink.error = "cancelled";
    return 0;
  }
  return size;
}

// Ends a request when no byte of its body was sent for `patience`. After the last byte the whole
// answer has that time: bytes of the answer do not extend it, so one that drips is not waited for.
struct UploadWatch {
  std::chrono::milliseconds patience;
  curl_off_t sent = 0;
  std::chrono::steady_clock::time_point moved = std::chrono::steady_clock::now();
  bool ended = false;
};

int on_progress(void* to, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) {
  auto& watch = *static_cast<UploadWatch*>(to);
  const auto now = std::chrono::steady_clock::now();
  if (sent != watch.sent) watch.moved = now;
  watch.sent = sent;
  watch.ended = now - watch.moved > watch.patience;
  return watch.ended ? 1 : 0;
}

int on_stop_asked(void* to, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<std::stop_token*>(to)->stop_requested() ? 1 : 0;
}

// "bytes 0-99/1234" is what was asked for, whatever the total.
bool is_range(std::string_view content_range, std::uint64_t offset, std::uint64_t size) {
  const std::string wanted =
      "bytes " + std::to_string(offset) + "-" + std::to_string(offset + size - 1) + "/";
  return content_range.starts_with(wanted);
}

// Judges an answer by its headers, before any of its body is read.
struct RangeSink {
  const RangeRequest& request;
  const std::function<bool(std::string_view)>& take;
  CURL* curl = nullptr;
  std::map<std::string, std::string> headers = {};
  std::uint64_t received = 0;
  long status = 0;
  std::optional<RangeFailure::Kind> refused = {};
};

std::size_t on_range_header(char* data, std::size_t one, std::size_t size, void* to) {
  auto& sink = *static_cast<RangeSink*>(to);
  on_header(data, one, size, &sink.headers);
  const std::string_view line(data, size);
  if (line != "\r\n" && line != "\n") return size;
  curl_easy_getinfo(sink.curl, CURLINFO_RESPONSE_CODE, &sink.status);
  if (sink.status < 200 || (sink.status >= 300 && sink.status < 400)) return size;  // goes on
  if (sink.status >= 400)
    sink.refused = RangeFailure::Kind::status;
  else if (sink.status != 206 ||
           !is_range(sink.headers["content-range"], sink.request.offset, sink.request.size))
    sink.refused = RangeFailure::Kind::ignored;
  return sink.refused ? 0 : size;
}

std::size_t on_range(char* data, std::size_t, std::size_t size, void* to) {
  auto& sink = *static_cast<RangeSink*>(to);
  if (sink.status != 206) return size;  // a redirect's own body
  if (size > sink.request.size - sink.received) {
    sink.refused = RangeFailure::Kind::ignored;
    return 0;
  }
  sink.received += size;
  if (sink.take({data, size})) return size;
  sink.refused = RangeFailure::Kind::cancelled;
  return 0;
}

std::string cause_of(const RangeSink& sink, const std::string& libcurl) {
  if (!sink.refused) return libcurl;
  switch (*sink.refused) {
    case RangeFailure::Kind::status:
      return "the server answered " + std::to_string(sink.status);
    case RangeFailure::Kind::ignored:
      return "the server ignores ranges: it answered " + std::to_string(sink.status) +
             (sink.status == 206 ? " with another range" : " with the whole file");
    case RangeFailure::Kind::cancelled:
      return "cancelled";
    case RangeFailure::Kind::no_answer:
      break;
  }
  return libcurl;
}

// Returns the identity that all clients share.
ClientIdentity& identity() {
  static ClientIdentity of_this_process;
  return of_this_process;
}

void identify(CURL* curl, std::string_view url) {
  const ClientIdentity& own = identity();
  if (own.origin.empty() || !url.starts_with(own.origin + "/")) return;
  const auto set = [curl](CURLoption option, const std::filesystem::path& file) {
    if (!file.empty()) curl_easy_setopt(curl, option, file.c_str());
  };
  set(CURLOPT_SSLCERT, own.certificate);
  set(CURLOPT_SSLKEY, own.key);
  set(CURLOPT_CAINFO, own.authorities);
}

}  // namespace

// The hosts that a request under way may reach, and the one that was refused. It is a member of
// Client::Impl, so it is not in the unnamed namespace.
struct Leash {
  CURL* curl = nullptr;
  Reach reach{{}};
  std::string refused;  // empty: nobody

  // Where the request stands now, after redirects.
  std::string_view url() const {
    const char* text = nullptr;
    curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &text);
    return text ? text : "";
  }
  bool allows(const sockaddr& address) {
    if (!origin_of(url())) {
      refused = "it leads to " + shown_url(url()) + ", whose host can be read in two ways";
      return false;
    }
    const bool may =
        reach.vouches_for(url()) || (is_proxy(address) ? may_ask_proxy() : is_public(address));
    if (!may)
      refused = "it leads to " + shown_url(url()) +
                ", which is an internal address that nobody has configured";
    return may;
  }

 private:
  // A proxy resolves names itself.
  bool may_ask_proxy() const {
    const auto origin = origin_of(url());
    const auto target = origin ? address_in_numbers(origin->host) : std::nullopt;
    return origin && origin->host != "localhost" && !origin->host.ends_with(".localhost") &&
           (!target || is_public(reinterpret_cast<const sockaddr&>(*target)));
  }
};

namespace {

curl_socket_t on_open(void* to, curlsocktype, curl_sockaddr* address) {
  if (!static_cast<Leash*>(to)->allows(address->addr)) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Also of a connection that an earlier request has opened.
int on_request(void* to, char* address, char*, int port, int) {
  auto peer = address_in_numbers(address);
  if (peer)  // the port is at the same place for both families
    reinterpret_cast<sockaddr_in&>(*peer).sin_port = htons(static_cast<std::uint16_t>(port));
  const bool may =
      peer && static_cast<Leash*>(to)->allows(reinterpret_cast<const sockaddr&>(*peer));
  return may ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

// The head of an answer, before its body.
struct RelaySink {
  const std::function<bool(const ClientResponse&)>& head;
  const std::function<bool(std::string_view)>& take;
  CURL* curl = nullptr;
  ClientResponse answer = {};
  bool is_begun = false, is_cancelled = false;
};

std::size_t on_relay_header(char* data, std::size_t one, std::size_t size, void* to) {
  auto& sink = *static_cast<RelaySink*>(to);
  on_header(data, one, size, &sink.answer.headers);
  const std::string_view line(data, size);
  if (sink.is_begun || (line != "\r\n" && line != "\n")) return size;
  long status = 0;
  curl_easy_getinfo(sink.curl, CURLINFO_RESPONSE_CODE, &status);
  const bool is_redirect =
      status >= 300 && status < 400 && sink.answer.headers.contains("location");
  if (status < 200 || is_redirect) return size;
  sink.answer.status = static_cast<unsigned>(status);
  sink.is_begun = true;
  sink.is_cancelled = !sink.head(sink.answer);
  return sink.is_cancelled ? 0 : size;
}

std::size_t on_relay(char* data, std::size_t, std::size_t size, void* to) {
  auto& sink = *static_cast<RelaySink*>(to);
  if (!sink.is_begun) return size;  // a redirect's own body
  sink.is_cancelled = !sink.take({data, size});
  return sink.is_cancelled ? 0 : size;
}

// Removes what a download that failed has left.
struct PartFile {
  std::filesystem::path path;
  int descriptor = -1;
  ~PartFile() {
    if (descriptor >= 0) ::close(descriptor);
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove(path, ignored);
  }
};

// What others have named, be it in a redirect, is among it.
std::string failure_text(const std::string& method, const std::string& url,
                         const std::string& why) {
  return one_line(method + " " + shown_url(url) + ": " + why);
}

}  // namespace

bool may_pass(unsigned status) {
  return status >= 500 || status == 407 || status == 408 || status == 425 || status == 429;
}

struct Client::Impl {
  CURL* curl = nullptr;
  char error[CURL_ERROR_SIZE] = {};
  std::string refused_certificate;  // whose it was; empty: none was refused
  std::chrono::seconds patience{60};
  std::optional<Reach> reach;  // nullopt: each request's own URL
  Leash leash;
  std::stop_token stop;

  Impl() {
    static const CURLcode started = (keep_proxy_logins(), curl_global_init(CURL_GLOBAL_DEFAULT));
    if (started != CURLE_OK || !(curl = curl_easy_init()))
      throw std::runtime_error("cannot start the HTTP client: libcurl refused");
  }
  ~Impl() { curl_easy_cleanup(curl); }

  void prepare(const std::string& url, const Headers& headers, List& list, bool follow,
               bool is_signed = false) {
    curl_easy_reset(curl);  // keeps the connection
    error[0] = 0;
    for (const auto& [name, value] : headers) list.add(name + ": " + value);
    // No pause before a body. libcurl before 8 would sign this line, which it does not send.
    if (!is_signed) list.add("Expect:");
    const bool secure = url.starts_with("https://");
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list.head);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "nightjar/" NIGHTJAR_VERSION);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 15L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    if (is_loopback(url)) curl_easy_setopt(curl, CURLOPT_PROXY, "");
    check_certificate(curl, refused_certificate);
    identify(curl, url);
    leash = {curl, reach.value_or(Reach({url})), ""};
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &leash);
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, &leash);
    log_in(url, secure);
    if (!stop.stop_possible()) return;
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_stop_asked);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stop);
  }

  // libcurl sends a login to no other host that a redirect leads to.
  void log_in(const std::string& url, bool secure) {
    const auto origin = origin_of(url);
    const Login* login = origin ? credentials().find(*origin) : nullptr;
    if (!login || (!secure && !leash.reach.vouches_for(url))) return;
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_USERNAME, login->user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, login->password.c_str());
  }

  // libcurl signs all of the headers that it sends, the session's among them.
  void sign(const BucketLogin& login, List& list) {
    if (!login.session.empty()) list.add("X-Amz-Security-Token: " + login.session);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list.head);
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, ("aws:amz:" + login.region + ":s3").c_str());
    curl_easy_setopt(curl, CURLOPT_USERNAME, login.key.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, login.secret.c_str());
  }

  void limit_stalls() {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1024L);  // bytes a second
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(patience.count()));
  }

  std::string cause(CURLcode code) const {
    const std::string said = error[0] ? error : curl_easy_strerror(code);
    if (!leash.refused.empty()) return leash.refused;
    return refused_certificate.empty() ? said : said + " (" + refused_certificate + ")";
  }
};

void set_identity(ClientIdentity own) {
  identity() = std::move(own);
}

Client::Client() : impl_(std::make_unique<Impl>()) {}
Client::~Client() = default;

void Client::give_up_after(std::chrono::seconds standing_still) {
  impl_->patience = standing_still;
}

void Client::reach_only(Reach reach) {
  impl_->reach = std::move(reach);
}

void Client::stop_with(std::stop_token stop) {
  impl_->stop = std::move(stop);
}

Client::Result Client::send(const ClientRequest& request) {
  List list;
  BodySink sink;
  ClientResponse response;
  sink.limit = request.response_limit;
  const bool safe = request.method == "GET" || request.method == "HEAD";
  CURL* curl = impl_->curl;
  impl_->prepare(request.url, request.headers, list, safe, request.bucket.has_value());
  if (request.bucket) impl_->sign(*request.bucket, list);
  UploadWatch watch{request.timeout};
  if (request.while_moving) {
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &watch);
  } else {
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  }
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &response.headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  // On a kept connection that dies before an answer libcurl sends the request once more by itself,
  // and what was done is done twice.
  if (!safe) curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
  if (!request.body.empty() || !safe) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  if (request.method == "HEAD")
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    const std::string why =
        sink.over     ? "the answer is larger than " + std::to_string(sink.limit) + " bytes"
        : watch.ended ? "nothing was sent, and no whole answer came, for " +
                            std::to_string(request.timeout.count()) + " ms"
                      : impl_->cause(code);
    return {std::nullopt, {failure_text(request.method, request.url, why)}};
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<unsigned>(status);
  response.body = std::move(sink.body);
  response.url = impl_->leash.url();
  return {std::move(response), {}};
}

std::optional<RangeFailure> Client::read_range(const RangeRequest& request,
                                               const std::function<bool(std::string_view)>& take) {
  const std::string range =
      std::to_string(request.offset) + "-" + std::to_string(request.offset + request.size - 1);
  List list;
  CURL* curl = impl_->curl;
  RangeSink sink{request, take, curl};
  impl_->prepare(request.url, request.headers, list, true);
  curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  impl_->limit_stalls();
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L << 10);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_range_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &sink);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_range);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(curl);
  const bool whole = sink.received == request.size;
  if (code == CURLE_OK && !sink.refused && whole) return std::nullopt;
  const std::string libcurl = code == CURLE_OK ? "the range was cut off" : impl_->cause(code);
  return RangeFailure{
      sink.refused.value_or(RangeFailure::Kind::no_answer),
      failure_text("GET", request.url, "bytes " + range + ": " + cause_of(sink, libcurl)),
      static_cast<unsigned>(sink.status), std::move(sink.headers)};
}

std::optional<ClientFailure> Client::relay(const ClientRequest& request,
                                           const std::function<bool(const ClientResponse&)>& head,
                                           const std::function<bool(std::string_view)>& take) {
  List list;
  CURL* curl = impl_->curl;
  RelaySink sink{head, take, curl};
  impl_->prepare(request.url, request.headers, list, true);
  impl_->limit_stalls();
  if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_relay_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &sink);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_relay);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OK && sink.is_begun) return std::nullopt;
  const std::string why = sink.is_cancelled ? "cancelled" : impl_->cause(code);
  return ClientFailure{failure_text(request.method, request.url, why)};
}

Sha256 Client::download(const std::string& url, const Headers& headers,
                        const std::filesystem::path& to,
                        std::function<bool(std::uint64_t, std::uint64_t)> progress,
                        std::uint64_t most_bytes) {
  const auto failed = [&](const std::string& why) {
    return std::runtime_error(
        one_line("cannot download " + shown_url(url) + " to " + to.string() + ": " + why));
  };
  PartFile part;
  part.path = to.string() + ".part-" + random_token().substr(0, 8);
  part.descriptor = ::open(part.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (part.descriptor < 0) throw failed(std::string("cannot create it: ") + std::strerror(errno));
  List list;
  FileSink sink;
  sink.curl = impl_->curl;
  sink.descriptor = part.descriptor;
  sink.progress = std::move(progress);
  sink.most_bytes = most_bytes;
  CURL* curl = impl_->curl;
  impl_->prepare(url, headers, list, true);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  impl_->limit_stalls();
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 6L * 3600);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L << 10);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_file);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_HTTP_RETURNED_ERROR && !may_pass(static_cast<unsigned>(status)))
    throw Withheld(failed(impl_->cause(code)).what());
  if (code != CURLE_OK) throw failed(sink.error.empty() ? impl_->cause(code) : sink.error);
  try {
    move_durably(part.path, to);
  } catch (const std::system_error& error) {
    throw failed(error.what());
  }
  part.path.clear();
  return sink.digest.hex();
}

}  // namespace nightjar::web
