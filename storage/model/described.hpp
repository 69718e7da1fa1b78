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

// One field without the types of its object and of its value, so that it is compiled once. There
// are hundreds of fields, and what each adds to the program matters to who compiles it: a function.
class AnyField {
 public:
  using Deduced = Schema (*)();
  // What `getter` gives of an object. `context` is that of Described::write, if it has one.
  using Value = nlohmann::json (*)(const void* getter, const void* item, void* context);
  // The bytes of a getter, which is trivially copyable, and small.
  struct Getter {
    template <class T>
    explicit Getter(const T& getter) : from(static_cast<const void*>(&getter)), size(sizeof(T)) {
      static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(AnyField::getter_));
    }
    const void* from;
    std::size_t size;
  };

  AnyField(const char* name, bool required, Deduced deduced, const char* text, Value value,
           Getter getter);
  AnyField(const char* name, bool required, Deduced deduced, const char* text, Value value,
           Getter getter, const Schema& more);
  AnyField(const char* name, bool required, const Schema& of, Shape shape, const char* text,
           Value value, Getter getter);
  AnyField(const AnyField& other);
  AnyField(AnyField&& other) noexcept;
  AnyField& operator=(const AnyField& other);
  AnyField& operator=(AnyField&& other) noexcept;
  ~AnyField();

  const std::string& name() const { return name_; }
  const Schema& schema() const { return schema_; }
  bool required() const { return required_; }
  // Leaves a discarded value out.
  void write(nlohmann::json& out, const void* item, void* context) const;

 private:
  std::string name_;
  Schema schema_;
  bool required_;
  Value value_;
  alignas(std::max_align_t) std::array<std::byte, 48> getter_;
};

template <class Value>
struct Held {
  using Type = Value;
};
template <class T>
struct Held<Maybe<T>> {
  using Type = T;
};

// One field of a T. A getter is a member of T, or a function of a T and, if it needs one, of the
// context that Described::write is given. `more`: keywords beyond the deduced schema, or, if it is
// a reference, the schema in its place.
template <class T, class... Context>
class Field : public AnyField {
  static_assert(sizeof...(Context) <= 1);

 public:
  template <class Get>
  Field(const char* name, Get get, const char* text = "")
      : AnyField(name, !is_a<Got<Get>, Maybe>, deduced<Get>, text, &value_by<Get>, Getter(get)) {}
  template <class Get>
  Field(const char* name, Get get, const char* text, const Schema& more)
      : AnyField(name, !is_a<Got<Get>, Maybe>, deduced<Get>, text, &value_by<Get>, Getter(get),
                 more) {}
  // A field of another described type, or a list of it.
  template <class Get, class U, class... Inner>
  Field(const char* name, Get get, const Described<U, Inner...>& of, const char* text = "")
      : AnyField(name, !is_a<Got<Get>, Maybe>, of.schema(), shape_of<typename Held<Got<Get>>::Type>,
                 text, &inner_by<Get, Described<U, Inner...>>,
                 Getter(By<Get, Described<U, Inner...>>{get, &of})) {}

 private:
  template <class Get, class Of>
  struct By {
    Get get;
    const Of* of;
  };

  template <class Get>
  static nlohmann::json value_by(const void* getter, const void* item, void* context) {
    return write_value<Got<Get>>(got(*static_cast<const Get*>(getter), item, context));
  }
  template <class Get, class Of>
  static nlohmann::json inner_by(const void* getter, const void* item, void* context) {
    const auto& by = *static_cast<const By<Get, Of>*>(getter);
    return inner<Got<Get>>(*by.of, got(by.get, item, context), context);
  }
  template <class Get>
  static decltype(auto) got(const Get& get, const void* item, void* context) {
    const T& of = *static_cast<const T*>(item);
    if constexpr (std::is_invocable_v<const Get&, const T&>)
      return std::invoke(get, of);
    else
      return std::invoke(get, of, *static_cast<Context*>(context)...);
  }
  template <class Get>
  using Got = std::decay_t<decltype(got(std::declval<const Get&>(), nullptr, nullptr))>;
  template <class Value, class U, class... Inner>
  static nlohmann::json inner(const Described<U, Inner...>& of, const Value& value, void* context) {
    if constexpr (is_a<Value, Maybe>)
      return value.value ? inner<typename Held<Value>::Type>(of, *value.value, context)
                         : nlohmann::json(discarded);
    else if constexpr (sizeof...(Inner) == 0)
      return write_with(of, value);
    else
      return write_with(of, value, *static_cast<Context*>(context)...);
  }

