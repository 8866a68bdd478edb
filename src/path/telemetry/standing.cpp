#include "path/telemetry/standing.hpp"

#include <algorithm>

#include "path/telemetry/chronicle.hpp"

namespace forebay::telemetry {

namespace {

constexpr double stale_periods = 3, clocks_differ_seconds = 1;

bool is_at_work(const format::StatusLine& status) { return status.state == "serving" || status.state == "lingering"; }

}  // namespace

const char* name_of(RunState state) {
    switch (state) {
        case RunState::running: return "running";
        case RunState::draining: return "draining";
        case RunState::lingering: return "lingering";
        case RunState::ended: return "ended";
        case RunState::died: return "died";
        case RunState::left: return "left with work";
        case RunState::silent: return "silent";
        case RunState::unknown: break;
    }
    return "unknown";
}

bool is_stale(const format::StatusLine& status, std::int64_t now_unix_ns) {
    if (!is_at_work(status)) return false;
    if (status.is_gone) return true;
    const double age = (static_cast<double>(now_unix_ns) - static_cast<double>(status.unix_ns)) * 1e-9;
    return !(age <= stale_periods * status.period_seconds + clocks_differ_seconds);
}

RunStanding standing_of(const std::vector<format::StatusLine>& statuses, std::int64_t now_unix_ns) {
    std::uint32_t session = 0;
    for (const auto& status : statuses) session = std::max(session, status.session);
    RunStanding standing;
    bool lives = false, lingers = false, serves = false, died = false;
    for (const auto& status : statuses) {
        if (status.session != session) continue;
        ++standing.agents;
        if (is_stale(status, now_unix_ns)) {
            standing.silent.push_back(node_name(status));
            auto& since = standing.silent_since_unix_ns;
            since = since == 0 ? status.unix_ns : std::min(since, status.unix_ns);
            continue;
        }
        if (status.state == "left") ++standing.left;
        died = died || status.state == "died";
        if (!is_at_work(status)) continue;
        ++standing.at_work;
        serves = serves || status.state == "serving";
        lingers = lingers || status.state == "lingering";
        lives = lives || status.application_lives;
    }
    if (standing.agents == 0) return standing;
    // An agent that serves decides. Stale agents only count if no agent serves.
    if (serves) standing.state = lives ? RunState::running : RunState::draining;
    else if (standing.left > 0) standing.state = RunState::left;
    else if (!standing.silent.empty()) standing.state = RunState::silent;
    else if (lingers) standing.state = RunState::lingering;
    else standing.state = died ? RunState::died : RunState::ended;
    return standing;
}

}  // namespace forebay::telemetry
