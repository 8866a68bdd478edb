#include "transfer/migrate/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "core/base/nearest_word.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/format/toml_section.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/place_in_file_system.hpp"
#include "core/sys/tree.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::migrate {

namespace {

// toml++ splits dotted keys by recursion; a file of this size cannot exhaust the stack. It holds about 20,000 projects.
constexpr std::size_t plan_bytes_max = 4u << 20;
constexpr std::size_t name_bytes_max = 64;
constexpr double days_max = 36'500;

bool is_name(const std::string& name) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    };
    return !name.empty() && name.size() <= name_bytes_max && name[0] != '.' && name[0] != '-' &&
           std::ranges::all_of(name, is_plain);
}

// `whose` names the project if its line does not.
void check_place(TomlSection& section, TomlValue table, const char* key, const std::string& place, bool may_be_remote,
                 const std::string& whose, const char* example) {
    if (!section.any(key).exists())
        return section.refuse(table, key, fmt::format("{}is missing, as in {} = \"{}\".", whose, key, example));
    const bool is_whole = place.starts_with('/') || (may_be_remote && is_remote(place));
    if (!is_whole || !is_showable(place))
        section.refuse(section.any(key), key,
                       fmt::format("{}is \"{}\", and must be an absolute path, as in {} = \"{}\".", whose,
                                   show_text(place), key, example));
}

void take_days(TomlSection& section, double& days) {
    section.real("wait_days", days);
    if (!(days >= 0 && days <= days_max)) section.refuse("wait_days", "must be 0 to 36500.");
}

// Keys that may stand at the top for all projects, and in one project.
void take_shared(TomlSection& section, ProjectPlan& project) {
    section.texts("include", project.include);
    section.texts("exclude", project.exclude);
    for (const auto* key : {"include", "exclude"})
        for (const auto& pattern : key == std::string_view("include") ? project.include : project.exclude)
            if (const auto checked = tree::check_pattern(pattern); !checked)
                section.refuse(section.any(key), key, "has a wrong pattern: " + checked.error().what + ".");
    section.text("preserve", project.preserve);
    section.flag("one_file_system", project.one_file_system);
    section.flag("verify", project.verify);
    std::string compare = project.compares_bytes ? "bytes" : "no-bytes";
    section.text("compare", compare);
    if (compare != "bytes" && compare != "no-bytes") section.refuse("compare", "is \"bytes\" or \"no-bytes\".");
    project.compares_bytes = compare == "bytes";
    section.flag("delete", project.removes);
    section.flag("delete_excluded", project.removes_excluded);
    section.text("freeze", project.freeze);
    section.text("release", project.release);
    take_days(section, project.wait_days);
}

void take_batch(const TomlValue& table, const std::string& path, Result<>& verdict, bool has_hosts, BatchPlan& batch) {
    TomlSection section(table, "batch", path, verdict);
    section.text("queue", batch.queue);
    section.text("account", batch.account);
    section.text("time", batch.time);
    section.number("nodes", batch.nodes, 1);
    if (batch.nodes > 1 && !has_hosts)
        section.refuse("nodes", fmt::format("is {}, but without hosts commands use only the first node: set hosts = "
                                            "[\"slurm\"] or a list of hosts at the top of the plan.",
                                            batch.nodes));
    section.texts("lines", batch.lines);
}

void take_project(const TomlValue& table, const std::string& path, Result<>& verdict, ProjectPlan& project) {
    TomlSection section(table, "project", path, verdict);
    section.text("name", project.name);
    section.text("source", project.source);
    section.text("target", project.target);
    take_shared(section, project);
    section.refuse_unknown();
    if (!section.any("name").exists()) section.refuse(table, "name", "is missing, as in name = \"climate\".");
    if (!is_name(project.name))
        section.refuse(section.any("name"), "name",
                       fmt::format("is \"{}\", and must be letters, digits, '_', '-' and '.', at most 64.",
                                   show_text(project.name)));
    const auto whose = fmt::format("of {} ", show_text(project.name));
    check_place(section, table, "source", project.source, true, whose, "/old/projects/climate");
    check_place(section, table, "target", project.target, true, whose, "/new/projects/climate");
    if (project.freeze.empty())
        section.refuse(table, "freeze",
                       fmt::format("{}is missing: the command that closes the project to its users, as in freeze = "
                                   "\"/admin/move/close-project\". Write \"true\" if you need none.",
                                   whose));
    if (project.removes && project.has_patterns() && !project.removes_excluded)
        section.refuse(
            table, "delete",
            "with patterns would remove the entries that they exclude. If you mean that: delete_excluded = true.");
}

struct PlannedPlace {
    std::string at, path, whose;  // place by path, or within a file system
};

// A bind mount gives one place two paths. Their parents are then one directory, even if the place does not exist yet.
Result<> check_no_alias(const MigrationPlan& plan, const std::vector<PlannedPlace>& places) {
    std::map<std::pair<sys::EntryId, std::string>, const PlannedPlace*> known;
    for (const auto& place : places) {
        if (is_remote(place.path)) continue;
        const std::filesystem::path path(place.path.substr(0, place.path.size() - 1));
        const auto above = sys::open_posix_folder(path.parent_path().string());
        if (!above) continue;  // reported when the project begins
        FB_TRY_ASSIGN(status, (*above)->status());
        const auto [it, is_new] = known.try_emplace({status.id, path.filename().string()}, &place);
        if (!is_new)
            return Error{ErrorKind::refused,
                         fmt::format("{}: {}, {}, is {}, {}, by another path", plan.path, place.whose, place.path,
                                     it->second->whose, it->second->path),
                         "nothing was changed", "correct the plan: each project would copy or remove the other's data"};
    }
    return {};
}

