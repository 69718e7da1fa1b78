#include "storage/base/utf8_names.hpp"

namespace nightjar {

Utf8Names::Utf8Names() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
  if (utf8_) before_ = ::uselocale(utf8_);
}

Utf8Names::~Utf8Names() {
  if (!utf8_) return;
  ::uselocale(before_);
  ::freelocale(utf8_);
}

}  // namespace nightjar
