// Drives RoPE, SwiGLU and GeGLU.
#include <string>

#include "kernels/geglu/geglu.h"
#include "kernels/rope/rope.h"
#include "kernels/swiglu/swiglu.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Storage;

std::string label(Storage storage) {
  return storage == Storage::kFp32 ? " fp32" : storage == Storage::kBf16 ? " bf16" : " fp16";
}

// Buffers begin at element `offset`; 1 prevents wide loads.
void drive_gated(KernelDriver& driver, const kernels::GatedKernels& kernels, Storage storage, std::int64_t n,
                 std::int64_t offset) {
  const std::int64_t element = kernels::bytes_of(storage), bytes = (n + offset) * element;
  DeviceBuffer dh(bytes), gate(bytes), up(bytes), dgate(bytes), dup(bytes), h(bytes);
  dh.fill(storage, 1);
  gate.fill(storage, 2, 2.0f);
  up.fill(storage, 3);
  const auto at = [&](const DeviceBuffer& buffer) { return buffer.as<char>() + offset * element; };
  const kernels::GatedForward forward{at(gate), at(up), at(h)};
  const kernels::GatedBackward backward{at(dh), at(gate), at(up), at(dgate), at(dup), nullptr};
  const kernels::GatedBackward rebuild{at(dh), at(gate), at(up), at(dgate), at(dup), at(h)};
  const kernels::GatedBackward in_place{at(dh), at(gate), at(up), at(gate), at(up), at(dh)};
  const std::string name = kernels.name + label(storage) + " n=" + std::to_string(n);
  const auto forwards = [&] { return kernels.forward_cuda(forward, storage, n, nullptr); };
  const auto backwards = [&](const kernels::GatedBackward& args) {
    return [&] { return kernels.backward_cuda(args, storage, n, nullptr); };
  };
  if (driver.timed()) {
    driver.time(name + " forward", 3 * n * element, forwards);
    driver.time(name + " backward", 5 * n * element, backwards(backward));
    driver.time(name + " backward with h", 6 * n * element, backwards(rebuild));
    driver.time(name + " backward in place", 6 * n * element, backwards(in_place));
  } else {
    driver.run(name + " forward", forwards);
    driver.run(name + " backward", backwards(backward));
    driver.run(name + " backward with h", backwards(rebuild));
    driver.run(name + " backward in place", backwards(in_place));
  }
}

struct RopeCase {
  std::int64_t batch, length, q_heads, k_heads, head_dim;
  bool packed = false;  // q, k and as many values as keys in one row
};

void drive_rope(KernelDriver& driver, Storage storage, const RopeCase& c) {
  const std::int64_t element = kernels::bytes_of(storage), tokens = c.batch * c.length, half = c.head_dim / 2;
  const std::int64_t q_width = c.q_heads * c.head_dim, k_width = c.k_heads * c.head_dim;
  const std::int64_t q_stride = c.packed ? q_width + 2 * k_width : q_width;
  const std::int64_t k_stride = c.packed ? q_stride : k_width;
  DeviceBuffer q(tokens * q_stride * element), k_alone(c.packed ? 0 : tokens * k_width * element);
  DeviceBuffer cos(c.length * half * 4), sin(c.length * half * 4);
  q.fill(storage, 1);
  if (!c.packed) k_alone.fill(storage, 2);
  cos.fill(Storage::kFp32, 3, 0.5f);
  sin.fill(Storage::kFp32, 4, 0.5f);
  const kernels::RopeArgs args{.q = {q.data(), c.q_heads, c.length * q_stride, q_stride, c.head_dim},
                               .k = {c.packed ? q.as<char>() + q_width * element : k_alone.as<char>(), c.k_heads,
                                     c.length * k_stride, k_stride, c.head_dim},
                               .cos = cos.as<float>(),
                               .sin = sin.as<float>(),
                               .batch = c.batch,
                               .length = c.length,
                               .head_dim = c.head_dim,
                               .inverse = false,
                               .storage = storage};
  const std::string name = "rope" + label(storage) + " B=" + std::to_string(c.batch) +
                           " T=" + std::to_string(c.length) + " A=" + std::to_string(c.q_heads) +
                           " K=" + std::to_string(c.k_heads) + " D=" + std::to_string(c.head_dim) +
                           (c.packed ? " packed" : "");
  const auto launch = [&] { return kernels::rope_cuda(args, nullptr); };
  if (driver.timed()) {
    driver.time(name, 2 * tokens * (q_width + k_width) * element, launch);
  } else {
    driver.run(name, launch);
  }
}

void drive_gates(KernelDriver& driver, const kernels::GatedKernels& kernels) {
  if (driver.timed()) {
    // F: Llama 3.2 1B and 3B 8192, Llama 3 8B 14336.
    for (const std::int64_t tokens : {1024, 4096, 8192}) {
      for (const std::int64_t width : {8192, 14336}) drive_gated(driver, kernels, Storage::kBf16, tokens * width, 0);
    }
    drive_gated(driver, kernels, Storage::kFp32, std::int64_t{4096} * 8192, 0);
    return;
  }
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    for (const std::int64_t n : {1, 7, 8, 255, 4099, 100'003}) {
      for (const std::int64_t offset : {0, 1}) drive_gated(driver, kernels, storage, n, offset);
    }
  }
}

void drive_swiglu(KernelDriver& driver) { drive_gates(driver, kernels::kSwigluKernels); }
void drive_geglu(KernelDriver& driver) { drive_gates(driver, kernels::kGegluKernels); }

void drive_ropes(KernelDriver& driver) {
  if (driver.timed()) {
    for (const std::int64_t head_dim : {64, 128}) {
      drive_rope(driver, Storage::kBf16, {4, 2048, 32, 8, head_dim});
      drive_rope(driver, Storage::kBf16, {1, 8192, 32, 8, head_dim, true});
    }
    drive_rope(driver, Storage::kBf16, {1, 1024, 32, 8, 64});
    drive_rope(driver, Storage::kBf16, {4, 2048, 24, 8, 128});
    drive_rope(driver, Storage::kFp32, {4, 2048, 32, 8, 128});
    return;
  }
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    for (const RopeCase& c :
         {RopeCase{1, 1, 1, 1, 2}, RopeCase{2, 3, 1, 0, 6}, RopeCase{3, 17, 5, 2, 64}, RopeCase{2, 9, 32, 8, 128, true},
          RopeCase{1, 7, 3, 1, 40}, RopeCase{2, 5, 300, 7, 128}}) {
      drive_rope(driver, storage, c);
    }
  }
}

}  // namespace

extern const DrivenKernel kRopeDriven, kSwigluDriven, kGegluDriven;
constinit const DrivenKernel kRopeDriven{"rope", &drive_ropes};
constinit const DrivenKernel kSwigluDriven{"swiglu", &drive_swiglu};
constinit const DrivenKernel kGegluDriven{"geglu", &drive_geglu};

}  // namespace headroom::tests
