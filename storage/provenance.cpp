#include "storage/provenance.hpp"

#include "storage/builds.hpp"
#include "storage/paging.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {
namespace {

void add_lines(Transaction& transaction, const Sha256& wheel, const char* what,
               const std::vector<std::string>& lines) {
  Statement add(transaction, "INSERT INTO provenance_line (wheel, what, text) VALUES (?, ?, ?)");
  for (const std::string& line : lines) add.bind(wheel, what, line).run();
}

std::vector<std::string> lines_of(const Database& db, const Sha256& wheel, const char* what) {
  Statement find(db, "SELECT text FROM provenance_line WHERE wheel = ? AND what = ? ORDER BY text");
  return read_all(find.bind(wheel, what), [](Statement& row) { return row.next<std::string>(); });
}

}  // namespace

void add_provenance(Transaction& transaction, const Provenance& provenance) {
  if (find_provenance(transaction, provenance.wheel)) return;
  Statement(transaction,
            "INSERT INTO provenance (wheel, generator, flags, more_files, trouble) "
            "VALUES (?, ?, ?, ?, ?)")
      .bind(provenance.wheel, provenance.generator, provenance.flags, provenance.more_files,
            provenance.trouble)
      .run();
  add_lines(transaction, provenance.wheel, "tag", provenance.tags);
  add_lines(transaction, provenance.wheel, "compiler", provenance.compilers);
  Statement add(transaction,
                "INSERT INTO provenance_file (wheel, name, size_bytes, digest, kind) "
                "VALUES (?, ?, ?, ?, ?)");
  for (const WheelFile& file : provenance.files)
    add.bind(provenance.wheel, file.name, file.size_bytes, file.digest, file.kind).run();
}

std::optional<Provenance> find_provenance(const Database& db, const Sha256& wheel) {
  Statement find(db,
                 "SELECT generator, flags, more_files, trouble FROM provenance WHERE wheel = ?");
  auto found = read_one(find.bind(wheel), [&](Statement& row) {
    Provenance provenance{wheel};
    provenance.generator = row.next<std::string>();
    provenance.flags = row.next<std::string>();
    provenance.more_files = row.next<int>();
    provenance.trouble = row.next<std::string>();
    return provenance;
  });
  if (!found) return std::nullopt;
  found->tags = lines_of(db, wheel, "tag");
  found->compilers = lines_of(db, wheel, "compiler");
  Statement files(db,
                  "SELECT name, size_bytes, digest, kind FROM provenance_file WHERE wheel = ? "
                  "ORDER BY name");
  found->files = read_all(files.bind(wheel), [](Statement& row) -> WheelFile {
    return {row.next<std::string>(), row.next<std::int64_t>(), row.next<std::string>(),
            row.next<WheelFileKind>()};
  });
  return found;
}

std::vector<Build> builds_without_provenance(const Database& db) {
  Statement find(db,
                 "SELECT max(id) FROM build WHERE state = 'proved' "
                 "AND kind NOT IN ('overlay', 'crossed') AND sha256 IS NOT NULL "
                 "AND commit_sha IS NOT NULL "
                 "AND NOT EXISTS (SELECT 1 FROM provenance WHERE wheel = build.sha256) "
                 "GROUP BY sha256 ORDER BY max(id) DESC");
  std::vector<Build> builds;
  for (const BuildId id : read_all(find, [](Statement& row) { return row.next<BuildId>(); }))
    builds.push_back(find_build(db, id).value());
  return builds;
}

std::optional<Sha256> recipe_of_build(const Database& db, BuildId build) {
  Statement find(db, "SELECT recipe_sha256 FROM source_build WHERE build = ?");
  return read_one(find.bind(build), [](Statement& row) { return row.next<Sha256>(); });
}

}  // namespace nightjar::storage
