#include "runner/run/gpu_control.hpp"

#include <chrono>
#include <cstdint>
#include <dlfcn.h>
#include <stdexcept>

namespace nightjar::runner {
namespace {

// PTX is compiled by the driver for the GPU that is there, also for one that is built after us.
// compute: 4 chains of `steps` dependent multiply-adds in each thread, all within (0, 2).
// copy: 16 bytes in each thread.
constexpr const char* program = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry compute(.param .u64 out, .param .u32 steps)
{
  .reg .pred %more;
  .reg .b32 %i<6>;
  .reg .f32 %x<6>;
  .reg .b64 %at<4>;
  ld.param.u64 %at0, [out];
  ld.param.u32 %i0, [steps];
  cvta.to.global.u64 %at1, %at0;
  mov.u32 %i1, %ctaid.x;
  mov.u32 %i2, %ntid.x;
  mov.u32 %i3, %tid.x;
  mad.lo.s32 %i4, %i1, %i2, %i3;
  cvt.rn.f32.u32 %x0, %i3;
  mul.f32 %x0, %x0, 0f3B000000;
  add.f32 %x1, %x0, 0f3A83126F;
  add.f32 %x2, %x0, 0f3B03126F;
  add.f32 %x3, %x0, 0f3B449BA6;
again:
  fma.rn.f32 %x0, %x0, 0f3F7FBE77, 0f3A83126F;
  fma.rn.f32 %x1, %x1, 0f3F7FBE77, 0f3A83126F;
  fma.rn.f32 %x2, %x2, 0f3F7FBE77, 0f3A83126F;
  fma.rn.f32 %x3, %x3, 0f3F7FBE77, 0f3A83126F;
  sub.u32 %i0, %i0, 1;
  setp.ne.u32 %more, %i0, 0;
  @%more bra again;
  add.f32 %x0, %x0, %x1;
  add.f32 %x2, %x2, %x3;
  add.f32 %x0, %x0, %x2;
  mul.wide.u32 %at2, %i4, 4;
  add.s64 %at3, %at1, %at2;
  st.global.f32 [%at3], %x0;
  ret;
}
.visible .entry copy(.param .u64 to, .param .u64 from)
{
  .reg .b32 %i<5>;
  .reg .f32 %x<4>;
  .reg .b64 %at<7>;
  ld.param.u64 %at0, [to];
  ld.param.u64 %at1, [from];
  cvta.to.global.u64 %at2, %at0;
  cvta.to.global.u64 %at3, %at1;
  mov.u32 %i0, %ctaid.x;
  mov.u32 %i1, %ntid.x;
  mov.u32 %i2, %tid.x;
  mad.lo.s32 %i3, %i0, %i1, %i2;
  mul.wide.u32 %at4, %i3, 16;
  add.s64 %at5, %at3, %at4;
  add.s64 %at6, %at2, %at4;
  ld.global.v4.f32 {%x0, %x1, %x2, %x3}, [%at5];
  st.global.v4.f32 [%at6], {%x0, %x1, %x2, %x3};
  ret;
}
.visible .entry nothing()
{
  ret;
}
)";

constexpr int repetitions = 20, warm_up = 3;
constexpr unsigned threads = 256;                // of a block
constexpr unsigned compute_blocks = 2048;        // several of them on each core of the largest GPUs
constexpr std::uint32_t compute_steps = 20'000;  // about 2 ms on an H100, 20 ms on a T4
constexpr std::size_t copied_bytes = 256 << 20;  // beyond each cache there is
constexpr unsigned copy_blocks = copied_bytes / 16 / threads;
constexpr int copies = 4, launches = 500;  // of a repetition

// The driver's interface, as far as it is used: https://docs.nvidia.com/cuda/cuda-driver-api
struct Driver {
  using Handle = void*;
  using Address = unsigned long long;

