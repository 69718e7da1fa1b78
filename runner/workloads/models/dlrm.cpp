// The C++ twin of dlrm.py.
#include "blocks/perceptron.hpp"
#include "harness/case.hpp"

namespace nightjar::workloads::dlrm {
namespace nn = torch::nn;

struct DlrmImpl : nn::Module {
  explicit DlrmImpl(const Case& made_for) {
    const auto width = made_for.size("width");
    bottom = perceptron({made_for.size("dense"), 256, 128, width});
    bottom->push_back(nn::ReLU());
    register_module("bottom", bottom);
    for (std::int64_t i = 0; i < made_for.size("tables"); ++i)
      tables->push_back(nn::EmbeddingBag(
          nn::EmbeddingBagOptions(made_for.size("rows"), width).mode(torch::kSum)));
    register_module("tables", tables);
    const auto features = made_for.size("tables") + 1;
    top = perceptron({width + features * (features - 1) / 2, 256, 128, 1});
    top->push_back(nn::Sigmoid());
    register_module("top", top);
    const auto pairs = torch::tril_indices(features, features, -1);
    row = register_buffer("row", pairs[0]);
    column = register_buffer("column", pairs[1]);
  }

  torch::Tensor forward(const torch::Tensor& dense, const torch::Tensor& sparse,
                        const torch::Tensor& offsets) {
    const torch::Tensor from_dense = bottom->forward(dense);
    std::vector<torch::Tensor> bags{from_dense};
    for (std::size_t i = 0; i < tables->size(); ++i)
      bags.push_back(tables->at<nn::EmbeddingBagImpl>(i).forward(
          sparse[static_cast<std::int64_t>(i)], offsets));
    const torch::Tensor features = torch::stack(bags, 1);
    const torch::Tensor interactions = torch::bmm(features, features.transpose(1, 2));
    using torch::indexing::Slice;
    const torch::Tensor pairs = interactions.index({Slice(), row, column});
    return top->forward(torch::cat({from_dense, pairs}, 1));
  }

  nn::Sequential bottom{nullptr}, top{nullptr};
  nn::ModuleList tables;
  torch::Tensor row, column;
};
TORCH_MODULE(Dlrm);

Step make(Case& made_for) {
  Dlrm model(made_for);
  made_for.ready(*model);
  const auto lookups = made_for.batch * made_for.size("lookups");
  const auto dense = made_for.uniform("dense", {made_for.batch, made_for.size("dense")});
  const auto sparse =
      made_for.integers("sparse", {made_for.size("tables"), lookups}, made_for.size("rows"));
  const auto offsets = torch::arange(0, lookups, made_for.size("lookups"), sparse.options());
  return evaluation([=]() mutable { return model->forward(dense, sparse, offsets); });
}

const Registration registered{"dlrm", make};

}  // namespace nightjar::workloads::dlrm
