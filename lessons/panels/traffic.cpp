#include "lessons/panels/traffic.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace headroom::lessons {

record::Bytes TrafficForm::moved() const {
  record::Bytes sum = 0;
  for (const TrafficKernel& kernel : kernels) sum += kernel.moved();
  return sum;
}

record::Bytes TrafficForm::kept() const {
  record::Bytes sum = 0;
  for (const TrafficKernel& kernel : kernels) sum += kernel.kept;
  return sum;
}

ShownUnit Traffic::bytes_unit() const {
  record::Bytes most = 0;
  for (const TrafficForm& form : forms) most = std::max(most, form.moved());
  return byte_unit(static_cast<double>(most));
}

FileTable Traffic::table() const {
  FileTable table{.columns = headings({"form", "kernel", "begin_ns", "end_ns", "read_bytes", "written_bytes",
                                       "kept_bytes", "bytes_per_second", "copy_bytes_per_second"})};
  for (const TrafficForm& form : forms)
    for (const TrafficKernel& kernel : form.kernels)
      table.rows.push_back({form.label, kernel.label, kernel.begin, kernel.end, kernel.read, kernel.written,
                            kernel.kept, kernel.rate(), copy > 0 ? Cell(copy) : Cell()});
  return table;
}

void Traffic::add_to(nlohmann::json& figure) const {
  using nlohmann::json;
  json all = json::array();
  for (const TrafficForm& form : forms) {
    json kernels = json::array();
    for (const TrafficKernel& kernel : form.kernels)
      kernels.push_back({{"label", kernel.label},
                         {"begin", kernel.begin},
                         {"end", kernel.end},
                         {"read_bytes", kernel.read},
                         {"written_bytes", kernel.written},
                         {"kept_bytes", kernel.kept},
                         {"bytes_per_second", kernel.rate()}});
    all.push_back({{"label", form.label}, {"note", form.note}, {"kernels", std::move(kernels)}});
  }
  figure["traffic"] = {{"square_bytes", square},
                       {"copy_bytes_per_second", copy > 0 ? json(copy) : json(nullptr)},
                       {"forms", std::move(all)}};
}

std::vector<std::string> Traffic::sentences() const {
  return texts_of(forms, [&](const TrafficForm& form) {
    return form.label + ": " + form.note + ", " + bytes_text(form.moved(), bytes_unit()) + " moved";
  });
}

}  // namespace headroom::lessons
