// What `nightjar verify` reads. Only exceptions of nlohmann's may come out, as its header says.
#include "bisect/evidence/verify.hpp"
#include "storage/base/digest.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "tests/fuzz/targets.hpp"

namespace nightjar::fuzz {

void evidence_bundle(std::string_view input) {
  auto bundle = parse_foreign(input);
  if (bundle.is_discarded()) return;
  try {
    const auto first = evidence::verify_bundle(bundle, digest_of);
    bundle["seal"] = evidence::seal_of(bundle, digest_of);
    const auto sealed = evidence::verify_bundle(bundle, digest_of);
    require(sealed.seal.present && sealed.seal.edited.empty(), "a seal does not fit what it seals");
    require(sealed.verdicts.size() == first.verdicts.size(), "a seal changes the verdicts");
  } catch (const nlohmann::json::exception&) {
  }
}

}  // namespace nightjar::fuzz
