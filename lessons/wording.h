// The words around a figure that come from a run: what it ran on, what its card is called.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::lessons {

// "Llama 3.2 1B, bf16, batch 4, 1,024 tokens, NVIDIA H200"; a custom model with its layers and hidden size
std::string provenance_line(const record::RunInfo& info);
// The same without the device, for settings that nothing has run with.
std::string settings_line(const record::RunInfo& info);

// "optimizer=muon, foo=1": settings of a run that this version does not know, such as those of a later one; empty: none.
std::string unknown_settings(const record::RunInfo& info);

// "NVIDIA H200", "AMD EPYC"; "GPU", "CPU" where its name is not known.
std::string device_name(const record::RunInfo& info);

// Whether two runs are of one model, batch and sequence on the same kind of device.
bool same_shape(const record::RunInfo& a, const record::RunInfo& b);

// Whether that line says the parameter's value.
bool in_provenance_line(const record::ParamSpec& spec);

// "Checkpointing": "checkpointing", as inside a sentence.
std::string in_lower_case(std::string_view label);

// What a file with a figure of this run must say beside the source of its numbers: the run's own provenance, its
// parameters, how it ended, whether its file was cut off, and the figure's parameters.
std::map<std::string, std::string> full_provenance(const record::Recording& recording, const record::Params& figure);

// "cut off: 1,234 events and 6 marks were read, the rest is missing"; empty: its file is whole.
std::string cut_off_words(const record::Recording& recording);

// Adds what a file must say of the run that the figure compares with: the same keys, after "run_a."; its line in words is
// "run_a.run".
void add_baseline(std::map<std::string, std::string>& provenance, const record::Recording& baseline);

// "Checkpointing “off” does not go with Stream weights “on”: …", as a page names its settings: the first conflict among
// those of a training step, `first` before the other where it has a part in it. Empty: they go together.
std::string conflict_in_words(const record::Params& params, std::string_view first = {});

}  // namespace headroom::lessons
