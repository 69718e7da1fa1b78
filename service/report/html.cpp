#include "service/report/html.hpp"

#include <vector>

#include "storage/base/foreign_text.hpp"

namespace nightjar::service {
namespace {

constexpr std::string_view style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b2230;background:#fff}table{border-collapse:collapse}th,td{padding:.25rem .75rem;"
    "border-bottom:1px solid #d9dde4;text-align:left}.right{text-align:right}"
    "code{font-family:monospace;font-size:.9em}a{color:#2456c4}";

bool is_link_target(std::string_view target) {
  return target.starts_with("https://") || target.starts_with("http://");
}

std::string inline_html(std::string_view text);

// A code span at the start of `text`, whose fence may be several ticks; 0: there is none.
std::size_t add_code(std::string_view text, std::string& out) {
  const auto fence = std::min(text.find_first_not_of('`'), text.size());
  const auto end = text.find(std::string(fence, '`'), fence);
  if (end == std::string_view::npos) return 0;
  auto inside = text.substr(fence, end - fence);
  if (inside.size() > 2 && inside.front() == ' ' && inside.back() == ' ')
    inside = inside.substr(1, inside.size() - 2);
  out += "<code>" + with_entities(inside) + "</code>";
  return end + fence;
}

// [words](https://...) at the start of `text`; 0: there is none.
std::size_t add_link(std::string_view text, std::string& out) {
  const auto middle = text.find("](");
  const auto end = middle == std::string_view::npos ? middle : text.find(')', middle);
  if (end == std::string_view::npos) return 0;
  const auto target = text.substr(middle + 2, end - middle - 2);
  if (!is_link_target(target)) return 0;
  out += "<a href=\"" + with_entities(target) + "\">" + inline_html(text.substr(1, middle - 1)) +
         "</a>";
  return end + 1;
}

std::size_t add_bold(std::string_view text, std::string& out) {
  if (!text.starts_with("**")) return 0;
  const auto end = text.find("**", 2);
  if (end == std::string_view::npos) return 0;
  out += "<strong>" + inline_html(text.substr(2, end - 2)) + "</strong>";
  return end + 2;
}

std::string inline_html(std::string_view text) {
  constexpr std::string_view marks = "\\`*_{}[]()#+-.!|<>~&@$:/\"'";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    std::size_t taken = 0;
    if (rest.front() == '\\' && rest.size() > 1 && marks.find(rest[1]) != std::string_view::npos) {
      out += with_entities({&rest[1], 1});
      taken = 2;
    } else if (rest.front() == '`') {
      taken = add_code(rest, out);
    } else if (rest.front() == '[') {
      taken = add_link(rest, out);
    } else if (rest.front() == '*') {
      taken = add_bold(rest, out);
    }
    if (taken == 0) out += with_entities({&text[at], 1});
    at += std::max<std::size_t>(taken, 1);
  }
  return out;
}

// The cells of a table's line; a border that is escaped, or in code, is text.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t begin = 1;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      auto cell = line.substr(begin, i - begin);
      while (cell.starts_with(' ')) cell.remove_prefix(1);
      while (cell.ends_with(' ')) cell.remove_suffix(1);
      cells.push_back(cell);
      begin = i + 1;
    }
  }
  return cells;
}

class Page {
 public:
  void add(std::string_view line) {
    if (line.starts_with('|')) return add_row(line);
    end_table();
    if (line.starts_with("- ")) {
      open("ul");
      out_ += "<li>" + inline_html(line.substr(2)) + "</li>\n";
      return;
    }
    if (line.empty()) return close();
    const auto level = line.find_first_not_of('#');
    if (level != std::string_view::npos && level > 0 && level <= 3 && line[level] == ' ') {
      close();
      const auto name = "h" + std::to_string(level);
      out_ += "<" + name + ">" + inline_html(line.substr(level + 1)) + "</" + name + ">\n";
      return;
    }
    open("p");
    out_ += inline_html(line) + "\n";
  }
  std::string text() {
    end_table();
    close();
    return std::move(out_);
  }

 private:
  void open(const char* block) {
    if (block_ == block) return;
    close();
    block_ = block;
    out_ += "<" + block_ + ">";
  }
  void close() {
    if (!block_.empty()) out_ += "</" + block_ + ">\n";
    block_.clear();
  }
  void end_table() {
    if (rows_ > 0) out_ += "</tbody></table>\n";
    rows_ = 0;
    right_.clear();
  }
  void add_row(std::string_view line) {
    close();
    const auto cells = cells_of(line);
    if (rows_++ == 0) {
      head_ = line;
      return;
    }
    if (rows_ == 2) {
      for (const auto cell : cells) right_.push_back(cell.ends_with(':'));
      out_ += "<table><thead>";
      add_cells(cells_of(head_), "th");
      out_ += "</thead><tbody>\n";
      return;
    }
    add_cells(cells, "td");
  }
  void add_cells(const std::vector<std::string_view>& cells, const std::string& kind) {
    out_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      out_ += "<" + kind + (i < right_.size() && right_[i] ? " class=\"right\">" : ">") +
              inline_html(cells[i]) + "</" + kind + ">";
    out_ += "</tr>\n";
  }

  std::string out_, block_, head_;
  std::vector<bool> right_;
  int rows_ = 0;
};

}  // namespace

std::string_view html_style() {
  return style;
}

std::string html_page(std::string_view title, std::string_view markdown) {
  Page page;
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find('\n'), markdown.size());
    page.add(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
         with_entities(title) + "</title><style>" + std::string(style) + "</style></head><body>\n" +
         page.text() + "</body></html>\n";
}

}  // namespace nightjar::service
