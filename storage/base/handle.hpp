// Objects of C libraries with an owner: libgit2's, OpenSSL's.
#pragma once

#include <memory>

namespace nightjar {

template <auto release>
struct Release {
  template <typename T>
  void operator()(T* object) const {
    release(object);
  }
};

template <typename T, auto release>
using Handle = std::unique_ptr<T, Release<release>>;

}  // namespace nightjar
