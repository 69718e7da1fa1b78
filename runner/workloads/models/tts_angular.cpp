// The C++ twin of tts_angular.py.
#include "harness/case.hpp"

namespace nightjar::workloads::tts_angular {
namespace nn = torch::nn;
namespace functional = torch::nn::functional;
using torch::Tensor;

Tensor unit(const Tensor& x) {
  return functional::normalize(x, functional::NormalizeFuncOptions().dim(1));
}

struct RecurrenceImpl : nn::Module {
  RecurrenceImpl(std::int64_t inputs, std::int64_t hidden, std::int64_t projection)
      : lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(inputs, hidden).batch_first(true)))),
        linear(register_module("linear",
                               nn::Linear(nn::LinearOptions(hidden, projection).bias(false)))) {}

  Tensor forward(const Tensor& x) { return linear(std::get<0>(lstm->forward(x))); }

  nn::LSTM lstm;
  nn::Linear linear;
};
TORCH_MODULE(Recurrence);

struct SpeakerEncoderImpl : nn::Module {
  explicit SpeakerEncoderImpl(const Case& made_for)
      : scale(register_parameter("scale", torch::tensor(10.0F))),
        offset(register_parameter("offset", torch::tensor(-5.0F))) {
    const auto projection = made_for.size("projection");
    for (std::int64_t i = 0; i < made_for.size("layers"); ++i)
      layers->push_back(Recurrence(i == 0 ? made_for.size("bands") : projection,
                                   made_for.size("hidden"), projection));
    register_module("layers", layers);
  }

  // (utterances, frames, bands) to a unit vector for each utterance.
  Tensor forward(const Tensor& frames) { return unit(layers->forward(frames).select(1, -1)); }

  // Cosines between all pairs of utterances.
  Tensor likeness(const Tensor& frames) {
    const Tensor voices = forward(frames);
    return torch::matmul(voices, voices.t());
  }

  // Small if each utterance is nearest to its own speaker's mean. Utterances are sorted by speaker.
  Tensor loss(const Tensor& frames, std::int64_t speakers) {
    const Tensor flat = forward(frames);
    const Tensor voices = flat.view({speakers, -1, flat.size(1)});
    const Tensor centroids = unit(voices.mean(1));
    const Tensor similarity = scale * torch::matmul(voices.flatten(0, 1), centroids.t()) + offset;
    const Tensor own = torch::arange(speakers, frames.options().dtype(torch::kInt64))
                           .repeat_interleave(voices.size(1));
    return functional::cross_entropy(similarity, own);
  }

  nn::Sequential layers;
  Tensor scale, offset;
};
TORCH_MODULE(SpeakerEncoder);

Step make(Case& made_for) {
  SpeakerEncoder model(made_for);
  made_for.ready(*model);
  const auto frames =
      made_for.uniform("frames", {made_for.batch, made_for.size("frames"), made_for.size("bands")});
  if (made_for.task == "eval")
    return evaluation([model, frames]() mutable { return model->likeness(frames); });
  auto optimizer = std::make_shared<torch::optim::SGD>(model->parameters(), 1e-2);
  const auto speakers = made_for.size("speakers");
  return training(optimizer,
                  [model, frames, speakers]() mutable { return model->loss(frames, speakers); });
}

const Registration registered{"tts_angular", make};

}  // namespace nightjar::workloads::tts_angular
