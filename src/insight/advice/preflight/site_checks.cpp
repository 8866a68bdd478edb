#include "insight/advice/preflight/site_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/job_end.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "insight/advice/preflight/node_texts.hpp"

namespace forebay::advice {

namespace {

using format::Severity;

constexpr std::uint64_t profile_bytes_max = 16u << 20;
// The age limit of a tuner's profile: systems change meanwhile.
constexpr std::int64_t profile_age_max_ns = 180ll * 24 * 3600 * 1'000'000'000;
// A target with less than this share of the pool's mean free space will be full first.
constexpr double least_free_share = 0.5;

class SiteCheck {
public:
    SiteCheck(const SiteAsk& site, const Rules& rules, const RunProgram& run, std::vector<format::Finding>& findings)
        : site_(site), rules_(rules), run_(run), findings_(findings) {}

    void pool() {
        if (site_.pool.empty()) return;
        const auto text = run_({"daos", "pool", "query", site_.pool}, rules_.of(CheckKind::targets).deadline);
        // The user named this pool, so no answer is a failure.
        if (!text) return add(CheckKind::targets, Severity::fail, text.error().what);
        const auto state = read_pool_query(*text);
        if (!state) return add(CheckKind::targets, Severity::fail, "the output of daos pool query is unknown");
        judge_pool(*state, site_.pool, rules_, findings_);
    }

    // A block that ends within a chunk makes two agents write one chunk, or one stripe of an erasure code.
    void chunk() {
        if (site_.target.empty() || site_.block_bytes == 0) return;
        // By the list of mounts: a look at a target that hangs would never end.
        const auto text = sys::kernel_text("/proc/self/mountinfo");
        const auto mounts = text ? read_mountinfo(*text) : std::vector<Mount>();
        const auto* mount = mount_of(mounts, site_.target);
        if (mount == nullptr || !is_dfuse(*mount)) return;
        const auto chunk = sys::file_block_bytes(site_.target, rules_.of(CheckKind::targets).deadline);
        if (!chunk) return add(CheckKind::targets, Severity::fail, chunk.error().what);
        if (*chunk != 0 && site_.block_bytes % *chunk != 0)
            add(CheckKind::targets, Severity::warn,
                fmt::format("the chunk of files in {} is {}, and agent.block_bytes, {}, is no multiple of it",
                            site_.target, show_bytes(*chunk), show_bytes(site_.block_bytes)));
    }

    void room() {
        if (site_.target.empty() || site_.planned_bytes == 0) return;
        const auto planned = static_cast<double>(site_.planned_bytes);
        if (const auto room = sys::file_system_of(site_.target))
            budget("room", 0, planned, static_cast<double>(room->free_bytes));
        else add(CheckKind::budget, Severity::fail, room.error().what);
        const auto text =
            run_({"lfs", "quota", "-q", "-u", sys::user_name(), site_.target}, rules_.of(CheckKind::budget).deadline);
        const auto quota = text ? read_lfs_quota(*text) : std::nullopt;
        // No `lfs` program, or no quota.
        if (!quota) return;
        // The soft limit counts only without a hard limit.
        const auto limit = quota->hard_bytes != 0 ? quota->hard_bytes : quota->soft_bytes;
        if (limit != 0) budget("quota", static_cast<double>(quota->used_bytes), planned, static_cast<double>(limit));
    }

    void time() {
        if (site_.planned_seconds <= 0) return;
        const auto now = sys::unix_ns() / 1'000'000'000;
        const auto end = sys::find_job_end(
            sys::environment_value,
            [&](const auto& command) { return run_(command, rules_.of(CheckKind::budget).deadline); }, now);
        if (!end) return add(CheckKind::budget, Severity::fail, end.error().what);
        if (!end->unix_seconds) return;
        // At least a second, because the share divides by it.
        const auto left = static_cast<double>(std::max<std::int64_t>(*end->unix_seconds - now, 1));
        const double share = site_.planned_seconds / left;
        const auto& rule = rules_.of(CheckKind::budget);
        if (share > rule.warn)
            add(CheckKind::budget, share > rule.fail ? Severity::fail : Severity::warn,
                fmt::format("the plan takes {}, but the job has {} left, by {}", show_seconds(site_.planned_seconds),
                            show_seconds(left), end->source));
    }

