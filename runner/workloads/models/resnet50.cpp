// The C++ twin of resnet50.py.
#include "blocks/residual.hpp"

namespace nightjar::workloads::resnet50 {

Step make(Case& made_for) {
  return classification(made_for, ResNet<Bottleneck>(std::array{3, 4, 6, 3}, made_for.size("width"),
                                                     made_for.size("classes")));
}

const Registration registered{"resnet50", make};

}  // namespace nightjar::workloads::resnet50
