// Prometheus' text format, for /metrics. Internal to the API.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/engine/trust/measured.hpp"

namespace nightjar::service::api {

class Metrics {
 public:
  void describe(const char* name, const char* type, const char* help) {
    text_ << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
  }
  template <class T>
  void value(const char* name, T value, std::string_view label = {}, std::string_view is = {}) {
    if (label.empty())
      with(name, {}, value);
    else
      with(name, {{label, std::string(is)}}, value);
  }
  using Labels = std::vector<std::pair<std::string_view, std::string>>;
  template <class T>
  void with(const char* name, const Labels& labels, T value) {
    text_ << name;
    const char* before = "{";
    for (const auto& [label, is] : labels) {
      text_ << before << label << "=\"" << is << '"';
      before = ",";
    }
    text_ << (labels.empty() ? " " : "} ") << value << '\n';
  }
  template <class T>
  void one(const char* name, const char* type, const char* help, T number) {
    describe(name, type, help);
    value(name, number);
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

// False alarms, power and the search's probabilities, by metric and machine class. /api/v1/trust
// says the same with all intervals, and what is not measured yet.
void trust_metrics(Metrics& metrics, const MeasuredTrust& trust);

}  // namespace nightjar::service::api
