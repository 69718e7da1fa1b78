// A type's fields in JSON, each declared once: its name, where its value comes from, and what a
// client must know of it. The declaration writes a value, is its schema and, where it is an
// aggregate's, reads it. Used by the runners' protocol and by the service's REST interface.
//
//   const Described<Build> build("Build", "One installable PyTorch.", {
//       {"id", &Build::id},
//       {"url", or_null(&Build::url), "Where the wheel was found."},
//   });
//
// An aggregate whose members are all written under their own names is described by aggregate().
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cstddef>
#include <functional>
#include <new>
#include <stdexcept>

#include "storage/model/schema.hpp"

namespace nightjar {

// A getter that returns one makes a field that is left out where there is no value.
template <class T>
struct Maybe {
  std::optional<T> value;
};

inline constexpr auto discarded = nlohmann::json::value_t::discarded;

template <class T, class... Context>
class Described;

// `of` applied to what a getter returns: a value, a pointer or an optional (null for none), or a
// list.
template <class Value, class U, class... Context>
nlohmann::json write_with(const Described<U, Context...>& of, const Value& value,
                          Context&... context) {
  if constexpr (is_a<Value, std::vector>) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& item : value) list.push_back(write_with(of, item, context...));
    return list;
  } else if constexpr (std::is_pointer_v<Value> || is_a<Value, std::optional>) {
    return value ? of.write(*value, context...) : nlohmann::json(nullptr);
  } else {
    return of.write(value, context...);
  }
}

enum class Shape { one, list, maybe_null };

template <class Value>
inline constexpr Shape shape_of =
    is_a<Value, std::vector>                                 ? Shape::list
    : std::is_pointer_v<Value> || is_a<Value, std::optional> ? Shape::maybe_null
                                                             : Shape::one;

template <class Value>
concept HoldsDescribed = (is_a<Value, std::vector> || is_a<Value, std::optional>) &&
                         HasDescription<typename Value::value_type>;

// A Maybe without a value is written as a discarded value, which no document holds.
template <class Value>
nlohmann::json write_value(const Value& value) {
  if constexpr (is_a<Value, Maybe>)
    return value.value ? write_value(*value.value) : nlohmann::json(discarded);
  else if constexpr (HasDescription<Value>)
    return described(Parsed<Value>{}).write(value);
  else if constexpr (HoldsDescribed<Value>)
    return write_with(described(Parsed<typename Value::value_type>{}), value);
  else
    return value;
}

// What a field has that depends on no type, so that it is compiled once.
class FieldHead {
 public:
  using Deduced = Schema (*)();
  FieldHead(const char* name, bool required, Deduced deduced, const char* text);
  FieldHead(const char* name, bool required, Deduced deduced, const char* text, const Schema& more);
  FieldHead(const char* name, bool required, const Schema& of, Shape shape, const char* text);
  FieldHead(const FieldHead& other);
  FieldHead(FieldHead&& other) noexcept;
  FieldHead& operator=(const FieldHead& other);
  FieldHead& operator=(FieldHead&& other) noexcept;
  ~FieldHead();

  const std::string& name() const { return name_; }
  const Schema& schema() const { return schema_; }
  bool required() const { return required_; }

 protected:
  // Leaves a discarded value out.
  void put(nlohmann::json& out, nlohmann::json value) const;

 private:
  std::string name_;
  Schema schema_;
  bool required_;
};

// The schema of an object with these fields, and of those of `base`, if there is one.
Schema object_schema(const std::string& name, const std::string& text, const Schema* base,
                     const std::vector<const FieldHead*>& fields);

template <class Value>
struct Held {
  using Type = Value;
};
template <class T>
struct Held<Maybe<T>> {
  using Type = T;
};

