// The report of a project: report.txt, a page for people, and report.jsonl, a line of JSON for each pass and each entry
// that a verb reported.

#pragma once

#include <string>

#include "transfer/migrate/plan.hpp"
#include "transfer/migrate/state.hpp"

namespace forebay::migrate {

/// Writes both files in `directory`, each whole or not at all, from the state and the verbs' reports.
Result<> write_page(const MigrationPlan& plan, const ProjectPlan& project, const ProjectState& state,
                    const std::string& directory);

/// "7 failed, 2 vanished": events of single entries.
std::string entry_log_text(const Counts& counts);

/// The text of report.txt.
std::string page_of(const MigrationPlan& plan, const ProjectPlan& project, const ProjectState& state);

}  // namespace forebay::migrate
