#include "service/cli/service_commands.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "service/cli/direction_options.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/import.hpp"
#include "service/cli/report.hpp"

namespace nightjar::cli {

struct ServiceCommands::Impl {
  ImportOptions importing;
  ReportOptions reporting;
  std::vector<std::string> import_words;
  CLI::App *import_command = nullptr, *digest_command = nullptr, *difference_command = nullptr;

  void add_import(CLI::App& app) {
    import_command = app.add_subcommand(
        "import", "Hand the results of other benchmarks to a service, as its history");
    std::string names = "auto";
    for (const Format& format : formats()) names += ", " + format.name;
    import_command->footer(
        "Example: what is in this folder, and then take it over\n"
        "  nightjar import results/ --dry-run\n"
        "  nightjar import results/ --to http://localhost:8187 --token-file token\n"
        "Formats are found by themselves; to insist on one, name it first: `nightjar import asv "
        "results/`.\n"
        "There are " +
        names +
        ".\n"
        "What was imported before is not stored twice. docs/importing.md says what becomes of it.\n"
        "Exit codes: 0 stored, 2 nothing could be read, or wrong use, 3 the service is away.");
    import_command->add_option("words", import_words, "[FORMAT] PATH")->required()->expected(1, 2);
    import_command->add_option("--to", importing.to, "the service, such as http://localhost:8187");
    import_command->add_option("--token-file", importing.token_file, "file with a runner's token");
    import_command->add_option("--machine-class", importing.machine_class,
                               "the machine class of all of it, in place of what the files say");
    add_direction_options(*import_command, importing.directions);
    import_command->add_flag("--dry-run", importing.dry_run, "only say what there is");
    import_command->add_flag("--json", importing.json);
  }

  void add_report(CLI::App& app) {
    auto* report = app.add_subcommand("report", "What a service found, as a text to read or send");
    report->require_subcommand(1);
    report->footer(
        "Example: last week, and how tonight's build differs from a release's\n"
        "  nightjar report digest --from http://localhost:8187\n"
        "  nightjar report difference --from http://localhost:8187 --reference 3 --build 7 "
        "--as html\n"
        "Builds are named by their ids, which /api/v1/builds lists.\n"
        "Exit codes: 0 printed, 2 wrong use, 3 the service is away.");
    digest_command = report->add_subcommand("digest", "What got worse and better in some days");
    digest_command->add_option("--days", reporting.days, "how many")->capture_default_str();
    digest_command->add_option("--until", reporting.until, "the end, in RFC 3339; else now");
    difference_command = report->add_subcommand("difference", "How a build differs from another");
    difference_command->add_option("--reference", reporting.reference)->required();
    difference_command->add_option("--build", reporting.build)->required();
    difference_command
        ->add_option("--least", reporting.least, "the least change that is listed, in percent")
        ->capture_default_str();
    for (CLI::App* command : {digest_command, difference_command}) {
      command->add_option("--from", reporting.from, "the service, such as http://localhost:8187")
          ->required();
      command->add_option("--token-file", reporting.token_file,
                          "file with a token, where reads need one");
      command->add_option("--as", reporting.as)
          ->check(CLI::IsMember({"markdown", "html"}))
          ->capture_default_str();
    }
  }

  int run_import() {
    if (import_words.size() == 2) importing.format = import_words.front();
    importing.path = import_words.back();
    if (importing.format != "auto" && !find_format(importing.format))
      throw BadInput("cannot import: there is no format '" + importing.format +
                     "'; see nightjar import --help");
    return import_history(importing);
  }
};

ServiceCommands::ServiceCommands() : impl_(std::make_unique<Impl>()) {}
ServiceCommands::~ServiceCommands() = default;

void ServiceCommands::add_to(CLI::App& app) {
  impl_->add_import(app);
  impl_->add_report(app);
}

std::optional<int> ServiceCommands::run() {
  if (*impl_->import_command) return impl_->run_import();
  if (*impl_->digest_command) return report_digest(impl_->reporting);
  if (*impl_->difference_command) return report_difference(impl_->reporting);
  return std::nullopt;
}

const char* ServiceCommands::build() {
  return "full";
}

}  // namespace nightjar::cli