// One field of a T. A getter is a member of T, or a function of a T and, if it needs one, of the
// context that Described::write is given; it is trivially copyable, and small. `more`: keywords
// beyond the deduced schema, or, if it is a reference, the schema in its place.
//
// There are hundreds of them, so that what each adds to the program matters to who compiles it: a
// function, and no std::function.
template <class T, class... Context>
class Field : public FieldHead {
 public:
  template <class Get>
  Field(const char* name, Get get, const char* text = "")
      : FieldHead(name, !is_a<Got<Get>, Maybe>, deduced<Get>, text), value_(&value_by<Get>) {
    keep(get);
  }
  template <class Get>
  Field(const char* name, Get get, const char* text, const Schema& more)
      : FieldHead(name, !is_a<Got<Get>, Maybe>, deduced<Get>, text, more), value_(&value_by<Get>) {
    keep(get);
  }
  // A field of another described type, or a list of it.
  template <class Get, class U, class... Inner>
  Field(const char* name, Get get, const Described<U, Inner...>& of, const char* text = "")
      : FieldHead(name, !is_a<Got<Get>, Maybe>, of.schema(),
                  shape_of<typename Held<Got<Get>>::Type>, text),
        value_(&inner_by<Get, Described<U, Inner...>>) {
    keep(By<Get, Described<U, Inner...>>{get, &of});
  }

  void write(nlohmann::json& out, const T& item, Context&... context) const {
    put(out, value_(getter_.data(), item, context...));
  }

 private:
  template <class Get, class Of>
  struct By {
    Get get;
    const Of* of;
  };

  template <class Getter>
  void keep(const Getter& getter) {
    static_assert(std::is_trivially_copyable_v<Getter> && sizeof(Getter) <= sizeof(getter_));
    ::new (getter_.data()) Getter(getter);
  }
  template <class Get>
  static nlohmann::json value_by(const void* getter, const T& item, Context&... context) {
    return write_value<Got<Get>>(got(*static_cast<const Get*>(getter), item, context...));
  }
  template <class Get, class Of>
  static nlohmann::json inner_by(const void* getter, const T& item, Context&... context) {
    const auto& by = *static_cast<const By<Get, Of>*>(getter);
    return inner<Got<Get>>(*by.of, got(by.get, item, context...), context...);
  }
  template <class Get>
  static decltype(auto) got(const Get& get, const T& item, Context&... context) {
    if constexpr (std::is_invocable_v<const Get&, const T&>)
      return std::invoke(get, item);
    else
      return std::invoke(get, item, context...);
  }
  template <class Get>
  using Got = std::decay_t<decltype(got(std::declval<const Get&>(), std::declval<const T&>(),
                                        std::declval<Context&>()...))>;
  template <class Value, class U, class... Inner>
  static nlohmann::json inner(const Described<U, Inner...>& of, const Value& value,
                              Context&... context) {
    if constexpr (is_a<Value, Maybe>)
      return value.value ? inner<typename Held<Value>::Type>(of, *value.value, context...)
                         : nlohmann::json(discarded);
    else if constexpr (sizeof...(Inner) == 0)
      return write_with(of, value);
    else
      return write_with(of, value, context...);
  }

  template <class Get>
  static constexpr Deduced deduced = &schema_of<typename Held<Got<Get>>::Type>;

  nlohmann::json (*value_)(const void* getter, const T& item, Context&...);
  alignas(std::max_align_t) std::array<std::byte, 48> getter_;
};

template <class T, class... Context>
class Described {
 public:
  using Fields = std::vector<Field<T, Context...>>;
  // Without a name the schema stands where it is used.
  Described(const std::string& name, const std::string& text, Fields fields)
      : Described(name, text, nullptr, std::move(fields)) {}
  // What `base` writes, and more.
  Described(const std::string& name, const std::string& text, const Described& base, Fields more)
      : Described(name, text, &base, std::move(more)) {}
  // Reads what it writes.
  using Read = std::function<T(const nlohmann::json&)>;
  Described(const std::string& name, const std::string& text, Fields fields, Read read)
      : Described(name, text, nullptr, std::move(fields)) {
    read_ = std::move(read);
  }

  const std::string& name() const { return name_; }

  nlohmann::json write(const T& item, Context&... context) const {
    nlohmann::json out = base_ ? base_->write(item, context...) : nlohmann::json::object();
    for (const auto& field : fields_) field.write(out, item, context...);
    return out;
  }
  // Throws nlohmann::json::exception, which names the field.
  T read(const nlohmann::json& in) const { return read_(in); }

