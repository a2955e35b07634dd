#include "lessons/names.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/llama/operators.h"

namespace headroom::lessons {
namespace {

using record::Category;

std::string readable(std::string_view op) {
  std::string text;
  for (const char c : op) {
    if (c == '.') {
      text += ", ";
    } else {
      text += c == '_' ? ' ' : c;
    }
  }
  return capitalised(text);
}

}  // namespace

std::string tensor_name(Category category, std::string_view op) {
  const llama::Operator* const known = llama::find_operator(op);
  if (known == nullptr || known->output.empty())
    return op.empty() ? capitalised(record::label_of(category)) : readable(op);
  const bool has_part = !known->part.empty();
  switch (category) {
    case Category::kWeights:
      return has_part ? fmt::format("{} weights", known->part) : std::string(known->output);
    case Category::kGradients:
      return has_part ? fmt::format("{} weight gradients", known->part) : fmt::format("{}, gradient", known->output);
    case Category::kOptimizerState:
      return has_part ? std::string(known->part) : std::string(known->output);
    case Category::kWorkspace:
      return has_part ? fmt::format("{} workspace", known->part) : capitalised(record::label_of(category));
    default:
      return std::string(known->output);
  }
}

std::string operation_name(std::string_view op) {
  const llama::Operator* const known = llama::find_operator(op);
  if (known != nullptr && !known->operation.empty()) return std::string(known->operation);
  std::string words(llama::last_part(op));
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string layers_text(std::uint16_t first, std::uint16_t last) {
  if (first == record::kNoLayer || last == record::kNoLayer) return {};
  return first == last ? fmt::format("layer {}", first) : fmt::format("layers {} to {}", first, last);
}

std::string capitalised(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

}  // namespace headroom::lessons
