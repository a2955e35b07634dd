// Reads and writes the JSON.
#include "demos/llama/training_place.h"

#include <limits>

#include <fmt/format.h>

#include "demos/llama/files/checkpoint_folder.h"
#include "demos/record/file/json_fields.h"

namespace headroom::llama {

namespace {

template <class Io, class Place>
void fields(Io& io, Place& place) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  io.whole("steps", place.steps, kMost);
  io.whole("seed", place.seed, kMost);
  io.whole("ids", place.ids, kMost);
}

}  // namespace

std::string written_place(const TrainingPlace& place) {
  record::JsonWriter writer(record::Form::kJson);
  fields(writer, place);
  return record::dump(writer.take()) + "\n";
}

record::Result<TrainingPlace> read_place(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kPlaceFile;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed))
    return record::Error{
        fmt::format("{} does not exist: resume needs a folder that a run with save_state=on wrote.", file.string())};
  const auto object = read_json_file(file);
  if (!object) return object.error();
  TrainingPlace place;
  record::JsonReader reader(object.value(), "state");
  fields(reader, place);
  if (!reader.ok())
    return record::Error{fmt::format("{} has no steps, seed or ids: save the state again.", file.string())};
  return place;
}

}  // namespace headroom::llama
