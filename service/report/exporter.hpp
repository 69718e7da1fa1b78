// Gives verdicts to others as PyTorch's own benchmarks give their results: as records of its
// benchmark database, compressed, in an object of an S3 bucket or by a webhook. Used by the engine,
// which queues them, and by the outbox's sender.
#pragma once

#include <string>
#include <variant>

#include "service/report/export_config.hpp"
#include "service/report/report.hpp"
#include "service/report/tracker.hpp"
#include "storage/model/outbox.hpp"

namespace nightjar::service {

// A record for each affected series, one a line, at most a thousand. `benchmark_values` has the
// level after the step and `target_value` that before; all else of the verdict, as texts, is in
// `extra_info`. A series whose workload has no name of ours is left out.
std::string verdict_records(const ReportInput& issue, const ExportConfig& config, Time now);

// The same records where the verdict no longer holds: `verdict` is "taken back", and `why` says
// why.
std::string taken_back(const std::string& records, const std::string& why, Time now);

// The name of a finding's object. The same verdict is written there again, if at all, and so is
// that it was taken back.
std::string object_name(const ExportConfig& config, const OutboxMessage& message);

// The webhook's address, which is a secret. Throws std::runtime_error with the file if it holds
// none; the message does not repeat what it holds.
std::string export_url(const ExportConfig& config);
// Scheme, host and port of where the export goes. Throws like export_url().
std::string export_host(const ExportConfig& config);
// Throws std::runtime_error with the file if the bucket's login is no KEY:SECRET.
void check_export_login(const ExportConfig& config);

// Sends a message of kind verdict once. Outcomes are those of a chat (see tell_chat). An object is
// written again without harm; a webhook gets the key in X-Nightjar-Delivery.
Outcome<std::monostate> export_verdict(const ExportConfig& config, const OutboxMessage& message);

}  // namespace nightjar::service
