#include "storage/model/json.hpp"

namespace nlohmann::detail {

template class serializer<json>;
template class parser<json, TextAdapter>;
template class lexer<json, TextAdapter>;
template class parser<json, CharactersAdapter>;
template class lexer<json, CharactersAdapter>;

}  // namespace nlohmann::detail
