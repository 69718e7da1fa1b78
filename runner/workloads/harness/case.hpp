// What a model's file uses: its sizes, inputs and parameters, and the usual kinds of step.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <torch/torch.h>
#include <utility>

#include "harness/definition.hpp"
#include "harness/generator.hpp"
#include "harness/kept.hpp"

namespace nightjar::workloads {

// One iteration. The checksum is that of the tensor it returns.
using Step = std::function<torch::Tensor()>;

// The batch size. Remembers whether a model read it.
class Batch {
 public:
  explicit Batch(std::int64_t size) : size_(size) {}
  operator std::int64_t() const {
    was_read_ = true;
    return size_;
  }
  bool was_read() const { return was_read_; }

 private:
  const std::int64_t size_;
  mutable bool was_read_ = false;
};

class Case {
 public:
  Case(const Definition& definition, std::uint64_t seed)
      : task(definition.task),
        batch(definition.batch),
        device(definition.device == "cuda" ? torch::kCUDA : torch::kCPU),
        dtype(definition.precision == "bf16"   ? torch::kBFloat16
              : definition.precision == "fp16" ? torch::kHalf
                                               : torch::kFloat32),
        sizes_(definition.sizes),
        seed_(seed) {}

  const std::string task;
  const Batch batch;
  const torch::Device device;
  const torch::ScalarType dtype;

  // Throws std::out_of_range if the table has no such size.
  std::int64_t size(const std::string& name) const { return sizes_.at(name); }
  std::int64_t parameters() const { return parameters_; }

  torch::Tensor uniform(const std::string& label, torch::IntArrayRef shape) const {
    auto tensor = torch::empty(shape);
    fill_uniform(tensor, label, 1.0F);
    return noted(tensor.to(device, dtype));
  }

  torch::Tensor integers(const std::string& label, torch::IntArrayRef shape,
                         std::int64_t high) const {
    auto tensor = torch::empty(shape, torch::kInt64);
    Generator generator(seed_, label);
    auto* data = tensor.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) data[i] = generator.integer(high);
    return noted(tensor.to(device));
  }

  // Sets the parameters from the seed, as `initialise` of generator.py does. Moves the module to
  // the device and sets its precision and the task's mode.
  void ready(torch::nn::Module& module) {
    torch::NoGradGuard no_grad;
    parameters_ = 0;
    for (auto& item : module.named_parameters()) {
      torch::Tensor& parameter = item.value();
      parameters_ += parameter.numel();
      if (parameter.dim() >= 2) {
        const auto fan_in = static_cast<double>(parameter.numel() / parameter.size(0));
        fill_uniform(parameter, item.key(), static_cast<float>(std::sqrt(3.0 / fan_in)));
      } else if (parameter.dim() == 1) {
        const bool is_bias = item.key().find("bias") != std::string::npos;
        parameter.fill_(is_bias ? 0.0 : 1.0);
      }
    }
    module.to(device);
    // Module::to(dtype) would convert buffers of indices, too.
    for (auto list : {module.parameters(), module.buffers()})
      for (torch::Tensor& tensor : list)
        if (tensor.is_floating_point()) tensor.set_data(tensor.to(dtype));
    module.train(task != "eval" && task != "act");
    if (kept) {
      for (torch::Tensor& one : module.parameters()) kept->parameters.push_back(one);
      for (torch::Tensor& one : module.buffers()) kept->buffers.push_back(one);
    }
  }

 private:
  static torch::Tensor noted(torch::Tensor input) {
    if (kept) kept->inputs.push_back(input);
    return input;
  }

  void fill_uniform(torch::Tensor& tensor, const std::string& label, float bound) const {
    Generator generator(seed_, label);
    auto* data = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) data[i] = generator.uniform(bound);
  }

  std::map<std::string, std::int64_t> sizes_;
  std::uint64_t seed_;
  std::int64_t parameters_ = 0;
};

// A step that is one forward pass without gradients.
template <class Forward>
Step evaluation(Forward forward) {
  return [forward = std::move(forward)]() mutable {
    torch::NoGradGuard no_grad;
    return forward();
  };
}

inline void step(torch::optim::Optimizer& optimizer) {
  if (kept) kept->optimizers.insert(&optimizer);
  optimizer.step();
}

// A step that is forward (`loss`), backward and optimizer; it returns the loss.
template <class Optimizer, class Loss>
Step training(std::shared_ptr<Optimizer> optimizer, Loss loss) {
  return [optimizer = std::move(optimizer), loss = std::move(loss)]() mutable -> torch::Tensor {
    optimizer->zero_grad();
    torch::Tensor value = loss();
    value.backward();
    step(*optimizer);
    return value;
  };
}

// Backward and one optimizer step from a computed loss, for models with several optimizers.
inline void descend(torch::optim::Optimizer& optimizer, const torch::Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();
  step(optimizer);
}

// A model's file registers its maker under its name: `const Registration registered{"dlrm", make};`
using Maker = Step (*)(Case&);

inline std::map<std::string, Maker>& makers() {
  static std::map<std::string, Maker> known;
  return known;
}

struct Registration {
  Registration(const std::string& model, Maker make) { makers()[model] = make; }
};

}  // namespace nightjar::workloads
