#include "storage/model/described.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace nightjar {
using nlohmann::json;

namespace {

// Describes an object with these fields, and with those of `base`, if there is one.
Schema object_schema(const std::string& name, const std::string& text, const Schema* base,
                     const std::vector<AnyField>& fields) {
  Schema made{{"type", "object"}};
  for (const AnyField& field : fields) {
    if (field.required()) made.text["required"].push_back(field.name());
    made.text["properties"][field.name()] = field.schema().text;
    made.named.insert(field.schema().named.begin(), field.schema().named.end());
  }
  if (base) {
    made.text = {{"allOf", {base->text, made.text}}};
    made.named.insert(base->named.begin(), base->named.end());
  }
  if (!text.empty()) made.text["description"] = text;
  return name.empty() ? made : nightjar::named(name, made);
}

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

AnyField::AnyField(const char* name, bool required, Deduced deduced, const char* text, Value value,
                   Getter getter)
    : AnyField(name, required, deduced(), Shape::one, text, value, getter) {}

AnyField::AnyField(const char* name, bool required, Deduced deduced, const char* text, Value value,
                   Getter getter, const Schema& more)
    : AnyField(name, required, (more.text.contains("$ref") ? more : deduced()).with(more.text),
               Shape::one, text, value, getter) {
  schema_.named.insert(more.named.begin(), more.named.end());
}

AnyField::AnyField(const char* name, bool required, const Schema& of, Shape shape, const char* text,
                   Value value, Getter getter)
    : name_(name), schema_(shaped(of, shape)), required_(required), value_(value), getter_{} {
  if (*text) schema_.text["description"] = text;
  std::memcpy(getter_.data(), getter.from, getter.size);
}

AnyField::AnyField(const AnyField& other) = default;
AnyField::AnyField(AnyField&& other) noexcept = default;
AnyField& AnyField::operator=(const AnyField& other) = default;
AnyField& AnyField::operator=(AnyField&& other) noexcept = default;
AnyField::~AnyField() = default;

void AnyField::write(json& out, const void* item, void* context) const {
  json value = value_(getter_.data(), item, context);
  if (!value.is_discarded()) out[name_] = std::move(value);
}

void append(std::vector<AnyField>& fields, const AnyField& field) {
  fields.push_back(field);
}

AnyDescribed::AnyDescribed(const std::string& name, const std::string& text,
                           const AnyDescribed* base, Fields fields)
    : name_(name),
      base_(base),
      fields_(std::move(fields)),
      schema_(object_schema(name, text, base ? &base->schema() : nullptr, fields_)) {}
AnyDescribed::AnyDescribed(const AnyDescribed& other) = default;
AnyDescribed::AnyDescribed(AnyDescribed&& other) noexcept = default;
AnyDescribed::~AnyDescribed() = default;

json AnyDescribed::write_any(const void* item, void* context) const {
  json out = base_ ? base_->write_any(item, context) : json::object();
  for (const AnyField& field : fields_) field.write(out, item, context);
  return out;
}

AnyDescribed::Fields AnyDescribed::fields_without(std::string_view field) const {
  Fields fields = fields_;
  std::erase_if(fields, [&](const AnyField& one) { return one.name() == field; });
  return fields;
}

void AnyDescribed::refuse_others() {
  schema_.text["additionalProperties"] = false;
}

Notes::Notes(const std::vector<Note>& notes) {
  for (const Note& note : notes) by_name_[note.name] = note;
}
Notes::Notes(const Notes& other) = default;
Notes::~Notes() = default;

const Note& Notes::of(const char* member) const {
  static const Note none;
  const auto found = by_name_.find(std::string_view(member));
  return found == by_name_.end() ? none : found->second;
}

void Notes::expect(const std::string& aggregate, const std::vector<const char*>& members) const {
  for (const auto& [name, note] : by_name_)
    if (std::find(members.begin(), members.end(), name) == members.end())
      throw std::logic_error("a note on " + name + ", which is no member of " + aggregate);
}

}  // namespace nightjar
