// Replaces NVIDIA's management library (libnvidia-ml.so.1): driver version $FAKE_DRIVER, $FAKE_GPUS GPUs of 80 GiB,
// 79 of them free, with 12 NVLinks; GPU $FAKE_APART reaches no other. 0 is NVML_SUCCESS.
#include <cstdio>
#include <cstdlib>

namespace {

unsigned gpus() { return static_cast<unsigned>(std::atoi(std::getenv("FAKE_GPUS"))); }
int all_gpus[64];

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("FAKE_DRIVER") == nullptr; }
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "%s", std::getenv("FAKE_DRIVER"));
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus();
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &all_gpus[index];
  return 0;
}

int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  *active = link < 12;
  return 0;
}

int nvmlDeviceGetP2PStatus(void* one, void* other, int, int* status) {
  const char* const apart = std::getenv("FAKE_APART");
  int* const gpu = apart == nullptr ? nullptr : &all_gpus[std::atoi(apart)];
  *status = gpu != nullptr && (one == gpu || other == gpu);
  return 0;
}

int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Made-up GPU");
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[0] = 80ull << 30;
  total_free_used[1] = 79ull << 30;
  total_free_used[2] = 1ull << 30;
  return 0;
}

}  // extern "C"
