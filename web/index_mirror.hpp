// What an installer sees of indexes of packages: a proxy on loopback that shows their pages and
// files, and nothing else of the network. It asks the indexes itself, with their credentials, so
// that the installer needs neither; links lead only where web::Reach allows. Used while uv runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/model/address.hpp"
#include "web/reach.hpp"

namespace nightjar::web {

class IndexMirror {
 public:
  // `reach`: where links of pages and redirects may lead, besides the public internet. Throws
  // std::runtime_error if it cannot listen.
  IndexMirror(std::vector<Address> indexes, Reach reach);
  // Breaks off what is under way.
  ~IndexMirror();
  IndexMirror(const IndexMirror&) = delete;
  IndexMirror& operator=(const IndexMirror&) = delete;

  // What the installer calls the indexes, in their order. The same at each start, so that its cache
  // fits.
  std::vector<std::string> urls() const;
  // Makes a program send every request here, with the password that only it is told.
  std::vector<std::string> environment() const;
  // The first question that an index did not answer, and why; empty: all were answered.
  std::string failure() const;
  // `text` of the installer, with the indexes as they are called outside.
  std::string as_outside(std::string text) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::web
