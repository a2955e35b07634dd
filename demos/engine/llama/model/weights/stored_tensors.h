// Reads tensors from safetensors files and writes them, piece by piece.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/weights/state_tensor.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/llama/files/new_folder.h"
#include "demos/llama/files/written_config.h"
#include "demos/record/result.h"

namespace headroom::llama {

StoredType stored_type(at::ScalarType type);

// Copies a weight, or its values from index `first` on. Throws UnusableWeights, also for numbers that are not finite in
// the type of `into`.
void copy_weight(const StoredWeights& files, const std::string& name, const at::Tensor& into, std::int64_t first = 0);

// Fills `into` with stored values from index `first` on, converted to the type of `into`. For a GPU the host converts
// them piece by piece. Throws UnusableWeights.
void copy_stored(const StoredWeights& files, const StoredTensor& stored, const at::Tensor& into,
                 std::int64_t first = 0);

// Weights must be finite; an optimizer's state need not be.
enum class Holds : std::uint8_t { kWeights, kState };

// Copies the file's values into these tensors or parts. Unless names, shapes and types match exactly, changes nothing
// and fails with a sentence that ends with `cure`. Throws UnusableWeights.
record::Status read_tensors(const std::filesystem::path& file, Holds holds, std::span<const StateTensor> into,
                            const std::string& cure);

// `value` computes a tensor, such as a merged weight, or a part of it, on demand.
struct TensorToWrite {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;  // of the whole
  std::function<at::Tensor()> value;
  std::optional<Part> part = {};  // none: whole
};
TensorToWrite to_write(const StateTensor& tensor);

// The ranks of a run write the same file, each its own parts. Parts of one tensor have one name.
class TensorFile {
 public:
  TensorFile(std::string name, std::vector<TensorToWrite> tensors);
  // Writes the header, unless another rank created the folder.
  record::Status reserve(NewFolder& folder) const;
  // Writes what `here` accepts. Waits for the device.
  record::Status write(NewFolder& folder, const std::function<bool(const TensorToWrite&)>& here) const;

 private:
  std::string name_;
  std::vector<TensorToWrite> tensors_;
  std::vector<std::uint64_t> begins_;  // of each tensor or part in the file
  WrittenHeader header_;
};

}  // namespace headroom::llama
