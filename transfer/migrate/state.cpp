#include "transfer/migrate/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"

namespace forebay::migrate {

namespace {

using Json = nlohmann::ordered_json;

constexpr int state_version = 1;
constexpr const char* state_kind = "migrate";
constexpr std::uint64_t state_bytes_max = 1u << 20;
constexpr std::int64_t unix_s_max = 9'000'000'000;  // year 2255; nanoseconds fit into 64 bits, too

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

// Without this check the JSON library silently rounds or wraps other numbers.
template <class Number>
Number number_of(const Json& json, const std::string& key) {
    const auto& value = json.at(key);
    const bool is_whole = std::is_signed_v<Number> ? value.is_number_integer() : value.is_number_unsigned();
    const bool fits = value.is_number_unsigned() ? std::in_range<Number>(value.get<std::uint64_t>())
                                                 : is_whole && std::in_range<Number>(value.get<std::int64_t>());
    if (!is_whole || !fits) throw std::out_of_range(fmt::format("its {} is {}", key, value.dump()));
    return value.get<Number>();
}

std::int64_t unix_s_of(const Json& json, const std::string& key) {
    const auto time = number_of<std::int64_t>(json, key);
    if (time < 0 || time > unix_s_max) throw std::out_of_range(fmt::format("its {} is {}", key, time));
    return time;
}

PassRecord record_of(const Json& json) {
    PassRecord record;
    json.at("done").get_to(record.is_done);
    json.at("stopped").get_to(record.was_stopped);
    record.starts = number_of<std::uint64_t>(json, "starts");
    record.began_unix_s = unix_s_of(json, "began_unix_s");
    record.ended_unix_s = unix_s_of(json, "ended_unix_s");
    const auto& counts = json.at("counts");
    for (const auto& [name, count] : counts.items()) record.counts[name] = number_of<std::uint64_t>(counts, name);
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
    frozen.entries = number_of<std::uint64_t>(json, "entries");
    const auto digest = json.at("digest").get<std::string>();
    const auto [end, error] = std::from_chars(digest.data(), digest.data() + digest.size(), frozen.digest, 16);
    if (error != std::errc() || end != digest.data() + digest.size())
        throw std::out_of_range("its digest is " + digest);
    frozen.newest_change = {number_of<std::int64_t>(json, "changed_seconds"),
                            number_of<std::uint32_t>(json, "changed_nanoseconds")};
    return frozen;
}

Json json_of(const std::optional<RootIdentity>& root) {
    if (!root) return {};
    return {{"inode", root->inode},
            {"file_system", root->file_system},
            {"born_seconds", root->born.seconds},
            {"born_nanoseconds", root->born.nanoseconds}};
}

std::optional<RootIdentity> root_of(const Json& json, const std::string& key) {
    if (!json.contains(key) || json.at(key).is_null()) return std::nullopt;
    const auto& root = json.at(key);
    return RootIdentity{
        .inode = number_of<std::uint64_t>(root, "inode"),
        .file_system = number_of<std::uint64_t>(root, "file_system"),
        .born = {number_of<std::int64_t>(root, "born_seconds"), number_of<std::uint32_t>(root, "born_nanoseconds")}};
}

ProjectState state_of(const Json& json) {
    ProjectState state;
    json.at("project").get_to(state.project);
    json.at("source").get_to(state.source);
    json.at("target").get_to(state.target);
    for (std::size_t i = 0; i < pass_names.size(); ++i)
        state.passes[i] = record_of(json.at("passes").at(std::string(pass_names[i])));
    if (!json.at("frozen").is_null()) state.frozen = frozen_of(json.at("frozen"));
    state.wait_until_unix_s = unix_s_of(json, "wait_until_unix_s");
    json.at("being_removed").get_to(state.is_being_removed);
    state.above_inode = number_of<std::uint64_t>(json, "above_inode");
    state.source_root = root_of(json, "source_root");
    state.target_root = root_of(json, "target_root");
    const auto& release = state.of(Pass::release);
    if (json.contains("released_unix_s")) state.released_unix_s = unix_s_of(json, "released_unix_s");
    else if (release.starts > 0)  // of an older program
        state.released_unix_s = release.is_done ? release.ended_unix_s : release.began_unix_s;
    return state;
}

Error damaged(const std::string& path, const std::string& why) {
    return {ErrorKind::corrupt, fmt::format("{} is not a valid state of a migration: {}", path, why),
            "no project was changed",
            "restore it from a backup. Without it the project begins again with its walk, and copies differences"};
}

}  // namespace

// A walk changes nothing, nor does a refused copy: such a pass takes its start back.
bool has_copied(const ProjectState& state) {
    return std::ranges::any_of(std::span(state.passes).subspan(static_cast<std::size_t>(Pass::copy)),
                               [](const PassRecord& record) { return record.starts > 0; });
}

std::optional<Pass> next_pass(const ProjectState& state, const ProjectPlan& project) {
    for (std::size_t i = 0; i < pass_names.size(); ++i) {
        const auto pass = static_cast<Pass>(i);
        if (pass >= Pass::wait && !project.removes) return std::nullopt;
        if (!state.of(pass).is_done) return pass;
    }
    return std::nullopt;
}

std::uint64_t count_of(const Counts& counts, const std::string& name) {
    const auto count = counts.find(name);
    return count == counts.end() ? 0 : count->second;
}

Result<> go_back(ProjectState& state, Pass pass) {
    if (state.is_being_removed && pass < Pass::remove)
        return Error{
            ErrorKind::refused,
            fmt::format("{}: its source is {}removed", state.project, state.of(Pass::remove).is_done ? "" : "being "),
            "the target was compared with the whole source before", "forebay migrate without --again"};
    if (state.released_unix_s > 0 && pass <= Pass::compare)
        return Error{ErrorKind::refused,
                     fmt::format("{}: its release began on {}. A sync would undo later changes by users at the target",
                                 state.project, show_date(state.released_unix_s)),
                     "nothing was changed",
                     "list the differences with forebay compare of the two, and copy the changes that you want to the "
                     "target by hand"};
    for (auto i = static_cast<std::size_t>(pass); i < state.passes.size(); ++i) state.passes[i] = {};
    if (pass <= Pass::wait) state.wait_until_unix_s = 0;
    if (pass <= Pass::final_sync) state.frozen.reset();
    if (pass <= Pass::copy) state.target_root.reset();
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
                    {"above_inode", state.above_inode},
                    {"source_root", json_of(state.source_root)},
                    {"target_root", json_of(state.target_root)},
                    {"released_unix_s", state.released_unix_s}};
    // With `replace`, text that is not UTF-8 does not throw.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ProjectState> decode_state(const std::string& text, const std::string& path) {
    try {
        const auto json = Json::parse(text);
        if (json.at("forebay").get<std::string>() != state_kind) return damaged(path, "it is of another kind");
        if (const auto version = number_of<int>(json, "version"); version != state_version)
            return Error{
                ErrorKind::unsupported,
                fmt::format("{} has version {}, and this program reads version {}", path, version, state_version),
                "no project was changed", "use the program that wrote it"};
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

Result<ProjectState> read_state(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(text, sys::read_text(store, path, state_bytes_max));
    return decode_state(text, path);
}

Result<ProjectState> load_state(sys::Store& store, const MigrationPlan& plan, const ProjectPlan& project,
                                TakenTargets& taken) {
    const auto path = state_path(plan, project);
    const ProjectState fresh{.project = project.name, .source = project.source, .target = project.target};
    auto read = read_state(store, path);
    if (!read && read.error().kind != ErrorKind::missing) return read;
    auto state = read ? std::move(*read) : fresh;
    const bool is_same =
        state.source == project.source && state.target == project.target && state.project == project.name;
    // The copy checked its target under the lock of all beginning copies, so no other project can begin with that
    // target.
    if (is_same && has_copied(state)) return state;
    if (state.project == project.name && !has_copied(state)) {
        FB_TRY(taken.check(project));
        return is_same ? state : fresh;
    }
    return Error{
        ErrorKind::refused,
        fmt::format("{}: the plan moves {} to {}, but {} began with {} to {}", project.name, show_text(project.source),
                    show_text(project.target), path, show_text(state.source), show_text(state.target)),
        "nothing was changed",
        "correct the plan: name, source and target of a project must not change after its copy began"};
}

Result<> save_state(sys::Store& store, const MigrationPlan& plan, const ProjectState& state,
                    const ProjectPlan& project) {
    return sys::write_text_durable(store, state_path(plan, project), encode_state(state));
}

}  // namespace forebay::migrate
