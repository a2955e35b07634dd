#include "lessons/panels/traffic.h"

#include <algorithm>

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

}  // namespace headroom::lessons
