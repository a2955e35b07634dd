#include "demos/backend/run_file.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headroom::backend {

using record::RecordingWriter;
using record::Status;

void RunFile::begin(const std::optional<std::filesystem::path>& path) {
  writer_.reset();
  error_.reset();
  first_rank_chunks_ = 0;
  if (!path) return;
  auto writer = RecordingWriter::create(*path);
  if (writer)
    writer_ = std::move(writer).value();
  else
    error_ = writer.error();
}

void RunFile::append(std::span<const std::byte> chunk, std::size_t rank) {
  if (!writer_) return;
  if (rank == 0) ++first_rank_chunks_;
  const Status status = rank == 0 ? writer_->append(chunk)
                                  : writer_->append(record::encode_rank(static_cast<std::uint16_t>(rank), chunk));
  if (status) return;
  error_ = status.error();
  writer_.reset();  // removes the partial file
}

void RunFile::end(std::span<const record::Outcome> outcomes) {
  // The first chunk describes the run.
  if (outcomes.front().kind == record::OutcomeKind::kRefused || first_rank_chunks_ < 2) writer_.reset();
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) append(record::encode(outcomes[rank]), rank);
  if (!writer_) return;
  if (const Status status = writer_->commit(); !status) error_ = status.error();
  writer_.reset();
}

}  // namespace headroom::backend