  template <class Get>
  static constexpr Deduced deduced = &schema_of<typename Held<Got<Get>>::Type>;
};

// What Described has that depends on no type.
class AnyDescribed {
 public:
  const std::string& name() const { return name_; }
  const Schema& schema() const { return schema_; }

 protected:
  using Fields = std::vector<AnyField>;
  AnyDescribed(const std::string& name, const std::string& text, const AnyDescribed* base,
               Fields fields);
  AnyDescribed(const AnyDescribed& other);
  AnyDescribed(AnyDescribed&& other) noexcept;
  ~AnyDescribed();

  nlohmann::json write_any(const void* item, void* context) const;
  Fields fields_without(std::string_view field) const;
  void refuse_others();

 private:
  std::string name_;
  const AnyDescribed* base_;
  Fields fields_;
  Schema schema_;
};

void append(std::vector<AnyField>& fields, const AnyField& field);

template <class T, class... Context>
class Described : public AnyDescribed {
 public:
  class Fields {
   public:
    Fields() = default;
    Fields(std::initializer_list<Field<T, Context...>> fields) {
      for (const auto& field : fields) push_back(field);
    }
    template <class... Part>
    void emplace_back(const Part&... parts) {
      push_back(Field<T, Context...>(parts...));
    }
    void push_back(const Field<T, Context...>& field) { append(all_, field); }

   private:
    friend class Described;
    std::vector<AnyField> all_;
  };

  // Without a name the schema stands where it is used.
  Described(const std::string& name, const std::string& text, Fields fields)
      : AnyDescribed(name, text, nullptr, std::move(fields.all_)) {}
  // What `base` writes, and more.
  Described(const std::string& name, const std::string& text, const Described& base, Fields more)
      : AnyDescribed(name, text, &base, std::move(more.all_)) {}
  // Reads what it writes.
  using Read = std::function<T(const nlohmann::json&)>;
  Described(const std::string& name, const std::string& text, Fields fields, Read read)
      : AnyDescribed(name, text, nullptr, std::move(fields.all_)), read_(std::move(read)) {}

  nlohmann::json write(const T& item, Context&... context) const {
    if constexpr (sizeof...(Context) == 0)
      return write_any(&item, nullptr);
    else
      return write_any(&item, &context...);
  }
  // Throws nlohmann::json::exception, which names the field.
  T read(const nlohmann::json& in) const { return read_(in); }

  // The same but for one field, under another name.
  Described without(std::string_view field, const std::string& name,
                    const std::string& text) const {
    Fields fields;
    fields.all_ = fields_without(field);
    return {name, text, std::move(fields)};
  }
  // The same, but other fields than these are refused.
  Described closed() const {
    Described made = *this;
    made.refuse_others();
    return made;
  }

 private:
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

// Holds the notes on an aggregate, by member.
class Notes {
 public:
  explicit Notes(const std::vector<Note>& notes);
  Notes(const Notes& other);
  ~Notes();
  const Note& of(const char* member) const;  // an empty one if there is none
  // Throws where a note is of no member of the aggregate.
  void expect(const std::string& aggregate, const std::vector<const char*>& members) const;

 private:
  std::map<std::string, Note, std::less<>> by_name_;
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
  const Notes by_name(notes);
  typename Described<T>::Fields fields;
  std::vector<const char*> members;
  using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto member) {
    fields.push_back(field_of<T, decltype(member)>(by_name.of(member.name)));
    members.push_back(member.name);
  });
  by_name.expect(name, members);
  const auto read = [by_name, check]<class... Member>(const nlohmann::json& in,
                                                      boost::mp11::mp_list<Member...>) {
    T made{read_member<T, Member>(in, by_name.of(Member::name).maybe)...};
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
