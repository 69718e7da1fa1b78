#include "storage/model/domain.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "storage/model/workload_variant.hpp"

namespace nightjar {
namespace {

struct Domain {
  const char* name;
  std::vector<std::string_view> words;  // in a model's name, in lower case
};

// The first that fits. Speech comes before language, as both have encoders of text.
const std::array<Domain, 5>& known_domains() {
  static const std::array<Domain, 5> all{
      {{"vision", {"resnet",       "mobilenet",  "vgg",         "densenet", "vision_transformer",
                   "unet",         "dcgan",      "vit",         "beit",     "convnext",
                   "segformer",    "maskformer", "mask2former", "deeplab",  "detr",
                   "efficientnet", "regnet",     "swin",        "nfnet",    "inception",
                   "squeezenet",   "alexnet",    "yolo"}},
       {"speech", {"tts", "conformer", "whisper", "wav2vec", "tacotron", "speech"}},
       {"recommendation", {"dlrm", "autoencoder", "recommender"}},
       {"reinforcement learning", {"actor_critic", "drq", "learning_to_paint"}},
       {"language",
        {"bert", "gpt", "t5", "llama", "transformer_encoder", "opt", "albert", "electra", "bart",
         "pegasus", "xlnet", "qwen", "gemma", "mistral"}}}};
  return all;
}

}  // namespace

std::string domain_of(const WorkloadName& name) {
  std::string model(name.model());
  std::transform(model.begin(), model.end(), model.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const Domain& domain : known_domains())
    for (const std::string_view word : domain.words)
      if (model.find(word) != std::string::npos) return domain.name;
  if (name.suite() == "timm" || name.suite() == "torchvision") return "vision";
  return name.suite() == "hf" ? "language" : "other";
}

std::vector<std::string_view> domain_names() {
  std::vector<std::string_view> names;
  for (const Domain& domain : known_domains()) names.emplace_back(domain.name);
  names.emplace_back("other");
  return names;
}

bool matches(const WorkloadFilter& filter, const WorkloadName& name) {
  return (!filter.suite || *filter.suite == name.suite()) &&
         (!filter.model || *filter.model == name.model()) &&
         (!filter.device || *filter.device == name.device()) &&
         (!filter.backend || *filter.backend == name.backend()) &&
         (!filter.size || size_of(name) == *filter.size) &&
         (!filter.glob || glob_match(*filter.glob, name.str())) &&
         (!filter.domain || *filter.domain == domain_of(name));
}

}  // namespace nightjar
