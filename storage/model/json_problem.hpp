// What is wrong with a JSON text, in plain words. For whoever reads files that people hand over.
#pragma once

#include <exception>
#include <string>

namespace nightjar {

// Says what an exception of the JSON library means: "the field 'x' is missing", "it is not JSON
// (...)", or the library's own sentence without the number of the error.
std::string problem_of(const std::exception& error);

}  // namespace nightjar
