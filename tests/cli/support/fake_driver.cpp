// Replaces NVIDIA's management library (libnvidia-ml.so.1): driver version $FAKE_DRIVER, $FAKE_GPUS GPUs of 80 GiB,
// 79 of them free. 0 is NVML_SUCCESS.
#include <cstdio>
#include <cstdlib>

namespace {

unsigned gpus() { return static_cast<unsigned>(std::atoi(std::getenv("FAKE_GPUS"))); }
int the_gpu = 0;

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

int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
  *device = &the_gpu;
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
