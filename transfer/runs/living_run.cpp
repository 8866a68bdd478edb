#include "transfer/runs/living_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/tree_place.hpp"
#include "core/terminal/log.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/held_run_lock.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/removal.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "transfer/runs/run.hpp"

namespace forebay::cli {

namespace {

// True if the newest run lock at the target may come from an earlier session of the source.
Result<bool> may_be_copied(sys::Store& store, const std::string& source, const std::string& target) {
    FB_TRY_ASSIGN(here, catalog::last_session(store, source));
    FB_TRY_ASSIGN(there, catalog::last_session(store, target));
    return here && there &&
           (there->session < here->session || (there->session == here->session && there->key == here->key));
}

}  // namespace

Result<> check_no_session_writes(const std::string& source, const std::string& target, bool removes) {
    auto& store = sys::target_store();
    auto at = sys::is_far(target) ? target : std::filesystem::absolute(target).lexically_normal().string();
    while (at.size() > 1 && at.ends_with('/')) at.pop_back();
    FB_TRY_ASSIGN(is_whole_run, is_run(at));
    if (is_whole_run) {
        FB_TRY_ASSIGN(source_is_run, source.empty() ? Result<bool>(false) : is_run(source));
        FB_TRY_ASSIGN(is_old, source_is_run ? may_be_copied(store, source, at) : Result<bool>(false));
        return is_old ? Result<>() : catalog::HeldRunLock::check_free(store, at, log_to_errors());
    }
    if (catalog::step_of(leaf_of(at)) || catalog::aside_of(leaf_of(at))) at = directory_of(at);
    const auto run = directory_of(at);
    FB_TRY_ASSIGN(is_in_run, run == at ? Result<bool>(false) : is_run(run));
    if (!is_in_run) return {};
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    if (leaf_of(at) != catalog::own_directory && std::ranges::count(streams, leaf_of(at)) == 0) return {};
    // Only a sync of whole runs knows the snapshots that the source never had.
    if (removes)
        return Error{ErrorKind::refused,
                     fmt::format("{} lies in run {}, and --delete would remove each snapshot that the source lacks",
                                 show_text(target), show_text(run)),
                     "nothing was changed",
                     "sync the run itself, or leave --delete out. If you want to remove them: --as-files"};
    return catalog::HeldRunLock::check_free(store, run, log_to_errors());
}

// A snapshot may be the only proof that its run went back.
Result<> keep_lines(const std::string& place) {
    auto path = sys::is_far(place) ? place : std::filesystem::absolute(place).lexically_normal().string();
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const auto name = leaf_of(path);
    if (!catalog::step_of(name) && !catalog::aside_of(name) && !catalog::leftover_of(name)) return {};
    const auto stream = directory_of(path), run = directory_of(stream);
    FB_TRY_ASSIGN(is_in_run, is_run(run));
    if (!is_in_run) return {};
    const auto marked = catalog::mark_before_removal(sys::target_store(), run, leaf_of(stream), path);
    if (marked) return {};
    return with_context(marked.error(),
                        fmt::format("{} may be the only record that its run went back, and a note of this failed: {}",
                                    show_text(place), marked.error().what),
                        "nothing was removed", marked.error().next);
}

}  // namespace forebay::cli
