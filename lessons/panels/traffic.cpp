#include "lessons/panels/traffic.h"

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

}  // namespace headroom::lessons
