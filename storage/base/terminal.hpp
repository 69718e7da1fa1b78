// What the programs say to people: lines in which nothing of others steers a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace nightjar {

// Like fprintf(). What is between the format's line ends, at its begin and its end, is one line as
// one_line() has it, whatever the values hold.
[[gnu::format(printf, 2, 3)]] void say(std::FILE* to, const char* format, ...);

// The text with each of its lines as one_line() has it.
std::string shown_lines(std::string_view text);

// Writes "PROGRAM: TEXT" to standard error, the text as shown_lines() has it.
void say_trouble(const char* program, std::string_view text);

// Writes what programs read, too: JSON, CSV, Markdown. Control characters of others that are no
// line ends or tabs become spaces, and all else stays.
void put_text(std::FILE* to, std::string_view text);

// At most `characters` code points of a text, in quotes, with its control characters and bytes that
// are no UTF-8 written as \\x1b, so that a reader sees what is wrong with it.
std::string visible(std::string_view text, std::size_t characters);

}  // namespace nightjar
