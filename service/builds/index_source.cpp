#include "service/builds/index_source.hpp"

#include <stdexcept>

#include "service/builds/index_page.hpp"

namespace nightjar::service {

IndexSource::IndexSource(const Address& index, std::vector<std::string> internal,
                         WantedWheels wanted, std::stop_token stop)
    : page_url_(index.text() + "/" + normalized_name(wanted.package) + "/"),
      wanted_(std::move(wanted)) {
  internal.push_back(index.text());
  client_.reach_only(web::Reach(internal));
  client_.stop_with(std::move(stop));
}

std::vector<ListedWheel> IndexSource::list() {
  problems_.clear();
  web::ClientRequest request;
  request.url = page_url_;
  request.headers = {{"Accept", "text/html"}, {"Cache-Control", "no-cache"}};
  const web::Client::Result result = client_.send(request);
  if (!result) throw std::runtime_error("cannot list builds: " + result.failure.what);
  if (result.response->status != 200)
    throw std::runtime_error("cannot list builds: " + page_url_ + " answered " +
                             std::to_string(result.response->status));
  IndexPage page = read_index_page(result.response->url, result.response->body, wanted_);
  problems_ = std::move(page.problems);
  return std::move(page.wheels);
}

Sha256 IndexSource::fetch(const ListedWheel& wheel, const std::filesystem::path& to) {
  try {
    return client_.download(wheel.url, {}, to);
  } catch (const web::Withheld& answer) {
    throw WheelGone(answer.what());
  }
}

}  // namespace nightjar::service
