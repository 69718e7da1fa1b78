// Maps and lists of words as JSON text in a column. Private to this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace nightjar::storage {

using TextMap = std::map<std::string, std::string>;

// What is no UTF-8 is replaced, so that any word can be stored.
std::string to_text(const TextMap& map);
std::string to_text(const std::vector<std::string>& list);
TextMap map_from_text(const std::string& text);
std::vector<std::string> list_from_text(const std::string& text);

}  // namespace nightjar::storage
