#include "transfer/migrate/taken.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/place_in_file_system.hpp"
#include "core/sys/tree.hpp"
#include "transfer/migrate/state.hpp"

namespace forebay::migrate {

namespace {

constexpr std::string_view state_ending = ".json";

bool lie_in_each_other(const std::string& first, const std::string& other) {
    return first.starts_with(other) || other.starts_with(first);
}

}  // namespace

bool TakenTargets::Place::meets(const Place& other) const {
    const bool is_placed = !in_file_system.empty() && !other.in_file_system.empty();
    return lie_in_each_other(path, other.path) ||
           (is_placed && lie_in_each_other(in_file_system, other.in_file_system)) || (seen && seen == other.seen);
}

TakenTargets::Roots TakenTargets::roots_at(std::string path) {
    Roots roots;
    while (!is_remote(path) && path.size() > 1) {
        path = directory_of(path);
        const auto folder = sys::open_posix_folder(path);
        if (!folder) continue;
        if (const auto identity = identity_of(**folder)) roots.push_back(*identity);
    }
    return roots;
}

// File systems made within one second may have equal roots, and copies of an image too. If the recorded root is still
// at its path, the file system's number distinguishes it from another.
bool TakenTargets::is_among(const Roots& roots, const Place& noted) {
    if (!noted.root || !noted.root->is_known()) return false;
    return std::ranges::any_of(roots, [&](const RootIdentity& root) {
        if (root != *noted.root) return false;
        const auto there = look_at_root(noted.path);
        const bool is_there = there && *there && (*there)->identity == noted.root;
        return !is_there || (*there)->identity->file_system == root.file_system;
    });
}

// A place that cannot be opened is known only by its path. The reason is reported when its project begins.
TakenTargets::Place TakenTargets::place_of(const std::string& path) const {
    Place place{.path = resolved_place(path)};
    if (is_remote(path)) return place;
    place.in_file_system = sys::place_in_file_system(mounts_, place.path);
    const auto folder = sys::open_posix_folder(place.path);
    if (!folder) return place;
    if (const auto status = (*folder)->status()) place.seen = status->id;
    return place;
}

Result<> TakenTargets::check(const ProjectPlan& project) {
    const std::lock_guard lock(mutex_);
    if (!was_read_) was_read_ = read();
    FB_TRY(*was_read_);
    const auto place = place_of(project.target);
    const auto roots = roots_at(place.path);
    const auto is_at = [&](const Place& held) { return place.meets(held) || is_among(roots, held); };
    for (const auto& target : targets_) {
        if (target.project == project.name) continue;
        if (target.source && is_at(*target.source))
            return Error{ErrorKind::refused,
                         fmt::format("{}: its target is the source of project {}, {}, moved since {}", project.name,
                                     target.project, show_text(target.source->path), show_date(target.since_unix_s)),
                         "nothing was changed",
                         fmt::format("correct the target in {}. If that source is gone, move {}/{}.json away",
                                     plan_.path, plan_.state, target.project)};
        if (!is_at(target.place)) continue;
        return Error{
            ErrorKind::refused,
            fmt::format("{}: it has the same target as project {}{}, {} {}", project.name, target.project,
                        target.place.path == place.path ? "" : fmt::format(" ({})", show_text(target.place.path)),
                        target.is_in_use ? "in use since" : "being filled since", show_date(target.since_unix_s)),
            "nothing was changed",
            fmt::format("give the project its old name {} in {}: the name must not change after the copy began. Or "
                        "correct the target of one project",
                        target.project, plan_.path)};
    }
    return {};
}

Result<> TakenTargets::read() {
    const auto names = sys::names_in(plan_.state);
    if (!names && names.error().kind == ErrorKind::missing) return {};
    FB_TRY(names);
    FB_TRY_ASSIGN(mounts, sys::kernel_text("/proc/self/mountinfo"));
    mounts_ = std::move(mounts);
    for (const auto& name : *names)
        if (name.ends_with(state_ending) && !name.starts_with('.')) FB_TRY(read_one(name));
    return {};
}

Result<> TakenTargets::read_one(const std::string& name) {
    const auto path = plan_.state + "/" + name;
    const auto state = read_state(sys::posix_store(), path);
    if (!state) {
        // A project of the plan reports this itself. No other project has its target, because the plan would be
        // refused.
        const bool is_planned =
            std::ranges::binary_search(plan_.names, name.substr(0, name.size() - state_ending.size()));
        if (is_planned || state.error().kind == ErrorKind::missing) return {};
        return with_context(state.error(),
                            "this state cannot be read, so its target is unknown: " + state.error().what);
    }
    if (!has_copied(*state)) return {};
    const bool is_in_use = state->released_unix_s > 0;
    auto& target = targets_.emplace_back(
        Target{.place = place_of(state->target),
               .project = state->project,
               .since_unix_s = is_in_use ? state->released_unix_s : state->of(Pass::copy).began_unix_s,
               .is_in_use = is_in_use});
    target.place.root = state->target_root;
    // A removed source is no longer in danger.
    if (state->of(Pass::remove).is_done) return {};
    target.source = place_of(state->source);
    target.source->root = state->source_root;
    return {};
}

}  // namespace forebay::migrate
