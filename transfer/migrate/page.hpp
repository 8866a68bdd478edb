// What became of a project: report.txt, a page for people, and report.jsonl, a line of JSON for each pass and for each
// entry that a verb had something to say of.

#pragma once

#include <string>

#include "transfer/migrate/plan.hpp"
#include "transfer/migrate/state.hpp"

namespace forebay::migrate {

/// Both files are made anew in `directory`, each whole or not at all, from the state and from what the verbs reported.
Result<> write_page(const MigrationPlan& plan, const ProjectPlan& project, const ProjectState& state,
                    const std::string& directory);

/// "7 failed, 2 vanished": what verbs had to say of single entries.
std::string entry_log_text(const Counts& counts);

/// The page alone.
std::string page_of(const MigrationPlan& plan, const ProjectPlan& project, const ProjectState& state);

}  // namespace forebay::migrate
