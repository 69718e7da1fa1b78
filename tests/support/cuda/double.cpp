// A stand-in for libcuda.so.1 with one device, whose driver reads the file that CUDA_DOUBLE names,
// else "settings" beside itself, as the real one reads files of its own. Where that cannot be read
// there is no device. It runs no kernel, but refuses what the real one would crash on. Its clock
// says how long a kernel of runner/run/gpu_control.cpp takes on a GPU of 10 TFLOP/s and 1 TB/s. The
// file may slow a kernel down: "copy 1.2".
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

enum Result {  // of CUresult
  ok = 0,
  invalid_value = 1,
  not_initialized = 3,
  no_device = 100,
  invalid_context = 201,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700
};

using Address = unsigned long long;

bool initialized = false, retained = false, current = false;
std::string ptx;
std::map<Address, std::size_t> memory;  // bytes by where they begin
struct Kernel {
  const char* name;
} kernels[] = {{"compute"}, {"copy"}, {"nothing"}};
struct Event {
  bool recorded = false, passed = false;
  double at = 0;
};
std::list<Event> events;
double clock_seconds = 0;  // of the device: what was started so far

std::string settings() {
  if (const char* named = std::getenv("CUDA_DOUBLE")) return named;
  Dl_info own{};
  ::dladdr(reinterpret_cast<const void*>(&initialized), &own);
  const std::string library = own.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "settings";
}

double slowdown(const char* kernel) {
  std::ifstream file(settings());
  std::string name;
  double factor = 1;
  while (file >> name >> factor)
    if (name == kernel) return factor;
  return 1;
}

// The bytes behind an address that was allocated; 0: none.
double room(Address address) {
  const auto found = memory.find(address);
  return found == memory.end() ? 0 : static_cast<double>(found->second);
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  initialized = flags == 0 && ::access(settings().c_str(), R_OK) == 0;
  return initialized ? ok : no_device;
}

int cuDeviceGetCount(int* count) {
  if (!initialized) return not_initialized;
  *count = 1;
  return ok;
}

int cuGetErrorString(int result, const char** text) {
  *text = result == no_device ? "no CUDA-capable device is detected" : "an error of the double";
  return ok;
}

int cuDeviceGet(int* device, int ordinal) {
  if (!initialized) return not_initialized;
  if (ordinal != 0) return invalid_value;
  *device = 7;
  return ok;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device != 7) return no_device;
  retained = true;
  *context = &retained;
  return ok;
}

int cuCtxSetCurrent(void* context) {
  if (!retained || context != &retained) return invalid_context;
  current = true;
  return ok;
}

int cuModuleLoadData(void** module, const void* image) {
  if (!current) return invalid_context;
  ptx = static_cast<const char*>(image);
  if (!ptx.starts_with(".version ")) return invalid_value;
  *module = &ptx;
  return ok;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (module != &ptx) return invalid_handle;
  if (ptx.find(".entry " + std::string(name) + "(") == std::string::npos) return not_found;
  for (Kernel& kernel : kernels)
    if (std::strcmp(kernel.name, name) == 0) *function = &kernel;
  return ok;
}

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (!current) return invalid_context;
  *address = 0x7f0000000000 + (memory.size() << 32);
  memory[*address] = bytes;
  return ok;
}

int cuMemsetD8_v2(Address address, unsigned char, std::size_t bytes) {
  return static_cast<double>(bytes) <= room(address) ? ok : invalid_value;
}

int cuEventCreate(void** event, unsigned) {
  if (!current) return invalid_context;
  *event = &events.emplace_back();
  return ok;
}

int cuEventRecord(void* event, void* stream) {
  if (stream) return invalid_handle;
  *static_cast<Event*>(event) = {true, false, clock_seconds};
  return ok;
}

int cuCtxSynchronize() {
  if (!current) return invalid_context;
  for (Event& event : events) event.passed = event.recorded;
  return ok;
}

int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const Event &from = *static_cast<Event*>(begin), &to = *static_cast<Event*>(end);
  if (!from.passed || !to.passed) return not_ready;
  *milliseconds = static_cast<float>((to.at - from.at) * 1e3);
  return ok;
}

int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned, void* stream, void** parameters,
                   void** extra) {
  if (!current || stream || extra || y * z * block_y * block_z != 1) return invalid_value;
  if (block_x == 0 || block_x > 1024 || x == 0) return invalid_value;
  const double threads = 1.0 * x * block_x;
  const char* name = static_cast<Kernel*>(function)->name;
  double seconds = 1e-6;
  if (std::strcmp(name, "compute") == 0) {
    const auto steps = *static_cast<std::uint32_t*>(parameters[1]);
    if (steps == 0 || threads * 4 > room(*static_cast<Address*>(parameters[0])))
      return illegal_address;
    seconds = threads * steps * 8 / 10e12;
  } else if (std::strcmp(name, "copy") == 0) {
    const Address to = *static_cast<Address*>(parameters[0]),
                  from = *static_cast<Address*>(parameters[1]);
    if (to == from || threads * 16 > room(to) || threads * 16 > room(from)) return illegal_address;
    seconds = threads * 32 / 1e12;
  } else if (parameters) {
    return invalid_value;
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(slowdown(name) > 1 ? 500 : 0));
  }
  clock_seconds += seconds * slowdown(name);
  return ok;
}

}  // extern "C"
