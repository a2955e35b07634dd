// Words about a run and its card.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::lessons {

record::RunInfo run_with(const record::Params& train_step);
record::Params step_params_of(const record::RunInfo& info);
// True for one training step, not a sweep.
bool is_one_step(const record::Recording& recording);

// The value of a key; empty if missing.
std::string value_of(const std::map<std::string, std::string>& map, std::string_view key);
// Schema of the run's demo; empty if this program does not know it.
record::Schema schema_of(const record::RunInfo& info);

// "Llama 3.2 1B, bf16, batch 4, 1,024 tokens, NVIDIA H200". A custom model has its layers and hidden size.
std::string provenance_line(const record::RunInfo& info);
// The same without the device, for settings that have not run.
std::string settings_line(const record::RunInfo& info);

// "optimizer=muon, foo=1": settings that this version does not know, such as a later one's.
std::string unknown_settings(const record::RunInfo& info);

// "NVIDIA H200", "AMD EPYC"; "GPU" or "CPU" if the name is unknown.
std::string device_name(const record::RunInfo& info);

// True for the same model, batch, sequence and kind of device.
bool same_shape(const record::RunInfo& a, const record::RunInfo& b);

// True if provenance_line() includes the parameter.
bool in_provenance_line(const record::ParamSpec& spec);

// Provenance for files: the run's own, its parameters and outcome, and the figure's parameters.
std::map<std::string, std::string> full_provenance(const record::Recording& recording, const record::Params& figure);

// "cut off: 1,234 events and 6 marks were read, the rest is missing"; empty if the file is whole.
std::string cut_off_words(const record::Recording& recording);

// Adds the compared run's provenance, with keys after "run_a."; "run_a.run" is its line in words.
void add_baseline(std::map<std::string, std::string>& provenance, const record::Recording& baseline);

// "Checkpointing “off” cannot be combined with Stream weights “on”: …": a training step's first conflict, if any, with
// `first` named first if involved.
std::string conflict_in_words(const record::Params& params, std::string_view first = {});

}  // namespace headroom::lessons
