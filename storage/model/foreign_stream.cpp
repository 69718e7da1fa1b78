#include "storage/model/foreign_stream.hpp"

#include <optional>

#include "storage/model/foreign_json.hpp"

namespace nightjar {
using nlohmann::json;
namespace {

// What the library takes for a value in a list, and for a member of an object beside its name.
constexpr std::size_t value_bytes = 16, member_bytes = 80;

// The longest text between quotes, as it is written.
std::size_t longest_text(std::string_view text) {
  std::size_t longest = 0, begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted)
      ++i;
    else if (text[i] == '"') {
      if (quoted && i - begin - 1 > longest) longest = i - begin - 1;
      quoted = !quoted;
      begin = i;
    }
  }
  return longest;
}

class StreamReader {
 public:
  StreamReader(const StreamLimits& limits, const StreamSink& sink) : limits_(limits), sink_(sink) {}

  // Called by the library's parser for each event. False discards what was just parsed.
  bool operator()(int at, json::parse_event_t event, json& parsed) {
    const auto depth = static_cast<std::size_t>(at);
    using Event = json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        begin(depth, event == Event::array_start);
        return true;
      case Event::key:
        hold(member_bytes + parsed.get_ref<const std::string&>().size());
        path_.resize(depth);
        path_.back() = parsed.get_ref<const std::string&>();
        return true;
      case Event::value:
        return value(parsed);
      case Event::array_end:
        numbers_ = nullptr;
        return true;
      case Event::object_end:
        return end(depth, parsed);
    }
    return true;
  }

 private:
  void begin(std::size_t depth, bool list) {
    if (numbers_) refuse("a list of numbers holds something else");
    path_.resize(depth);
    held_before_.resize(depth + 1);
    held_before_[depth] = held_;
    hold(value_bytes);
    if (list && (numbers_ = sink_.numbers(path_))) numbers_->clear();
    path_.emplace_back(list ? "*" : "");
  }

  bool value(const json& parsed) {
    if (!numbers_) {
      hold(value_bytes + (parsed.is_string() ? parsed.get_ref<const std::string&>().size() : 0));
      return true;
    }
    if (!parsed.is_number()) refuse("a list of numbers holds something else");
    if (++count_ > limits_.numbers)
      refuse("its lists have more than " + std::to_string(limits_.numbers) + " numbers together");
    numbers_->push_back(parsed.get<double>());
    return false;
  }

  bool end(std::size_t depth, json& parsed) {
    path_.resize(depth);
    if (!sink_.take(path_, parsed)) return true;
    held_ = held_before_[depth];
    return false;
  }

  void hold(std::size_t bytes) {
    held_ += bytes;
    if (held_ > limits_.held_bytes)
      refuse("a part of it takes more than " + std::to_string(limits_.held_bytes) + " bytes");
  }

  [[noreturn]] static void refuse(const std::string& why) { throw StreamRefused(why); }

  const StreamLimits& limits_;
  const StreamSink& sink_;
  JsonPath path_;                         // of what comes next
  std::vector<std::size_t> held_before_;  // each open container
  std::size_t held_ = 0, count_ = 0;
  std::vector<double>* numbers_ = nullptr;  // of the list that is being read
};

}  // namespace

json read_stream(std::string_view text, const StreamLimits& limits, const StreamSink& sink) {
  if (is_nested_deeper(text)) return json(json::value_t::discarded);
  // Checked first, since the parser would hold the text three times before it calls `sink`.
  if (longest_text(text) > limits.text_bytes)
    throw StreamRefused("a text in it has more than " + std::to_string(limits.text_bytes) +
                        " bytes");
  StreamReader reader(limits, sink);
  return json::parse(text.begin(), text.end(), std::ref(reader), false);
}

}  // namespace nightjar