// Sorted, so that a place inside another follows it. 40,000 places are not compared in pairs.
Result<> check_none_in_another(const MigrationPlan& plan, std::vector<PlannedPlace> places) {
    std::ranges::sort(places, {}, &PlannedPlace::at);
    for (std::size_t i = 1; i < places.size(); ++i)
        if (places[i].at.starts_with(places[i - 1].at))
            return Error{ErrorKind::refused,
                         fmt::format("{}: {}, {}, lies in {}, {}{}", plan.path, places[i].whose, places[i].path,
                                     places[i - 1].whose, places[i - 1].path,
                                     places[i].at == places[i].path ? "" : ", by another path"),
                         "nothing was changed", "correct the plan: each project would copy or remove the other's data"};
    return {};
}

Result<> check_apart(const MigrationPlan& plan) {
    std::vector<PlannedPlace> places;
    const auto add = [&](std::string path, std::string whose) { places.push_back({path, path, std::move(whose)}); };
    for (const auto& project : plan.projects) {
        add(resolved_place(project.source), "the source of " + project.name);
        add(resolved_place(project.target), "the target of " + project.name);
    }
    FB_TRY(check_no_alias(plan, places));
    FB_TRY(check_none_in_another(plan, places));
    // A file system may be mounted twice, so places are compared within file systems, too.
    FB_TRY_ASSIGN(mounts, sys::kernel_text("/proc/self/mountinfo"));
    auto mounted = places;
    for (auto& place : mounted)
        if (!is_remote(place.path)) place.at = sys::place_in_file_system(mounts, place.path);
    std::erase_if(mounted, [](const PlannedPlace& place) { return place.at.empty(); });
    FB_TRY(check_none_in_another(plan, std::move(mounted)));
    for (const auto& own : {resolved_place(plan.state), resolved_place(plan.reports)})
        for (const auto& place : places)
            if (own.starts_with(place.path))
                return Error{ErrorKind::refused,
                             fmt::format("{}: state and reports must not lie in {}", plan.path, place.whose),
                             "nothing was changed", "choose directories outside all sources and targets"};
    return {};
}

void take_hosts(TomlSection& section, std::string& hosts) {
    std::vector<std::string> list;
    section.texts("hosts", list);
    for (const auto& host : list) hosts += (hosts.empty() ? "" : ",") + host;
}

void take_all(const TomlText& toml, const std::string& path, Result<>& verdict, MigrationPlan& plan) {
    TomlSection section(toml.root(), "", path, verdict);
    section.text("state", plan.state);
    section.text("reports", plan.reports);
    take_hosts(section, plan.hosts);
    section.text("rate", plan.rate);
    section.number("threads", plan.threads);
    section.number("at_once", plan.at_once, 1);
    section.number("sync_turns", plan.sync_turns);
    section.number("sync_small", plan.sync_small);
    section.real("hook_minutes", plan.hook_minutes);
    if (!(plan.hook_minutes > 0 && plan.hook_minutes < 1e6)) section.refuse("hook_minutes", "must be above 0.");
    ProjectPlan common;
    take_shared(section, common);
    if (const auto batch = section.inner("batch"); batch.exists())
        take_batch(batch, path, verdict, !plan.hosts.empty(), plan.batch);
    const auto list = section.any("project");
    section.refuse_unknown();
    check_place(section, toml.root(), "state", plan.state, false, "", "/admin/move/state");
    check_place(section, toml.root(), "reports", plan.reports, false, "", "/admin/move/reports");
    if (!list.is_list() || list.entries().empty())
        return section.refuse(list, "project", "is missing: write [[project]], then name, source and target.");
    std::set<std::string> names;
    for (const auto& entry : list.entries()) {
        auto project = common;
        take_project(entry, path, verdict, project);
        if (!names.insert(project.name).second)
            section.refuse(entry, "project", fmt::format("has the name {} twice.", project.name));
        plan.projects.push_back(std::move(project));
    }
    plan.names.assign(names.begin(), names.end());
}

}  // namespace

std::string resolved_place(const std::string& path) {
    std::error_code ignored;
    auto whole = is_remote(path) ? path : std::filesystem::weakly_canonical(path, ignored).string();
    if (whole.empty()) whole = path;
    while (!whole.empty() && whole.back() == '/') whole.pop_back();
    return whole + '/';
}

Result<MigrationPlan> read_plan(const std::string& text, const std::string& path) {
    if (text.size() > plan_bytes_max)
        return Error{ErrorKind::refused,
                     fmt::format("{} is too large for a plan: the limit is {} bytes", path, plan_bytes_max)};
    FB_TRY_ASSIGN(toml, TomlText::parse(text, path));
    MigrationPlan plan;
    plan.path = path;
    Result<> verdict;
    take_all(toml, path, verdict, plan);
    FB_TRY(verdict);
    FB_TRY(check_apart(plan));
    return plan;
}

Result<MigrationPlan> chosen_from(MigrationPlan plan, const std::vector<std::string>& names) {
    if (names.empty()) return plan;
    std::vector<std::string> known;
    for (const auto& project : plan.projects) known.push_back(project.name);
    for (const auto& name : names) {
        if (std::ranges::find(known, name) != known.end()) continue;
        const auto nearest = nearest_word(name, known);
        return Error{ErrorKind::refused, fmt::format("{} has no project {}", plan.path, name), "nothing was changed",
                     nearest.empty() ? "" : fmt::format("--project {}", nearest)};
    }
    std::erase_if(plan.projects,
                  [&](const auto& project) { return std::ranges::find(names, project.name) == names.end(); });
    return plan;
}

}  // namespace forebay::migrate
