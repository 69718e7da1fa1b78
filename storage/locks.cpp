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

void set_attribution(Transaction& transaction, RegressionId regression,
                     const Attribution& attribution) {
  const Part &source = attribution.source, &environment = attribution.environment;
  Statement(transaction,
            "INSERT INTO attribution (regression, cause, source_ratio, source_low, source_high, "
            "environment_ratio, environment_low, environment_high, held) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(regression, attribution.cause, source.ratio, source.low, source.high, environment.ratio,
            environment.low, environment.high, attribution.held)
      .run();
}

std::optional<Attribution> attribution_of(const Database& db, RegressionId regression) {
  Statement find(db,
                 "SELECT cause, source_ratio, source_low, source_high, environment_ratio, "
                 "environment_low, environment_high, held FROM attribution WHERE regression = ?");
  return read_one(find.bind(regression), [](Statement& row) -> Attribution {
    return {row.next<Cause>(),
            {row.next<double>(), row.next<double>(), row.next<double>()},
            {row.next<double>(), row.next<double>(), row.next<double>()},
            row.next<std::optional<BuildId>>()};
  });
}

}  // namespace nightjar::storage
