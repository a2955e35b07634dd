// Writes the folder of a run, and reads it to resume.
#include "demos/engine/experiments/train_step_save.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "demos/engine/llama/model/weights/written_model.h"
#include "demos/llama/files/hugging_face.h"

namespace headroom::experiments {

namespace {

namespace fs = std::filesystem;
using predict::AdapterKind;
using record::Error;
using record::Status;

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kAdapterFile = "adapter_model.safetensors";
constexpr const char* kCure = "resume with the settings of the run that wrote it";

bool saves_adapters(const predict::StepSettings& settings) {
  return settings.adapters.kind != AdapterKind::kOff && !settings.files.save_merged;
}

// With several ranks, rank 0's fp8 scales are saved; the others' differ a little, and follow their own tensors again.
std::vector<llama::StateTensor> state_of(const BuiltStep& step) {
  std::vector<llama::StateTensor> all = step.optimizer.state();
  if (!step.model.fp8) return all;
  const std::vector<llama::StateTensor> scales = step.model.fp8->state();
  all.insert(all.end(), scales.begin(), scales.end());
  return all;
}

std::vector<llama::TensorToWrite> to_write(const std::vector<llama::StateTensor>& tensors) {
  std::vector<llama::TensorToWrite> all;
  for (const llama::StateTensor& tensor : tensors) all.push_back(llama::to_write(tensor));
  return all;
}

std::string adapters_of(const BuiltStep& step) {
  const llama::AdapterOptions& options = step.model.adapter_options;
  llama::WrittenAdapters written{.rank = options.rank,
                                 .alpha = options.alpha,
                                 .gaussian = options.start == predict::AdapterStart::kGaussian,
                                 .targets = {},
                                 .base_model = step.settings.files.weights};
  for (std::size_t k = 0; k < llama::kProjectionKinds; ++k) {
    const auto kind = static_cast<llama::ProjectionKind>(k);
    const std::string name = llama::projection_name(kind);
    if (llama::has_adapter(options.targets, kind)) written.targets.push_back(name.substr(name.find('.') + 1));
  }
  return llama::written_adapters(written);
}

Status check_place(const llama::TrainingPlace& place, const BuiltStep& step) {
  const auto differs = [&](const std::string& what, std::int64_t was, std::int64_t is, const std::string& cure) {
    return Error{step.settings.files.resume + " was trained with " + what + " " + std::to_string(was) +
                 ", but this run has " + std::to_string(is) + "; " + cure + "."};
  };
  const auto seed = static_cast<std::int64_t>(step.settings.seed);
  if (place.seed != seed) return differs("seed", place.seed, seed, "use seed=" + std::to_string(place.seed));
  if (place.ids != step.ids)
    return differs("this many tokens of data:", place.ids, step.ids,
                   "use the same data, set eval_every in both runs or in neither, or use weights instead of resume");
  return record::Ok{};
}

// The trained weights as this rank holds them: whole, or its parts.
std::vector<llama::Parameter> held_weights(const BuiltStep& step) {
  if (step.model.adapters.empty() && step.settings.parallel.shares(predict::Zero::kWeights))
    return step.optimizer.optimizer().parameters();
  return llama::trainable_parameters(step.model);
}

std::vector<llama::TensorToWrite> whole_model(const BuiltStep& step) {
  return llama::whole_model(step.model,
                            step.model.adapters.empty() ? held_weights(step) : llama::parameters(step.model));
}

}  // namespace

record::Result<std::int64_t> resume(const BuiltStep& step) {
  const fs::path folder = step.settings.files.resume;
  const record::Result<llama::TrainingPlace> place = llama::read_place(folder);
  if (!place) return place.error();
  if (const Status same = check_place(place.value(), step); !same) return same.error();
  const bool adapters = step.settings.adapters.kind != AdapterKind::kOff;
  if (!adapters) {
    const record::Result<llama::Config> config = llama::read_hugging_face_config(folder);
    if (!config) return config.error();
    if (const Status same = llama::check_same(step.model.config, config.value(), folder); !same) return same.error();
  }
  const std::vector<llama::StateTensor> trained = llama::trained_tensors(step.model, held_weights(step)),
                                        state = state_of(step);
  if (const Status read =
          llama::read_tensors(folder / (adapters ? kAdapterFile : kModelFile), llama::Holds::kWeights, trained, kCure);
      !read)
    return read.error();
  if (const Status read = llama::read_tensors(folder / llama::kStateFile, llama::Holds::kState, state, kCure); !read)
    return read.error();
  step.optimizer.restored();
  return place.value().steps;
}

StepSaver::StepSaver(std::unique_ptr<llama::NewFolder> folder, const BuiltStep& step)
    : folder_(std::move(folder)),
      ranks_(step.ranks),
      place_{.steps = 0, .seed = static_cast<std::int64_t>(step.settings.seed), .ids = step.ids},
      with_place_(step.settings.files.save_state) {
  if (saves_adapters(step.settings))
    files_.emplace_back(kAdapterFile, to_write(llama::trained_tensors(step.model, held_weights(step))));
  else
    files_.emplace_back(kModelFile, whole_model(step));
  if (with_place_) files_.emplace_back(llama::kStateFile, to_write(state_of(step)));
}

record::Result<std::unique_ptr<StepSaver>> StepSaver::create(const BuiltStep& step) {
  const std::string& path = step.settings.files.save;
  const auto of_folder = [&](std::unique_ptr<llama::NewFolder> folder) {
    return std::unique_ptr<StepSaver>(new StepSaver(std::move(folder), step));
  };
  if (step.ranks != nullptr && step.ranks->rank() != 0) {
    auto saver = of_folder(llama::NewFolder::join(path, step.run));
    step.ranks->barrier();  // until rank 0 has reserved the files
    if (const Status opened = saver->reserve(); !opened) return opened.error();
    return saver;
  }
  auto folder = llama::NewFolder::create(path, step.run);
  if (!folder) return folder.error();
  auto saver = of_folder(std::move(folder).value());
  if (const Status reserved = saver->reserve(); !reserved) return reserved.error();
  if (const Status put = saver->put_texts(step); !put) return put.error();
  if (step.ranks != nullptr) step.ranks->barrier();
  return saver;
}

Status StepSaver::reserve() {
  for (const llama::TensorFile& file : files_)
    if (const Status reserved = file.reserve(*folder_); !reserved) return reserved;
  return record::Ok{};
}

// Called early: training does not change the texts.
Status StepSaver::put_texts(const BuiltStep& step) {
  if (saves_adapters(step.settings)) {
    if (const Status put = folder_->put("adapter_config.json", adapters_of(step)); !put) return put;
  } else {
    const llama::StoredType type = llama::stored_type(step.model.embed_tokens_VH.scalar_type());
    const auto config = llama::written_config(step.model.config, type, step.settings.files.weights);
    if (!config) return config.error();
    if (const Status put = folder_->put("config.json", config.value()); !put) return put;
  }
  if (step.settings.files.weights.empty()) return record::Ok{};
  for (const char* const name : {llama::kTokenizerFile, "tokenizer_config.json", "special_tokens_map.json"}) {
    std::ifstream file(llama::model_folder(step.settings.files.weights) / name, std::ios::binary);
    if (!file.is_open()) continue;
    const std::string content(std::istreambuf_iterator<char>(file), {});
    if (const Status put = folder_->put(name, content); !put) return put;
  }
  return record::Ok{};
}

Status StepSaver::write(std::int64_t steps) {
  const auto here = [this](const llama::TensorToWrite& tensor) {
    if (ranks_ == nullptr) return true;
    return tensor.part ? ranks_->in_first_copy() && !tensor.part->elsewhere : ranks_->rank() == 0;
  };
  for (const llama::TensorFile& file : files_)
    if (const Status written = file.write(*folder_, here); !written) return written;
  if (!folder_->created_here()) {
    const Status flushed = folder_->flush();
    if (flushed) ranks_->barrier();
    return flushed;
  }
  if (ranks_ != nullptr) ranks_->barrier();  // until all parts are on disk
  place_.steps = steps;
  if (with_place_)
    if (const Status put = folder_->put(llama::kPlaceFile, llama::written_place(place_)); !put) return put;
  return folder_->commit();
}

}  // namespace headroom::experiments
