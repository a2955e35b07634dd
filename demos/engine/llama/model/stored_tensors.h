// Tensors out of safetensors files and into them, a piece at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/state_tensor.h"
#include "demos/llama/hugging_face.h"
#include "demos/llama/new_folder.h"
#include "demos/llama/written_config.h"
#include "demos/record/result.h"

namespace headroom::llama {

StoredType stored_type(at::ScalarType type);

// Copies a weight of the files. Throws UnusableWeights, also for a number that is not finite in the type of `into`.
void copy_weight(const StoredWeights& files, const std::string& name, const at::Tensor& into);

// The stored values from the one at `first` on in the memory of `into`, converted to its type: towards a GPU, LibTorch
// converts on the host, in as much memory as a piece takes. Throws UnusableWeights.
void copy_stored(const StoredWeights& files, const StoredTensor& stored, const at::Tensor& into,
                 std::int64_t first = 0);

// What a file of tensors has: a model's weights are finite, what an optimizer keeps need not be.
enum class Holds : std::uint8_t { kWeights, kState };

// Copies the file's values into these tensors, which must be all that it has, in their shapes and types: else refused,
// with a sentence that ends with `cure`, and nothing is changed. Throws UnusableWeights.
record::Status read_tensors(const std::filesystem::path& file, Holds holds, std::span<const StateTensor> into,
                            const std::string& cure);

// A tensor that is made when its turn comes: a merged weight exists for as long as it is written.
struct TensorToWrite {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  std::function<at::Tensor()> value;
};
TensorToWrite to_write(const StateTensor& tensor);

// A safetensors file in a folder that is being made.
class TensorFile {
 public:
  TensorFile(std::string name, std::vector<TensorToWrite> tensors);
  record::Status reserve(NewFolder& folder) const;
  // Waits for the device.
  record::Status write(NewFolder& folder) const;

 private:
  std::string name_;
  std::vector<TensorToWrite> tensors_;
  WrittenHeader header_;
};

}  // namespace headroom::llama