  const Schema& schema() const { return schema_; }
  // The same but for one field, under another name.
  Described without(std::string_view field, const std::string& name,
                    const std::string& text) const {
    Fields fields = fields_;
    std::erase_if(fields, [&](const auto& one) { return one.name() == field; });
    return {name, text, std::move(fields)};
  }
  // The same, but other fields than these are refused.
  Described closed() const {
    Described made = *this;
    made.schema_.text["additionalProperties"] = false;
    return made;
  }

 private:
  Described(const std::string& name, const std::string& text, const Described* base, Fields fields)
      : name_(name),
        base_(base),
        fields_(std::move(fields)),
        schema_(object_schema(name, text, base ? &base->schema() : nullptr, heads())) {}

  std::vector<const FieldHead*> heads() const {
    std::vector<const FieldHead*> all;
    for (const auto& field : fields_) all.push_back(&field);
    return all;
  }

  std::string name_;
  const Described* base_;
  Fields fields_;
  Schema schema_;
  Read read_;
};

// null where the member is empty or 0.
template <class T, class M>
auto or_null(M T::*member) {
  return [member](const T& item) {
    return item.*member == M{} ? std::nullopt : std::optional<M>(item.*member);
  };
}

// What there is to say of one member of an aggregate.
struct Note {
  std::string name;
  const char* text = "";
  Schema more = {};
  bool maybe = false;  // an optional or a number: left out where it is empty or 0
};

template <class T, class Member>
using MemberType = std::remove_cvref_t<decltype(std::declval<T>().*Member::pointer)>;

template <class T, class Member>
Field<T> field_of(const Note& note) {
  using Value = MemberType<T, Member>;
  if constexpr (is_a<Value, std::optional>)
    if (note.maybe)
      return {
          Member::name,
          [](const T& item) { return Maybe<typename Value::value_type>{item.*Member::pointer}; },
          note.text, note.more};
  if constexpr (std::is_arithmetic_v<Value>)
    if (note.maybe)
      return {Member::name,
              [](const T& item) { return Maybe<Value>{or_null(Member::pointer)(item)}; }, note.text,
              note.more};
  return {Member::name, Member::pointer, note.text, note.more};
}

template <class T, class Member>
MemberType<T, Member> read_member(const nlohmann::json& in, bool maybe) {
  using Value = MemberType<T, Member>;
  if constexpr (is_a<Value, std::optional>)
    if (maybe)
      return in.contains(Member::name) ? Value(field<typename Value::value_type>(in, Member::name))
                                       : std::nullopt;
  if constexpr (std::is_arithmetic_v<Value>)
    if (maybe && !in.contains(Member::name)) return 0;
  return field<Value>(in, Member::name);
}

// All members of an aggregate under their own names (BOOST_DESCRIBE_STRUCT lists them in order), so
// that it can also be read. `check` throws if a value of the right types is still no good.
template <class T>
Described<T> aggregate(const std::string& name, const std::string& text,
                       const std::vector<Note>& notes = {}, void (*check)(const T&) = nullptr) {
  std::map<std::string, Note> by_name;
  for (const Note& note : notes) by_name[note.name] = note;
  typename Described<T>::Fields fields;
  using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>(
      [&](auto member) { fields.push_back(field_of<T, decltype(member)>(by_name[member.name])); });
  if (by_name.size() != fields.size()) throw std::logic_error("a note on no member of " + name);
  const auto read = [by_name, check]<class... Member>(const nlohmann::json& in,
                                                      boost::mp11::mp_list<Member...>) {
    T made{read_member<T, Member>(in, by_name.at(Member::name).maybe)...};
    if (check) check(made);
    return made;
  };
  return {name, text, std::move(fields), [read](const nlohmann::json& in) {
            return read(in, boost::mp11::mp_rename<Members, boost::mp11::mp_list>{});
          }};
}

template <HasDescription T>
T parse_json(const nlohmann::json& in, Parsed<T>) {
  return described(Parsed<T>{}).read(in);
}

}  // namespace nightjar
