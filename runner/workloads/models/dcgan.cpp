// The C++ twin of dcgan.py.
#include "harness/case.hpp"

namespace nightjar::workloads::dcgan {
namespace nn = torch::nn;
namespace functional = torch::nn::functional;
using torch::Tensor;

nn::LeakyReLU leaky() {
  return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(true));
}

nn::ConvTranspose2d enlarge(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
  return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(inputs, outputs, 4)
                                 .stride(stride)
                                 .padding(stride - 1)
                                 .bias(false));
}

nn::Conv2d reduce(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(inputs, outputs, 4).stride(stride).padding(stride - 1).bias(false));
}

// Doubles the size; with stride 1 it goes from 1 to 4.
void up(nn::Sequential& layers, std::int64_t inputs, std::int64_t outputs,
        std::int64_t stride = 2) {
  layers->push_back(enlarge(inputs, outputs, stride));
  layers->push_back(nn::BatchNorm2d(outputs));
  layers->push_back(nn::ReLU(true));
}

void down(nn::Sequential& layers, std::int64_t inputs, std::int64_t outputs) {
  layers->push_back(reduce(inputs, outputs, 2));
  layers->push_back(nn::BatchNorm2d(outputs));
  layers->push_back(leaky());
}

// Images of 3 x 32 x 32; the paper's `width` is 128 for 64 x 64.
struct DcganImpl : nn::Module {
  DcganImpl(std::int64_t latent, std::int64_t width) {
    up(generator, latent, 4 * width, 1);
    up(generator, 4 * width, 2 * width);
    up(generator, 2 * width, width);
    generator->push_back(enlarge(width, 3, 2));
    generator->push_back(nn::Tanh());
    discriminator->push_back(reduce(3, width, 2));
    discriminator->push_back(leaky());
    down(discriminator, width, 2 * width);
    down(discriminator, 2 * width, 4 * width);
    discriminator->push_back(reduce(4 * width, 1, 1));
    discriminator->push_back(nn::Flatten(nn::FlattenOptions().start_dim(0)));
    register_module("generator", generator);
    register_module("discriminator", discriminator);
  }

  nn::Sequential generator, discriminator;
};
TORCH_MODULE(Dcgan);

class Duel {
 public:
  Duel(Dcgan model, Tensor noise, Tensor images)
      : model_(std::move(model)),
        noise_(std::move(noise)),
        images_(std::move(images)),
        judge_(model_->discriminator->parameters(), options()),
        forge_(model_->generator->parameters(), options()) {}

  Tensor step() {
    const Tensor forged = model_->generator->forward(noise_);
    const Tensor judged = loss(images_, 1) + loss(forged.detach(), 0);
    descend(judge_, judged);
    const Tensor believed = loss(forged, 1);
    descend(forge_, believed);
    return torch::stack({judged.detach(), believed.detach()});
  }

 private:
  static torch::optim::AdamOptions options() {
    return torch::optim::AdamOptions(2e-4).betas({0.5, 0.999});
  }

  Tensor loss(const Tensor& images, double wanted) {
    const Tensor verdict = model_->discriminator->forward(images);
    return functional::binary_cross_entropy_with_logits(verdict, torch::full_like(verdict, wanted));
  }

  Dcgan model_;
  Tensor noise_, images_;
  torch::optim::Adam judge_, forge_;
};

Step make(Case& made_for) {
  Dcgan model(made_for.size("latent"), made_for.size("width"));
  made_for.ready(*model);
  const auto noise = made_for.uniform("noise", {made_for.batch, made_for.size("latent"), 1, 1});
  if (made_for.task == "eval")
    return evaluation([model, noise]() mutable { return model->generator->forward(noise); });
  const auto duel =
      std::make_shared<Duel>(model, noise, made_for.uniform("images", {made_for.batch, 3, 32, 32}));
  return [duel] { return duel->step(); };
}

const Registration registered{"dcgan", make};

}  // namespace nightjar::workloads::dcgan
