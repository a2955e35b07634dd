// Tensors out of safetensors files and into them, a piece at a time.
#pragma once

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

// The stored values from the one at `first` on in the memory of `into`, converted to its type: towards a GPU, LibTorch converts
// on the host, in as much memory as a piece takes. Throws FileChanged.
void copy_stored(const StoredWeights& files, const StoredTensor& stored, const at::Tensor& into,
                 std::int64_t first = 0);

// The file's values in these tensors, which are all that it has, in their shapes and types: else refused, with a sentence
// that ends with `cure`, and nothing is changed. Throws FileChanged.
record::Status read_tensors(const std::filesystem::path& file, std::span<const StateTensor> into,
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
