// The C++ twin of resnet18.py.
#include "blocks/residual.hpp"

namespace nightjar::workloads::resnet18 {

Step make(Case& made_for) {
  return classification(made_for, ResNet<Basic>(std::array{2, 2, 2, 2}, made_for.size("width"),
                                                made_for.size("classes")));
}

const Registration registered{"resnet18", make};

}  // namespace nightjar::workloads::resnet18