  int (*init)(unsigned) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*retain)(Handle*, int) = nullptr;
  int (*make_current)(Handle) = nullptr;
  int (*load)(Handle*, const void*) = nullptr;
  int (*function)(Handle*, Handle, const char*) = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*fill)(Address, unsigned char, std::size_t) = nullptr;
  int (*make_event)(Handle*, unsigned) = nullptr;
  int (*record)(Handle, Handle) = nullptr;
  int (*elapsed)(float*, Handle, Handle) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                Handle, void**, void**) = nullptr;
  int (*synchronize)() = nullptr;
  int (*error_string)(int, const char**) = nullptr;

  explicit Driver(void* library) {
    const auto find = [&]<class Function>(Function& to, const char* name) {
      to = reinterpret_cast<Function>(::dlsym(library, name));
      if (!to) throw std::runtime_error(std::string("the driver has no ") + name);
    };
    find(init, "cuInit");
    find(device, "cuDeviceGet");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(make_current, "cuCtxSetCurrent");
    find(load, "cuModuleLoadData");
    find(function, "cuModuleGetFunction");
    find(allocate, "cuMemAlloc_v2");
    find(fill, "cuMemsetD8_v2");
    find(make_event, "cuEventCreate");
    find(record, "cuEventRecord");
    find(elapsed, "cuEventElapsedTime");
    find(launch, "cuLaunchKernel");
    find(synchronize, "cuCtxSynchronize");
    find(error_string, "cuGetErrorString");
  }

  void require(int result, const char* what) const {
    if (result == 0) return;
    const char* text = nullptr;
    if (error_string(result, &text) != 0 || !text) text = "unknown error";
    throw std::runtime_error(std::string(what) + ": " + text);
  }
};

class Kernels {
 public:
  explicit Kernels(const Driver& driver) : driver_(driver) {
    int device = 0;
    Driver::Handle context = nullptr, module = nullptr;
    driver.require(driver.init(0), "cuInit");
    driver.require(driver.device(&device, 0), "cuDeviceGet");
    driver.require(driver.retain(&context, device), "cuDevicePrimaryCtxRetain");
    driver.require(driver.make_current(context), "cuCtxSetCurrent");
    driver.require(driver.load(&module, program), "cuModuleLoadData");
    driver.require(driver.function(&compute_, module, "compute"), "cuModuleGetFunction");
    driver.require(driver.function(&copy_, module, "copy"), "cuModuleGetFunction");
    driver.require(driver.function(&nothing_, module, "nothing"), "cuModuleGetFunction");
    for (Driver::Address* memory : {&to_, &from_}) {
      driver.require(driver.allocate(memory, copied_bytes), "cuMemAlloc");
      driver.require(driver.fill(*memory, 1, copied_bytes), "cuMemsetD8");
    }
    for (Driver::Handle* event : {&begin_, &end_})
      driver.require(driver.make_event(event, 0), "cuEventCreate");
  }

  double compute() {
    std::uint32_t steps = compute_steps;
    void* parameters[] = {&to_, &steps};
    return timed([&] { start(compute_, compute_blocks, threads, parameters); });
  }
  double bandwidth() {
    void* parameters[] = {&to_, &from_};
    return timed([&] {
      for (int i = 0; i < copies; ++i) start(copy_, copy_blocks, threads, parameters);
    });
  }
  double launch() {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) start(nothing_, 1, 1, nullptr);
    driver_.require(driver_.synchronize(), "cuCtxSynchronize");
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
    return all.count() / launches;
  }

 private:
  void start(Driver::Handle kernel, unsigned blocks, unsigned size, void** parameters) {
    driver_.require(
        driver_.launch(kernel, blocks, 1, 1, size, 1, 1, 0, nullptr, parameters, nullptr),
        "cuLaunchKernel");
  }
  // Seconds by the GPU's clock.
  template <class Work>
  double timed(Work work) {
    float milliseconds = 0;
    driver_.require(driver_.record(begin_, nullptr), "cuEventRecord");
    work();
    driver_.require(driver_.record(end_, nullptr), "cuEventRecord");
    driver_.require(driver_.synchronize(), "cuCtxSynchronize");
    driver_.require(driver_.elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return milliseconds * 1e-3;
  }

  const Driver& driver_;
  Driver::Handle compute_ = nullptr, copy_ = nullptr, nothing_ = nullptr;
  Driver::Handle begin_ = nullptr, end_ = nullptr;
  Driver::Address to_ = 0, from_ = 0;
};

}  // namespace

// The three stand in turn, so that what lasts for some milliseconds meets each of them.
GpuSamples run_gpu_control(const std::filesystem::path& library) {
  GpuSamples samples;
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW);  // until the process ends
  if (!opened) {
    samples.missing = "no " + library.string();
    return samples;
  }
  try {
    const Driver driver(opened);
    Kernels kernels(driver);
    for (int i = 0; i < repetitions + warm_up; ++i) {
      const double compute = kernels.compute(), bandwidth = kernels.bandwidth(),
                   launch = kernels.launch();
      if (i < warm_up) continue;
      samples.compute.push_back(compute);
      samples.bandwidth.push_back(bandwidth);
      samples.launch.push_back(launch);
    }
  } catch (const std::exception& error) {
    samples = {};
    samples.missing = error.what();
  }
  return samples;
}

}  // namespace nightjar::runner
