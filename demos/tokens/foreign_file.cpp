// Lists the first bytes of containers for tokens and texts, at least three each, since any two bytes may begin ids.
#include "demos/tokens/foreign_file.h"

#include <array>

namespace headroom::tokens {

namespace {

using namespace std::literals;

struct Kind {
  std::string_view magic, name;
};
constexpr std::array kKinds{Kind{"PK\x03\x04"sv, "a zip archive, as written by numpy.savez() and torch.save()"},
                            Kind{"PAR1"sv, "a Parquet file"},
                            Kind{"ARROW1"sv, "an Arrow file"},
                            Kind{"\xFF\xFF\xFF\xFF\x10\0\0\0"sv, "an Arrow stream, as written by datasets"},
                            Kind{"\x89HDF"sv, "an HDF5 file"},
                            Kind{"\x1F\x8B\x08\x00"sv, "compressed by gzip"},
                            Kind{"\x1F\x8B\x08\x08"sv, "compressed by gzip"},
                            Kind{"\x28\xB5\x2F\xFD"sv, "compressed by zstd"},
                            Kind{"\x80\x02\x8A\x0A"sv, "a pickle, as written by old versions of torch.save()"},
                            Kind{"\x80\x04\x95"sv, "a pickle"},
                            Kind{"\x93NUMPY"sv, "a NumPy array under another name than .npy"}};

}  // namespace

std::string_view foreign_kind(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Kind& kind : kKinds)
    if (text.starts_with(kind.magic)) return kind.name;
  return {};
}

}  // namespace headroom::tokens
