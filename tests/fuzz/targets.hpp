// The functions that read what others send, each with what must hold of the outcome. test_fuzz runs
// them over the corpus, and the program `fuzz` over inputs that it makes up.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nightjar::fuzz {

// What should hold of an input does not.
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};
inline void require(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

// Takes the next line off `text`. A target with several inputs has them in lines.
std::string_view take_line(std::string_view& text);

// `run` throws Broken, or what a caller of the product would not expect. Any input is allowed.
struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};
std::span<const Target> all_targets();

void build_log(std::string_view input);
void config(std::string_view input);
void cursor(std::string_view input);
void evidence_bundle(std::string_view input);
void git_words(std::string_view input);
void glob(std::string_view input);
void http_request(std::string_view input);
void index_page(std::string_view input);
void metadata(std::string_view input);
void query_string(std::string_view input);
void record(std::string_view input);
void requirement(std::string_view input);
void result_json(std::string_view input);
void webhook_payload(std::string_view input);
void wheel(std::string_view input);
void wheel_name(std::string_view input);
void workload_protocol(std::string_view input);
void zip_directory(std::string_view input);

}  // namespace nightjar::fuzz
