#include "storage/locks.hpp"

#include "storage/paging.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

void add_lock(Transaction& transaction, const Lock& lock, Time now) {
  Statement insert(transaction,
                   "INSERT INTO lock (sha256, text, made_at_us) VALUES (?, ?, ?) "
                   "ON CONFLICT DO NOTHING");
  insert.bind(lock.sha256, lock.text, now).run();
  Statement add(transaction,
                "INSERT INTO locked_package (lock, name, version) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING");
  for (const LockedPackage& package : lock.packages)
    add.bind(lock.sha256, package.name, package.version).run();
}

std::optional<Lock> find_lock(const Database& db, const Sha256& sha256) {
  Statement find(db, "SELECT sha256, text FROM lock WHERE sha256 = ?");
  auto lock = read_one(find.bind(sha256), [](Statement& row) -> Lock {
    return {row.next<Sha256>(), row.next<std::string>(), {}};
  });
  if (!lock) return std::nullopt;
  Statement packages(db, "SELECT name, version FROM locked_package WHERE lock = ? ORDER BY name");
  lock->packages = read_all(packages.bind(sha256), [](Statement& row) -> LockedPackage {
    return {row.next<std::string>(), row.next<std::string>()};
  });
  return lock;
}

namespace {

std::optional<double> bound(const std::optional<Part>& part, double Part::*which) {
  return part ? std::optional((*part).*which) : std::nullopt;
}

std::optional<Part> next_part(Statement& row) {
  const auto ratio = row.next<std::optional<double>>(), low = row.next<std::optional<double>>(),
             high = row.next<std::optional<double>>();
  return ratio && low && high ? std::optional(Part{*ratio, *low, *high}) : std::nullopt;
}

}  // namespace

void set_attribution(Transaction& transaction, RegressionId regression,
                     const Attribution& attribution) {
  const Part& source = attribution.source;
  const auto &environment = attribution.environment, &wheel = attribution.wheel;
  Statement(transaction,
            "INSERT INTO attribution (regression, cause, source_ratio, source_low, source_high, "
            "environment_ratio, environment_low, environment_high, wheel_ratio, wheel_low, "
            "wheel_high, held) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (regression) DO UPDATE SET cause = excluded.cause, "
            "source_ratio = excluded.source_ratio, source_low = excluded.source_low, "
            "source_high = excluded.source_high, environment_ratio = excluded.environment_ratio, "
            "environment_low = excluded.environment_low, "
            "environment_high = excluded.environment_high, wheel_ratio = excluded.wheel_ratio, "
            "wheel_low = excluded.wheel_low, wheel_high = excluded.wheel_high, "
            "held = excluded.held")
      .bind(regression, attribution.cause, source.ratio, source.low, source.high,
            bound(environment, &Part::ratio), bound(environment, &Part::low),
            bound(environment, &Part::high), bound(wheel, &Part::ratio), bound(wheel, &Part::low),
            bound(wheel, &Part::high), attribution.held)
      .run();
}

std::optional<Attribution> attribution_of(const Database& db, RegressionId regression) {
  Statement find(db,
                 "SELECT cause, source_ratio, source_low, source_high, environment_ratio, "
                 "environment_low, environment_high, wheel_ratio, wheel_low, wheel_high, held "
                 "FROM attribution WHERE regression = ?");
  return read_one(find.bind(regression), [](Statement& row) {
    Attribution found{row.next<Cause>(), *next_part(row)};
    found.environment = next_part(row);
    found.wheel = next_part(row);
    found.held = row.next<std::optional<BuildId>>();
    return found;
  });
}

}  // namespace nightjar::storage
