#include "migrate/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "base/show_text.hpp"
#include "base/try.hpp"
#include "base/units.hpp"

namespace forebay::migrate {

namespace {

using Json = nlohmann::ordered_json;

constexpr int state_version = 1;
constexpr const char* state_kind = "migrate";
constexpr std::uint64_t state_bytes_max = 1u << 20;

Json json_of(const PassRecord& record) {
    Json counts = Json::object();
    for (const auto& [name, count] : record.counts) counts[name] = count;
    return {{"done", record.is_done},
            {"stopped", record.was_stopped},
            {"starts", record.starts},
            {"began_unix_s", record.began_unix_s},
            {"ended_unix_s", record.ended_unix_s},
            {"counts", counts},
            {"error", record.error}};
}

PassRecord record_of(const Json& json) {
    PassRecord record;
    json.at("done").get_to(record.is_done);
    json.at("stopped").get_to(record.was_stopped);
    json.at("starts").get_to(record.starts);
    json.at("began_unix_s").get_to(record.began_unix_s);
    json.at("ended_unix_s").get_to(record.ended_unix_s);
    for (const auto& [name, count] : json.at("counts").items()) record.counts[name] = count.get<std::uint64_t>();
    json.at("error").get_to(record.error);
    return record;
}

Json json_of(const Frozen& frozen) {
    return {{"entries", frozen.entries},
            {"digest", fmt::format("{:016x}", frozen.digest)},
            {"changed_seconds", frozen.newest_change.seconds},
            {"changed_nanoseconds", frozen.newest_change.nanoseconds}};
}

Frozen frozen_of(const Json& json) {
    Frozen frozen;
    json.at("entries").get_to(frozen.entries);
    frozen.digest = std::stoull(json.at("digest").get<std::string>(), nullptr, 16);
    json.at("changed_seconds").get_to(frozen.newest_change.seconds);
    json.at("changed_nanoseconds").get_to(frozen.newest_change.nanoseconds);
    return frozen;
}

ProjectState state_of(const Json& json) {
    ProjectState state;
    json.at("project").get_to(state.project);
    json.at("source").get_to(state.source);
    json.at("target").get_to(state.target);
    for (std::size_t i = 0; i < pass_names.size(); ++i)
        state.passes[i] = record_of(json.at("passes").at(std::string(pass_names[i])));
    if (!json.at("frozen").is_null()) state.frozen = frozen_of(json.at("frozen"));
    json.at("wait_until_unix_s").get_to(state.wait_until_unix_s);
    json.at("being_removed").get_to(state.is_being_removed);
    json.at("above_inode").get_to(state.above_inode);
    return state;
}

Error damaged(const std::string& path, const std::string& why) {
    return {ErrorKind::corrupt, fmt::format("{} is no state of a migration: {}", path, why), "no project was touched",
            "restore it from a backup; without it the project begins again with its walk, and copies what differs"};
}

// A walk changes nothing, and a copy that was refused neither: the pass takes its start back.
bool has_copied(const ProjectState& state) {
    return std::ranges::any_of(state.passes | std::views::drop(static_cast<int>(Pass::copy)),
                               [](const PassRecord& record) { return record.starts > 0; });
}

}  // namespace

std::optional<Pass> next_pass(const ProjectState& state, const ProjectPlan& project) {
    for (std::size_t i = 0; i < pass_names.size(); ++i) {
        const auto pass = static_cast<Pass>(i);
        if (pass >= Pass::wait && !project.removes) return std::nullopt;
        if (!state.of(pass).is_done) return pass;
    }
    return std::nullopt;
}

Result<> go_back(ProjectState& state, Pass pass) {
    if (state.is_being_removed && pass < Pass::remove)
        return Error{
            ErrorKind::refused,
            fmt::format("{}: its source is {}removed", state.project, state.of(Pass::remove).is_done ? "" : "being "),
            "the target was compared with the whole source before", "forebay migrate without --again"};
    if (state.of(Pass::release).is_done && pass <= Pass::final_sync)
        return Error{ErrorKind::refused,
                     fmt::format("{}: the target was opened to its users on {}: a sync would undo their changes",
                                 state.project, show_date(state.of(Pass::release).ended_unix_s)),
                     "nothing was changed",
                     "forebay sync without --delete for what is to come over once more, or a project of a new name"};
    for (auto i = static_cast<std::size_t>(pass); i < state.passes.size(); ++i) state.passes[i] = {};
    if (pass <= Pass::wait) state.wait_until_unix_s = 0;
    if (pass <= Pass::final_sync) state.frozen.reset();
    return {};
}

std::string encode_state(const ProjectState& state) {
    Json passes = Json::object();
    for (std::size_t i = 0; i < pass_names.size(); ++i) passes[std::string(pass_names[i])] = json_of(state.passes[i]);
    const Json json{{"forebay", state_kind},
                    {"version", state_version},
                    {"project", state.project},
                    {"source", state.source},
                    {"target", state.target},
                    {"passes", passes},
                    {"frozen", state.frozen ? json_of(*state.frozen) : Json()},
                    {"wait_until_unix_s", state.wait_until_unix_s},
                    {"being_removed", state.is_being_removed},
                    {"above_inode", state.above_inode}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ProjectState> decode_state(const std::string& text, const std::string& path) {
    try {
        const auto json = Json::parse(text);
        if (json.at("forebay").get<std::string>() != state_kind) return damaged(path, "it is of another kind");
        if (const auto version = json.at("version").get<int>(); version != state_version)
            return Error{ErrorKind::unsupported,
                         fmt::format("{} has version {}, this program knows {}", path, version, state_version),
                         "no project was touched", "use the program that wrote it"};
        return state_of(json);
    } catch (const std::exception& error) {
        return damaged(path, show_text(error.what()));
    }
}

std::string state_path(const MigrationPlan& plan, const ProjectPlan& project) {
    return fmt::format("{}/{}.json", plan.state, project.name);
}

std::string lock_path(const MigrationPlan& plan, const ProjectPlan& project) {
    return fmt::format("{}/{}.lock", plan.state, project.name);
}

Result<ProjectState> load_state(sys::Store& store, const MigrationPlan& plan, const ProjectPlan& project) {
    const auto path = state_path(plan, project);
    const auto text = sys::read_text(store, path, state_bytes_max);
    if (!text && text.error().kind == ErrorKind::missing)
        return ProjectState{.project = project.name, .source = project.source, .target = project.target};
    FB_TRY(text);
    FB_TRY_ASSIGN(state, decode_state(*text, path));
    if (state.source == project.source && state.target == project.target && state.project == project.name) return state;
    if (state.project == project.name && !has_copied(state))
        return ProjectState{.project = project.name, .source = project.source, .target = project.target};
    return Error{ErrorKind::refused,
                 fmt::format("{}: the plan moves {} to {}, but {} was begun with {} to {}", project.name,
                             show_text(project.source), show_text(project.target), path, show_text(state.source),
                             show_text(state.target)),
                 "nothing was changed", "correct the plan, or give what is another move another name"};
}

Result<> save_state(sys::Store& store, const MigrationPlan& plan, const ProjectState& state,
                    const ProjectPlan& project) {
    return sys::write_text_durable(store, state_path(plan, project), encode_state(state));
}

}  // namespace forebay::migrate
