// For which GPU architectures a library's CUDA code is compiled: reads the headers in its
// .nv_fatbin section, without `cuobjdump`. NVIDIA does not document them; the layout here is what
// nvcc writes today, with its magic number and versions. Anything else is unknown, never guessed.
//
//   fat binary   u32 magic 0xBA55ED50, u16 version 1, u16 header size, u64 size of what follows
//   its entries  u16 kind (1 PTX, 2 machine code), u16 version 0x101, u32 header size,
//                u64 payload size, ..., at 28: u32 architecture (75, 90, 120)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace nightjar::service {

class FatBinaries {
 public:
  // The next bytes of the section, cut anywhere. False: the layout is unknown, and reading on is
  // of no use.
  bool add(std::string_view bytes);
  // "sm_75 sm_89 compute_90", in order. An architecture counts if at least half of the fat binaries
  // have code for it: some kernels are compiled for a single one besides. nullopt if the layout is
  // unknown or the section was cut off; empty if there is no fat binary at all.
  std::optional<std::string> architectures() const;

 private:
  void step();
  void open_binary();
  void open_entry();
  void close_binary();

  bool unknown_ = false;
  std::string header_;      // of what comes next, as far as it has come
  std::size_t wanted_ = 8;  // bytes of it that are needed to go on
  std::uint64_t skip_ = 0;  // bytes without interest before the next header
  std::uint64_t left_ = 0;  // in the open fat binary, headers included; 0: none is open
  bool open_ = false;
  int binaries_ = 0;
  std::set<std::string> current_;  // of the open fat binary
  std::map<std::string, int> binaries_with_;
};

}  // namespace nightjar::service
