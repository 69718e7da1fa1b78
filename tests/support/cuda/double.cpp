// A stand-in for libcuda.so.1 with one device, whose driver reads the file that CUDA_DOUBLE names,
// as the real one reads files of its own. Where that cannot be read there is no device.
#include <cstdlib>
#include <unistd.h>

namespace {

constexpr int kNoDevice = 100, kNotInitialized = 3;  // of CUresult
bool initialized = false;

}  // namespace

extern "C" int cuInit(unsigned flags) {
  const char* file = std::getenv("CUDA_DOUBLE");
  initialized = flags == 0 && file && ::access(file, R_OK) == 0;
  return initialized ? 0 : kNoDevice;
}

extern "C" int cuDeviceGetCount(int* count) {
  if (!initialized) return kNotInitialized;
  *count = 1;
  return 0;
}
