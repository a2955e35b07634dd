// Copies between files and tensors.
#include "demos/engine/llama/model/weights/stored_tensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <future>
#include <map>
#include <set>
#include <utility>

#include <c10/util/Exception.h>

#include "demos/llama/not_finite.h"

namespace headroom::llama {

namespace {

at::ScalarType type_of(StoredType type) {
  switch (type) {
    case StoredType::kF32:
      return at::kFloat;
    case StoredType::kF16:
      return at::kHalf;
    case StoredType::kBf16:
      return at::kBFloat16;
    case StoredType::kI64:
      return at::kLong;
    case StoredType::kI32:
      return at::kInt;
    case StoredType::kU8:
      break;
  }
  return at::kByte;
}

// From a GPU, one buffer is written to the file while the other is filled. Page-locked buffers were no faster.
class TensorWriter {
 public:
  TensorWriter(NewFolder& folder, const std::string& file) : folder_(folder), file_(file) {}

  record::Status write(const at::Tensor& tensor, std::uint64_t begin) {
    const at::Tensor plain = tensor.is_contiguous() ? tensor : tensor.cpu().contiguous();
    const at::Tensor bytes = plain.detach().view({-1}).view(at::kByte);
    if (bytes.is_cuda()) return write_pieces(bytes, begin);
    const record::Status before = finish();
    return before ? folder_.write(file_, begin, span_of(bytes)) : before;
  }

  record::Status finish() { return writing_.valid() ? writing_.get() : record::Ok{}; }

 private:
  static constexpr std::int64_t kPiece = 16 << 20;

  static std::span<const std::byte> span_of(const at::Tensor& bytes) {
    return {static_cast<const std::byte*>(bytes.const_data_ptr()), bytes.nbytes()};
  }

  record::Status write_pieces(const at::Tensor& bytes, std::uint64_t begin) {
    for (std::int64_t first = 0; first < bytes.numel(); first += kPiece) {
      const std::int64_t size = std::min(kPiece, bytes.numel() - first);
      at::Tensor& piece = pieces_[next_];
      if (!piece.defined()) piece = at::empty({kPiece}, at::kByte);
      const at::Tensor here = piece.narrow(0, 0, size);
      here.copy_(bytes.narrow(0, first, size));
      if (const record::Status written = finish(); !written) return written;
      writing_ = std::async(std::launch::async, [this, here, place = begin + static_cast<std::uint64_t>(first)] {
        return folder_.write(file_, place, span_of(here));
      });
      next_ = 1 - next_;
    }
    return record::Ok{};
  }

  NewFolder& folder_;
  const std::string& file_;
  std::array<at::Tensor, 2> pieces_;  // allocated lazily
  std::size_t next_ = 0;
  std::future<record::Status> writing_;
};

std::string words_of(StoredType type, const std::vector<std::int64_t>& shape) {
  return text_of(shape) + " in " + std::string(name_of(type));
}

}  // namespace

StoredType stored_type(at::ScalarType type) {
  for (const StoredType stored :
       {StoredType::kF32, StoredType::kF16, StoredType::kBf16, StoredType::kI64, StoredType::kI32, StoredType::kU8})
    if (type_of(stored) == type) return stored;
  TORCH_CHECK(false, "safetensors files have no type for ", type);
}

namespace {

// Calls `look` with each piece and the index of its first value before copying it.
template <class Look>
void copy_pieces(const StoredWeights& files, const StoredTensor& stored, const at::Tensor& into, std::int64_t first,
                 Look look) {
  constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;
  const auto element = static_cast<std::uint64_t>(bytes_of(stored.type));
  const at::Tensor flat = into.detach().view({-1});
  const std::uint64_t before = static_cast<std::uint64_t>(first) * element,
                      bytes = static_cast<std::uint64_t>(flat.numel()) * element;
  std::vector<std::byte> piece(std::min(kPiece, bytes));
  for (std::uint64_t begin = 0; begin < bytes; begin += kPiece) {
    piece.resize(std::min(kPiece, bytes - begin));
    read_stored(files, stored, before + begin, piece);
    look(std::span<const std::byte>(piece), (before + begin) / element);
    const auto count = static_cast<std::int64_t>(piece.size() / element);
    flat.narrow(0, static_cast<std::int64_t>(begin / element), count)
        .copy_(at::from_blob(piece.data(), {count}, type_of(stored.type)));
  }
}

// Indices such as "[3, 17]".
std::string place_in(const std::vector<std::int64_t>& shape, std::uint64_t index) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto length = static_cast<std::uint64_t>(shape[i]);
    place[i] = static_cast<std::int64_t>(index % length);
    index /= length;
  }
  return text_of(place);
}

}  // namespace

