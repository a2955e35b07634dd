// Reads and writes tables of algorithms.
#include "kernels/narrow_product/product_table.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace headroom::kernels {

namespace {

constexpr std::string_view kHead = "Algorithms of cuBLASLt, found by product_times";
constexpr std::string_view kColumns = "pass,format,rows,outputs,inputs,algorithm";
constexpr std::string_view kLibTorch = "libtorch";
constexpr std::array<std::string_view, 3> kPasses{"output", "input_gradient", "weight_gradient"};
constexpr std::array<std::string_view, 3> kFormats{"bf16", "fp16", "fp8"};

// Returns the part before the next `end`; removes both from `rest`.
std::string_view take(std::string_view& rest, char end) {
  const std::string_view part = rest.substr(0, rest.find(end));
  rest.remove_prefix(part.size() == rest.size() ? rest.size() : part.size() + 1);
  return part;
}

template <class Enum>
bool read(std::string_view word, const std::array<std::string_view, 3>& words, Enum& value) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != word) continue;
    value = static_cast<Enum>(i);
    return true;
  }
  return false;
}

template <class Number>
bool read(std::string_view word, int base, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc() && end == word.data() + word.size();
}

bool read_product(std::string_view line, LinearProduct& product, std::optional<ProductAlgorithm>& algorithm) {
  bool good = read(take(line, ','), kPasses, product.pass) && read(take(line, ','), kFormats, product.format);
  for (std::int64_t* side : {&product.rows, &product.outputs, &product.inputs})
    good = good && read(take(line, ','), 10, *side) && *side > 0;
  if (line == kLibTorch) return good;
  for (std::uint64_t& word : algorithm.emplace()) good = good && read(take(line, ' '), 16, word);
  return good && line.empty();
}

std::string words_of(const ProductAlgorithm& algorithm) {
  std::string text;
  for (std::size_t i = 0; i < algorithm.size(); ++i) {
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), algorithm[i], 16);
    text += (i == 0 ? "" : " ") + std::string(digits.data(), end);
  }
  return text;
}

bool read_place(std::string_view& rest, std::string_view key, std::string& value) {
  std::string_view line = take(rest, '\n');
  if (take(line, '=') != key || line.empty()) return false;
  value = line;
  return true;
}

}  // namespace

std::string text_of(const ProductTable& table) {
  std::string text = std::string(kHead) + "\ngpu=" + table.place.gpu + "\ndriver=" + table.place.driver +
                     "\ncublaslt=" + table.place.cublaslt + "\n" + std::string(kColumns) + "\n";
  for (const auto& [product, algorithm] : table.algorithms) {
    text += std::string(kPasses[static_cast<std::size_t>(product.pass)]) + ',';
    text += std::string(kFormats[static_cast<std::size_t>(product.format)]) + ',';
    for (const std::int64_t side : {product.rows, product.outputs, product.inputs}) text += std::to_string(side) + ',';
    text += (algorithm ? words_of(*algorithm) : std::string(kLibTorch)) + '\n';
  }
  return text;
}

std::optional<ProductTable> parse_product_table(std::string_view text) {
  ProductTable table;
  if (take(text, '\n') != kHead || !read_place(text, "gpu", table.place.gpu) ||
      !read_place(text, "driver", table.place.driver) || !read_place(text, "cublaslt", table.place.cublaslt) ||
      take(text, '\n') != kColumns)
    return std::nullopt;
  while (!text.empty()) {
    LinearProduct product;
    std::optional<ProductAlgorithm> algorithm;
    if (!read_product(take(text, '\n'), product, algorithm)) return std::nullopt;
    table.algorithms[product] = algorithm;
  }
  return table;
}

}  // namespace headroom::kernels
