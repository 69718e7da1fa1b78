#include "storage/model/described.hpp"

namespace nightjar {
using nlohmann::json;

FieldHead::FieldHead(std::string name, bool required, const Schema& deduced, const char* text,
                     const Schema& more)
    : name_(std::move(name)),
      schema_((more.text.contains("$ref") ? more : deduced).with(more.text)),
      required_(required) {
  schema_.named.insert(more.named.begin(), more.named.end());
  if (*text) schema_.text["description"] = text;
}

FieldHead::FieldHead(const FieldHead& other) = default;
FieldHead::FieldHead(FieldHead&& other) noexcept = default;
FieldHead& FieldHead::operator=(const FieldHead& other) = default;
FieldHead& FieldHead::operator=(FieldHead&& other) noexcept = default;
FieldHead::~FieldHead() = default;

void FieldHead::put(json& out, json value) const {
  if (!value.is_discarded()) out[name_] = std::move(value);
}

Schema object_schema(const std::string& name, const std::string& text, const Schema* base,
                     const std::vector<const FieldHead*>& fields) {
  Schema made{{"type", "object"}};
  for (const FieldHead* field : fields) {
    if (field->required()) made.text["required"].push_back(field->name());
    made.text["properties"][field->name()] = field->schema().text;
    made.named.insert(field->schema().named.begin(), field->schema().named.end());
  }
  if (base) {
    made.text = {{"allOf", {base->text, made.text}}};
    made.named.insert(base->named.begin(), base->named.end());
  }
  if (!text.empty()) made.text["description"] = text;
  return name.empty() ? made : nightjar::named(name, made);
}

}  // namespace nightjar
