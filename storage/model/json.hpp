// nlohmann's JSON, for .cpp files and the headers that may bring it along: include this instead of
// <nlohmann/json.hpp>. Its parser and writer are compiled once, in json.cpp. They cost each unit
// that parses or writes 3 s.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nlohmann::detail {

// What json::parse takes: a text, or characters, be it a view or a literal.
using TextAdapter = iterator_input_adapter<std::string::const_iterator>;
using CharactersAdapter = iterator_input_adapter<const char*>;

extern template class serializer<json>;
extern template class parser<json, TextAdapter>;
extern template class lexer<json, TextAdapter>;
extern template class parser<json, CharactersAdapter>;
extern template class lexer<json, CharactersAdapter>;

}  // namespace nlohmann::detail
