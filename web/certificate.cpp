#include "web/certificate.hpp"

#include <cstdlib>
#include <ctime>
#include <curl/curl.h>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string_view>

#include "storage/model/time.hpp"

namespace nightjar::web {
namespace {

constexpr std::size_t longest_name = 200;

// "CN=index.example.org". The peer chose it, so control characters are escaped.
std::string name_text(const X509_NAME* name) {
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new(BIO_s_mem()), BIO_free);
  if (!text || X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253) < 0) return "";
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  if (size <= 0) return "";
  return std::string(
      std::string_view(data, static_cast<std::size_t>(size)).substr(0, longest_name));
}

std::string time_text(const ASN1_TIME* time) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(time, &broken_down) != 1) return "an unknown time";
  return to_rfc3339(Time(std::chrono::seconds(::timegm(&broken_down))));
}

std::string trouble_of(X509_STORE_CTX* chain) {
  const X509* judged = X509_STORE_CTX_get_current_cert(chain);
  if (!judged) return "";
  const std::string subject = name_text(X509_get_subject_name(judged));
  const std::string whose = subject.empty() ? "without a name, " : subject + ", ";
  switch (X509_STORE_CTX_get_error(chain)) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return whose + "valid until " + time_text(X509_get0_notAfter(judged));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return whose + "valid from " + time_text(X509_get0_notBefore(judged));
    default:
      return whose + "issued by " + name_text(X509_get_issuer_name(judged));
  }
}

int judge(X509_STORE_CTX* chain, void* refused) {
  const int is_good = X509_verify_cert(chain);
  if (is_good != 1) *static_cast<std::string*>(refused) = trouble_of(chain);
  return is_good;
}

CURLcode on_context(CURL*, void* context, void* refused) {
  SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), judge, refused);
  return CURLE_OK;
}

}  // namespace

void check_certificate(void* curl, std::string& refused) {
  refused.clear();
  // A libcurl of another library for TLS has no such function, and no such text.
  curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, on_context);
  curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, &refused);
  // The program curl reads both, the library neither.
  if (const char* file = std::getenv("SSL_CERT_FILE")) curl_easy_setopt(curl, CURLOPT_CAINFO, file);
  if (const char* folder = std::getenv("SSL_CERT_DIR"))
    curl_easy_setopt(curl, CURLOPT_CAPATH, folder);
}

}  // namespace nightjar::web
