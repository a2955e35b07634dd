// print_ids TOKENIZER TEXT: ids as uint32 on stdout, time on stderr. For compare_tokenizers.py.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "demos/tokens/tokenizer.h"

int main(int count, char** arguments) {
  using Clock = std::chrono::steady_clock;
  if (count != 3) return 2;
  const auto begun = Clock::now();
  const auto tokenizer = headroom::tokens::read_tokenizer(arguments[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  std::ifstream file(arguments[2], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto read = Clock::now();
  const auto ids = headroom::tokens::encode(tokenizer.value(), text);
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  std::fprintf(stderr, "read in %.3f s, %zu bytes to %zu ids in %.3f s\n", seconds(read - begun), text.size(),
               ids.size(), seconds(Clock::now() - read));
  return std::fwrite(ids.data(), sizeof ids[0], ids.size(), stdout) == ids.size() ? 0 : 1;
}
