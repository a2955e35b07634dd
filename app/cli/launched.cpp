// Fits a run to the launcher that started this process.
#include "app/cli/launched.h"

#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "demos/backend/rank_group.h"
#include "demos/record/recording.h"

namespace headroom::app {

using protocol::Launch;
using record::Error;
using record::ErrorKind;
using record::Params;

record::Result<std::optional<Launch>> read_launched() {
  auto launch = protocol::read_launch(protocol::environment_variable);
  if (launch && launch.value() && launch.value()->place.ranks == 1) return std::optional<Launch>();
  return launch;
}

record::Status set_ranks(Params& params, const experiments::DemoInfo& demo, const Launch& launch) {
  if (demo.ranks != nullptr) return params.set("ranks", std::int64_t{launch.place.ranks});
  return Error{fmt::format("{} runs in one process, but {} started {}: start one.", demo.id, launch.launcher,
                           launch.place.ranks),
               ErrorKind::kRefused};
}

record::Status check_ranks(const Params& params, const Launch& launch) {
  if (params.integer("ranks") == launch.place.ranks) return record::Ok{};
  return Error{fmt::format("ranks={0} is set, but {1} started {2} processes: remove ranks={0}, or start {0}.",
                           params.integer("ranks"), launch.launcher, launch.place.ranks),
               ErrorKind::kRefused};
}

record::Status choose_gpu(EngineChoice& engine, const Params& params, const Launch& launch) {
  const std::string& device = params.text("device");
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const int gpus = backend::visible_gpus();
  const bool chosen = visible != nullptr && gpus == 1;  // by Slurm, or by a script around this program
  if (!engine || gpus == 0 || chosen || (device != "auto" && !record::names_gpu(device))) return record::Ok{};
  const int local = launch.place.local_rank.value_or(launch.place.rank % gpus);
  if (const int here = launch.place.local_ranks.value_or(local + 1); here > gpus)
    return Error{fmt::format("{} started {} ranks on this host, which has {} GPU{}: start one per GPU, or use "
                             "device=cpu.",
                             launch.launcher, here, gpus, gpus == 1 ? "" : "s"),
                 ErrorKind::kRefused};
  engine.command->environment.push_back("CUDA_VISIBLE_DEVICES=" + *backend::device_of_rank(visible, local));
  return record::Ok{};
}

std::string from_rank(int rank, std::string_view sentence) {
  const std::string name = fmt::format("Rank {}", rank);
  if (sentence.starts_with(name + " ")) return std::string(sentence);
  return fmt::format("{}: {}", name, sentence);
}

}  // namespace headroom::app
