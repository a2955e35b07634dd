// The form of a page's text, without its meaning: front matter, prose, fenced blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::lessons {

struct Problem {
  std::string file;
  int line = 0;  // from 1
  std::string what;

  std::string text() const;  // "checkpointing.md:12: There is no figure …"
};
using Problems = std::vector<Problem>;

struct Entry {
  std::string key, value;
  int line = 0;
};

// A part of the body. Text is Markdown; "more" is the line <!--more-->.
struct Part {
  std::string kind;                 // "text", "formula", "more", or the word after ```
  std::vector<Entry> entries = {};  // a block's first lines, its settings
  std::string text = {};            // trimmed
  int line = 0;                     // line of the text
  int opened = 0;                   // line of ```, else of the text
};

//     ---
//     title: Keep it, or compute it again
//     ---
//     Prose with [terms](term:activations).
//
//     ```question
//     kind: number
//
//     How high is the peak?
//     ```
struct Document {
  std::string file;
  std::vector<Entry> front;
  std::vector<Part> parts;
};

// Splits a text into lines without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  int number() const { return number_; }  // the last line taken, from 1
  std::string_view take();

 private:
  std::string_view rest_;
  int number_ = 0;
};

Document parse_document(std::string_view text, std::string_view file, Problems& problems);

std::string_view trimmed(std::string_view text);
// Splits at white space.
std::vector<std::string> words_of(std::string_view text);

}  // namespace headroom::lessons
