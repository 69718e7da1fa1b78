#include "storage/model/described.hpp"

namespace nightjar {
using nlohmann::json;

namespace {

Schema shaped(const Schema& one, Shape shape) {
  switch (shape) {
    case Shape::list:
      return list_of(one);
    case Shape::maybe_null:
      return nullable(one);
    case Shape::one:
      break;
  }
  return one;
}

}  // namespace

FieldHead::FieldHead(const char* name, bool required, Deduced deduced, const char* text)
    : FieldHead(name, required, deduced(), Shape::one, text) {}

FieldHead::FieldHead(const char* name, bool required, Deduced deduced, const char* text,
                     const Schema& more)
    : FieldHead(name, required, (more.text.contains("$ref") ? more : deduced()).with(more.text),
                Shape::one, text) {
  schema_.named.insert(more.named.begin(), more.named.end());
}

FieldHead::FieldHead(const char* name, bool required, const Schema& of, Shape shape,
                     const char* text)
    : name_(name), schema_(shaped(of, shape)), required_(required) {
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