void copy_weight(const StoredWeights& files, const std::string& name, const at::Tensor& into, std::int64_t first) {
  const StoredTensor& stored = files.tensors.find(name)->second;
  const StoredType as = stored_type(into.scalar_type());
  copy_pieces(files, stored, into, first, [&](std::span<const std::byte> piece, std::uint64_t before) {
    const auto found = first_not_finite(piece, stored.type, as);
    if (!found) return;
    const std::string what = words_of_not_finite(piece, *found, stored.type, as);
    const bool too_large = !first_not_finite(piece.subspan(*found * static_cast<std::size_t>(bytes_of(stored.type)),
                                                           static_cast<std::size_t>(bytes_of(stored.type))),
                                             stored.type, stored.type);
    throw UnusableWeights(files.files[stored.file].string() + " has " + what + " in tensor " + name + " at " +
                          place_in(stored.shape, before + *found) + ", so the loss would not be finite; " +
                          (too_large ? "use a precision with a wider range, such as bf16_mixed."
                                     : "download the file again, or use weights from before the training diverged."));
  });
}

void copy_stored(const StoredWeights& files, const StoredTensor& stored, const at::Tensor& into, std::int64_t first) {
  copy_pieces(files, stored, into, first, [](std::span<const std::byte>, std::uint64_t) {});
}

record::Status read_tensors(const std::filesystem::path& file, Holds holds, std::span<const StateTensor> into,
                            const std::string& cure) {
  record::Result<StoredTensors> header = read_safetensors_header(file, /*whole_numbers=*/true);
  if (!header) return header.error();
  const StoredWeights files{.files = {file}, .tensors = std::move(header).value()};
  const auto refused = [&](const std::string& what) {
    return record::Error{file.string() + " " + what + "; " + cure + "."};
  };
  std::set<std::string> names;
  for (const StateTensor& each : into) {
    const auto found = files.tensors.find(each.name);
    if (found == files.tensors.end()) return refused("has no tensor " + each.name);
    const StoredTensor& stored = found->second;
    const StoredType type = stored_type(each.tensor.scalar_type());
    if (stored.type != type || stored.shape != each.whole_shape())
      return refused("has tensor " + each.name + " as " + words_of(stored.type, stored.shape) +
                     ", but this run needs " + words_of(type, each.whole_shape()));
    names.insert(each.name);
  }
  for (const auto& [name, stored] : files.tensors)
    if (!names.contains(name)) return refused("has tensor " + name + ", but this run has no tensor with that name");
  const at::AutoGradMode grad_mode(false);
  for (const StateTensor& each : into) {
    const std::int64_t first = each.part ? each.part->first : 0;
    if (holds == Holds::kWeights)
      copy_weight(files, each.name, each.tensor, first);
    else
      copy_stored(files, files.tensors.at(each.name), each.tensor, first);
  }
  return record::Ok{};
}

TensorToWrite to_write(const StateTensor& tensor) {
  return {.name = tensor.name,
          .type = tensor.tensor.scalar_type(),
          .shape = tensor.whole_shape(),
          .value = [value = tensor.tensor] { return value; },
          .part = tensor.part};
}

TensorFile::TensorFile(std::string name, std::vector<TensorToWrite> tensors)
    : name_(std::move(name)), tensors_(std::move(tensors)) {
  std::vector<WrittenTensor> stored;
  std::map<std::string, std::size_t> places;  // in `stored`
  for (const TensorToWrite& tensor : tensors_)
    if (places.emplace(tensor.name, stored.size()).second)
      stored.push_back({.name = tensor.name, .type = stored_type(tensor.type), .shape = tensor.shape});
  header_ = written_header(std::move(stored));
  for (const TensorToWrite& tensor : tensors_) {
    const std::int64_t first = tensor.part ? tensor.part->first : 0;
    begins_.push_back(header_.tensors[places.at(tensor.name)].begin +
                      static_cast<std::uint64_t>(first) * c10::elementSize(tensor.type));
  }
}

record::Status TensorFile::reserve(NewFolder& folder) const {
  const record::Status reserved = folder.reserve(name_, header_.file_bytes);
  if (!reserved || !folder.created_here()) return reserved;
  return folder.write(name_, 0, std::as_bytes(std::span(header_.bytes)));
}

record::Status TensorFile::write(NewFolder& folder, const std::function<bool(const TensorToWrite&)>& here) const {
  const at::AutoGradMode grad_mode(false);
  TensorWriter writer(folder, name_);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!here(tensors_[i])) continue;
    if (const record::Status written = writer.write(tensors_[i].value(), begins_[i]); !written) return written;
  }
  return writer.finish();
}

}  // namespace headroom::llama
