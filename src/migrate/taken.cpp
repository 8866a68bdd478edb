#include "migrate/taken.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/show_text.hpp"
#include "base/try.hpp"
#include "migrate/state.hpp"
#include "sys/local_file.hpp"

namespace forebay::migrate {

namespace {

constexpr std::string_view state_ending = ".json";

bool lie_in_each_other(const std::string& one, const std::string& other) {
    return one.starts_with(other) || other.starts_with(one);
}

}  // namespace

Result<> TakenTargets::check(const ProjectPlan& project) {
    const std::lock_guard lock(mutex_);
    if (!was_read_) was_read_ = read();
    FB_TRY(*was_read_);
    const auto place = resolved_place(project.target);
    for (const auto& target : targets_) {
        if (target.project == project.name) continue;
        if (!target.source.empty() && lie_in_each_other(place, target.source))
            return Error{
                ErrorKind::refused,
                fmt::format("{}: its target is the source of project {}, {}, which is moved since {}", project.name,
                            target.project, show_text(target.source), show_date(target.since_unix_s)),
                "nothing was changed",
                fmt::format("correct the target in {}; where that source is gone, take {}/{}.json away", plan_.path,
                            plan_.state, target.project)};
        if (!lie_in_each_other(place, target.place)) continue;
        return Error{
            ErrorKind::refused,
            fmt::format("{}: its target is that of project {}{}, {} {}", project.name, target.project,
                        target.place == place ? "" : fmt::format(" ({})", show_text(target.place)),
                        target.is_in_use ? "in use since" : "which is copied to it since",
                        show_date(target.since_unix_s)),
            "nothing was changed",
            fmt::format("give it its old name {} in {}: the name of a project must never change after its copy began",
                        target.project, plan_.path)};
    }
    return {};
}

Result<> TakenTargets::read() {
    const auto names = sys::names_in(plan_.state);
    if (!names && names.error().kind == ErrorKind::missing) return {};
    FB_TRY(names);
    for (const auto& name : *names)
        if (name.ends_with(state_ending) && !name.starts_with('.')) FB_TRY(read_one(name));
    return {};
}

Result<> TakenTargets::read_one(const std::string& name) {
    const auto path = plan_.state + "/" + name;
    const auto state = read_state(sys::posix_store(), path);
    if (!state) {
        // A project of the plan says it itself, and its target is none of another one: the plan was refused else.
        const bool is_planned =
            std::ranges::binary_search(plan_.names, name.substr(0, name.size() - state_ending.size()));
        if (is_planned || state.error().kind == ErrorKind::missing) return {};
        return because(state.error(), "whose target it is cannot be told: " + state.error().what);
    }
    if (!has_copied(*state)) return {};
    const auto& release = state->of(Pass::release);
    targets_.push_back({.place = resolved_place(state->target),
                        .source = state->of(Pass::remove).is_done ? "" : resolved_place(state->source),
                        .project = state->project,
                        .since_unix_s = release.is_done ? release.ended_unix_s : state->of(Pass::copy).began_unix_s,
                        .is_in_use = release.is_done});
    return {};
}

}  // namespace forebay::migrate
