// Quantizes the trained tiny model's moments with two maps and three block sizes.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/quantisation_error.h"
#include "demos/engine/llama/step/train_step.h"

namespace headroom::experiments {

namespace {

constexpr std::array kBlocks{64, 256, 2048};  // 256 is our block size, 2048 the paper's

class MomentsRun final : public DemoRun {
 public:
  MomentsRun(const record::Params& params, const RunSetting& setting, tokens::TokenData text)
      : text_(std::move(text)),
        batch_(params.integer("batch")),
        seq_(params.integer("seq")),
        seed_(static_cast<std::uint64_t>(params.integer("seed"))),
        steps_(static_cast<int>(params.integer("steps"))),
        options_{.cancel = setting.cancel},
        model_(llama::make_model(*llama::find_config("tiny"), {},
                                 {.device = setting.place.device, .target = setting.place.target}, seq_, seed_,
                                 setting.cancel)),
        optimizer_(llama::parameters(model_), {.learning_rate = params.real("learning_rate")}) {}

  StepResult step(int index) override {
    const at::Tensor tokens_2BT = llama::make_batch(text_.view(), batch_, seq_, seed_, index);
    try {
      loss_ = llama::train_step(model_, optimizer_, tokens_2BT, options_, index);
    } catch (const llama::Cancelled&) {
      return StepResult::kCancelled;
    }
    last_ = index;
    return StepResult::kDone;
  }
  int steps() const override { return steps_; }
  int marks_per_step() const override { return llama::marks_per_step(model_.config, options_); }
  StepReport report() override {
    StepReport report{.loss = loss_.item<double>(), .tokens = batch_ * seq_};
    if (last_ + 1 == steps_) report.histograms = histograms();
    return report;
  }

 private:
  std::vector<record::Histogram> histograms() const {
    std::vector<at::Tensor> first, second;
    for (std::size_t i = 0; i < optimizer_.parameters().size(); ++i) {
      first.push_back(optimizer_.first_moment(i));
      second.push_back(optimizer_.second_moment(i));
    }
    const record::Scope scope(record::Category::kWorkspace, llama::number_of(llama::Op::kQuantise));
    std::vector<record::Histogram> all;
    const auto add = [&](const char* moment, std::span<const at::Tensor> tensors, bool is_signed) {
      for (const auto& [name, map] : {std::pair("linear", llama::QuantisationMap::kLinear),
                                      std::pair("dynamic", llama::QuantisationMap::kDynamic)}) {
        for (const int block : kBlocks) {
          const std::string full_name = std::string(moment) + "." + name + "." + std::to_string(block);
          all.push_back(llama::quantisation_error(full_name, tensors, map, is_signed, block));
          all.back().step = last_;
        }
      }
    };
    add("first_moment", first, /*is_signed=*/true);
    add("second_moment", second, /*is_signed=*/false);
    return all;
  }

  tokens::TokenData text_;
  std::int64_t batch_, seq_;
  std::uint64_t seed_;
  int steps_, last_ = 0;
  llama::TrainOptions options_;
  llama::Model model_;
  llama::AdamW optimizer_;
  at::Tensor loss_;
};

class MomentsRequest final : public DemoRequest {
 public:
  explicit MomentsRequest(const record::Params& params) : params_(params) {}

  std::map<std::string, std::string> facts(const RunSetting& setting) const override {
    return llama::data_facts({.file = setting.course_text});
  }
  record::Result<std::unique_ptr<DemoRun>> make(const RunSetting& setting) override {
    if (setting.place.device.is_meta())
      return record::Error{"Moments can be measured but not predicted.", record::ErrorKind::kRefused};
    record::Result<tokens::TokenData> text = tokens::TokenData::read({.file = setting.course_text}, setting.cancel);
    if (!text) return text.error();
    record::mark(record::Phase::kSetup);
    try {
      return std::unique_ptr<DemoRun>(std::make_unique<MomentsRun>(params_, setting, std::move(text).value()));
    } catch (const llama::Cancelled&) {
      return record::Error{"Cancelled while the model was built.", record::ErrorKind::kRefused};
    }
  }

 private:
  record::Params params_;
};

record::Result<std::unique_ptr<DemoRequest>> read_moments(const record::Params& params) {
  return std::unique_ptr<DemoRequest>(std::make_unique<MomentsRequest>(params));
}

}  // namespace

extern const DemoRunner kMomentsRunner;
constinit const DemoRunner kMomentsRunner = {.id = "moments", .read = &read_moments};

}  // namespace headroom::experiments
