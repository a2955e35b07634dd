// Pieces of files to tensors, and tensors to files.
#include "demos/engine/llama/model/stored_tensors.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <c10/util/Exception.h>

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

std::string words_of(StoredType type, const std::vector<std::int64_t>& shape) {
  return text_of(shape) + " in " + std::string(name_of(type));
}

}  // namespace

StoredType stored_type(at::ScalarType type) {
  for (const StoredType stored :
       {StoredType::kF32, StoredType::kF16, StoredType::kBf16, StoredType::kI64, StoredType::kI32, StoredType::kU8})
    if (type_of(stored) == type) return stored;
  TORCH_CHECK(false, "no type of safetensors files is read that stores ", type);
}

void copy_stored(const StoredWeights& files, const StoredTensor& stored, const at::Tensor& into, std::int64_t first) {
  constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;
  const auto element = static_cast<std::uint64_t>(bytes_of(stored.type));
  const at::Tensor flat = into.detach().view({-1});
  const std::uint64_t before = static_cast<std::uint64_t>(first) * element,
                      bytes = static_cast<std::uint64_t>(flat.numel()) * element;
  std::vector<std::byte> piece(std::min(kPiece, bytes));
  for (std::uint64_t begin = 0; begin < bytes; begin += kPiece) {
    piece.resize(std::min(kPiece, bytes - begin));
    read_stored(files, stored, before + begin, piece);
    const auto count = static_cast<std::int64_t>(piece.size() / element);
    flat.narrow(0, static_cast<std::int64_t>(begin / element), count)
        .copy_(at::from_blob(piece.data(), {count}, type_of(stored.type)));
  }
}

record::Status read_tensors(const std::filesystem::path& file, std::span<const StateTensor> into,
                            const std::string& cure) {
  record::Result<StoredTensors> header = read_safetensors_header(file, /*whole_numbers=*/true);
  if (!header) return header.error();
  const StoredWeights files{.files = {file}, .tensors = std::move(header).value()};
  const auto refused = [&](const std::string& what) {
    return record::Error{file.string() + " " + what + "; " + cure + "."};
  };
  for (const auto& [name, tensor] : into) {
    const auto found = files.tensors.find(name);
    if (found == files.tensors.end()) return refused("has no tensor " + name);
    const StoredTensor& stored = found->second;
    const StoredType type = stored_type(tensor.scalar_type());
    if (stored.type != type || stored.shape != tensor.sizes().vec())
      return refused("has tensor " + name + " as " + words_of(stored.type, stored.shape) + ", and this run needs " +
                     words_of(type, tensor.sizes().vec()));
  }
  if (files.tensors.size() != into.size())
    for (const auto& [name, stored] : files.tensors)
      if (std::ranges::find(into, name, &StateTensor::name) == into.end())
        return refused("has tensor " + name + ", and this run has none of that name");
  const at::AutoGradMode grad_mode(false);
  for (const auto& [name, tensor] : into) copy_stored(files, files.tensors.at(name), tensor);
  return record::Ok{};
}

TensorToWrite to_write(const StateTensor& tensor) {
  return {.name = tensor.name,
          .type = tensor.tensor.scalar_type(),
          .shape = tensor.tensor.sizes().vec(),
          .value = [value = tensor.tensor] { return value; }};
}

TensorFile::TensorFile(std::string name, std::vector<TensorToWrite> tensors)
    : name_(std::move(name)), tensors_(std::move(tensors)) {
  std::vector<WrittenTensor> stored;
  for (const TensorToWrite& tensor : tensors_)
    stored.push_back({.name = tensor.name, .type = stored_type(tensor.type), .shape = tensor.shape});
  header_ = written_header(std::move(stored));
}

record::Status TensorFile::reserve(NewFolder& folder) const { return folder.reserve(name_, header_.file_bytes); }

record::Status TensorFile::write(NewFolder& folder) const {
  const at::AutoGradMode grad_mode(false);
  if (const record::Status head = folder.write(name_, 0, std::as_bytes(std::span(header_.bytes))); !head) return head;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const at::Tensor here = tensors_[i].value().detach().cpu().contiguous();
    const std::span bytes(static_cast<const std::byte*>(here.const_data_ptr()), here.nbytes());
    if (const record::Status written = folder.write(name_, header_.tensors[i].begin, bytes); !written) return written;
  }
  return record::Ok{};
}

}  // namespace headroom::llama
