// The fields of an imported history: what writes and reads them, and what openapi.json says of
// them. Brings json.hpp along: see SLOW in tests/star_test.py.
#pragma once

#include "storage/model/described.hpp"
#include "storage/model/history.hpp"

namespace nightjar {

const Described<HistoryValue>& described(Parsed<HistoryValue>);
const Described<HistoryNight>& described(Parsed<HistoryNight>);
const Described<History>& described(Parsed<History>);

}  // namespace nightjar