    void profile() {
        auto& store = sys::posix_store();
        const auto home = sys::environment_value("XDG_CONFIG_HOME").empty()
                              ? sys::environment_value("HOME") + "/.config"
                              : sys::environment_value("XDG_CONFIG_HOME");
        std::int64_t newest = 0;
        // The directories that `profile = "auto"` searches.
        for (const auto& directory :
             {std::string(".forebay"), home + "/forebay", std::string("/etc/forebay/profiles")}) {
            const auto entries = store.list(directory);
            if (!entries) continue;
            for (const auto& entry : *entries) {
                if (entry.is_directory || !entry.name.ends_with(".json")) continue;
                const auto path = directory + "/" + entry.name;
                const auto text = sys::read_text(store, path, profile_bytes_max);
                const auto read = text ? format::decode_advice(*text, path) : Result<format::Advice>(text.error());
                if (read && read->kind == "profile") newest = std::max(newest, read->made_unix_ns);
            }
        }
        if (newest == 0) add(CheckKind::profile, Severity::warn, "there is no profile of forebay tune");
        else if (sys::unix_ns() - newest > profile_age_max_ns)
            add(CheckKind::profile, Severity::warn, "the newest profile is older than 180 days");
    }

private:
    void add(CheckKind check, Severity severity, std::string text) {
        rules_.add(findings_, check, {.severity = severity, .text = std::move(text)});
    }
    void budget(const char* what, double used, double planned, double limit) {
        const auto& rule = rules_.of(CheckKind::budget);
        const double share = limit > 0 ? (used + planned) / limit : 2;
        if (share <= rule.warn) return;
        const auto shown = [](double bytes) { return show_bytes(static_cast<std::uint64_t>(bytes)); };
        add(CheckKind::budget, share > rule.fail ? Severity::fail : Severity::warn,
            used > 0
                ? fmt::format("{} in use and {} planned of a {} of {}", shown(used), shown(planned), what, shown(limit))
                : fmt::format("{} planned, {} free", shown(planned), shown(limit)));
    }

    const SiteAsk& site_;
    const Rules& rules_;
    const RunProgram& run_;
    std::vector<format::Finding>& findings_;
};

}  // namespace

std::vector<Ost> osts_of(const std::string& directory, const Rules& rules, const RunProgram& run) {
    std::vector<Ost> osts;
    const auto deadline = rules.of(CheckKind::targets).deadline;
    const auto text = run({"lfs", "df", directory}, deadline);
    // No `lfs` program, or not a Lustre file system.
    if (!text) return osts;
    const auto output = run({"lctl", "get_param", "osc.*.ost_conn_uuid"}, deadline);
    const auto servers = output ? read_ost_servers(*output) : std::vector<OstServer>();
    for (auto& state : read_lfs_df(*text)) {
        const auto server = std::ranges::find(servers, state.name, &OstServer::name);
        osts.push_back({std::move(state), server == servers.end() ? "" : server->server});
    }
    return osts;
}

void judge_osts(const std::vector<Ost>& osts, const Rules& rules, std::vector<format::Finding>& findings) {
    const auto& rule = rules.of(CheckKind::targets);
    for (const auto& ost : osts) {
        const auto& state = ost.state;
        const auto add = [&](Severity severity, std::string text) {
            rules.add(findings, CheckKind::targets,
                      {.subject = state.name, .severity = severity, .text = std::move(text)});
        };
        const auto has = [&](char letter) { return state.letters.find(letter) != std::string::npos; };
        if (state.inactive) add(Severity::fail, "inactive");
        if (has('R')) add(Severity::fail, "read-only");
        if (has('N')) add(Severity::fail, "takes no new files");
        if (has('D')) add(Severity::warn, "degraded: its RAID is being rebuilt");
        if (has('S')) add(Severity::warn, "short of space");
        if (has('I')) add(Severity::warn, "short of inodes");
        if (state.used_share > rule.warn)
            add(state.used_share > rule.fail ? Severity::fail : Severity::warn,
                fmt::format("{:.0f} % full", state.used_share * 100));
    }
}

void judge_pool(const PoolState& pool, const std::string& name, const Rules& rules,
                std::vector<format::Finding>& findings) {
    const auto& rule = rules.of(CheckKind::targets);
    const auto add = [&](Severity severity, std::string text) {
        rules.add(findings, CheckKind::targets, {.subject = name, .severity = severity, .text = std::move(text)});
    };
    if (pool.disabled > 0)
        add(Severity::warn, fmt::format("{} of {} targets of the pool are disabled", pool.disabled, pool.targets));
    if (pool.rebuild == "busy") add(Severity::warn, "a rebuild of the pool is under way");
    if (pool.rebuild == "failed") add(Severity::fail, "a rebuild of the pool has failed");
    for (std::size_t i = 0; i < pool.tiers.size(); ++i) {
        const auto& tier = pool.tiers[i];
        if (tier.total_bytes <= 0) continue;
        const double used = 1 - tier.free_bytes / tier.total_bytes;
        if (used > rule.warn)
            add(used > rule.fail ? Severity::fail : Severity::warn,
                fmt::format("tier {} is {:.0f} % full", i, used * 100));
        else if (tier.least_free_bytes < least_free_share * tier.mean_free_bytes)
            add(Severity::warn, fmt::format("a target of tier {} has {} free, the mean is {}", i,
                                            show_bytes(static_cast<std::uint64_t>(tier.least_free_bytes)),
                                            show_bytes(static_cast<std::uint64_t>(tier.mean_free_bytes))));
    }
}

void check_site(const SiteAsk& site, const Rules& rules, const RunProgram& run,
                std::vector<format::Finding>& findings) {
    SiteCheck check(site, rules, run, findings);
    check.pool();
    check.chunk();
    check.room();
    check.time();
    check.profile();
}

}  // namespace forebay::advice
