// session.json: how an application tells its agents what to do. check() has the bounds of the agent's options, for the
// application before it starts and for the agent that reads them; encode_session() and decode_session() are the two
// directions. A reader takes versions 1 and 2: members that an older session file lacks get the values by which the
// agents of that time worked.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/try.hpp"
#include "core/describe/host_list.hpp"
#include "core/describe/storage_targets.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"
#include "core/sys/far_module.hpp"
#include "path/node/staging.hpp"

namespace forebay::node {

namespace {

// Enough for any storage; more would only hold memory and threads.
constexpr int in_flight_max = 64;
constexpr int cores_max = 64;
// A drain that doubles the time of a step is no longer paced for anybody's sake.
constexpr double slowdown_percent_max_max = 100;
constexpr std::int64_t hour_ms = 3'600'000, pause_ms_max = hour_ms, linger_ms_max = 168 * hour_ms;
// A machine of ten thousand hosts has fewer that write; a forwarder has an address for each of its networks.
constexpr std::size_t forwarders_max = 1024, forwarder_text_max = 1024;
constexpr std::size_t token_digits = 32, identity_digits = 16;
constexpr std::uint64_t session_version = 2;

Error refusal(const std::string& what) { return {ErrorKind::refused, what}; }

// Fills `session` from the document; false at the first member that is absent or of another type.
class SessionReader {
public:
    explicit SessionReader(SessionFile& session) : session_(session) {}

    bool read(format::json::Value root) {
        const auto agent = root.member("agent");
        auto& options = session_.agent;
        std::int64_t pause_ms = 0, linger_ms = 0;
        const bool all =
            text(root.member("run"), session_.run) && identity(root) && text(root.member("host"), session_.host) &&
            number(root.member("process"), session_.process) && environment(agent.member("environment")) &&
            program(agent.member("program")) && text(agent.member("cpus"), options.cpus) &&
            number(agent.member("block_bytes"), options.block_bytes) &&
            number(agent.member("in_flight"), options.in_flight) &&
            number(agent.member("rate_bytes_per_second"), options.rate_bytes_per_second) &&
            percent(agent.member("slowdown_percent_max"), options.slowdown_percent_max) && direct(agent) &&
            number(agent.member("retries"), options.retries) && number(agent.member("retry_pause_ms"), pause_ms) &&
            linger(agent.member("linger_ms"), linger_ms) && timings(agent.member("timings")) &&
            metrics(agent.member("metrics_directory")) && placement(agent) && forwarding(root) &&
            neighbours(root.member("neighbours"));
        options.retry_pause = std::chrono::milliseconds(pause_ms);
        options.linger = std::chrono::milliseconds(linger_ms);
        return all;
    }

private:
    // A C string is what becomes of each: a NUL would cut it.
    static bool text(format::json::Value value, std::string& to) {
        const auto given = value.text();
        if (!given || !format::json::is_text(*given)) return false;
        to = *given;
        return true;
    }
    template <class T>
    static bool number(format::json::Value value, T& to) {
        if (const auto given = value.u64(); given && std::in_range<T>(*given)) to = static_cast<T>(*given);
        else if (const auto below = value.i64(); below && std::in_range<T>(*below)) to = static_cast<T>(*below);
        else return false;
        return true;
    }
    // Agents started no program before there was one for analyses.
    bool program(format::json::Value value) { return !value.exists() || text(value, session_.agent.program); }
    // Agents of version 1 did not linger.
    static bool linger(format::json::Value value, std::int64_t& to) { return !value.exists() || number(value, to); }
    // Sessions of before there were timings kept none.
    bool timings(format::json::Value value) {
        session_.agent.timings = value.flag().value_or(false);
        return value.flag() || !value.exists();
    }
    // Agents wrote no metrics before there were some.
    bool metrics(format::json::Value value) { return !value.exists() || text(value, session_.agent.metrics_directory); }
    // Agents chose no storage targets before they could.
    bool placement(format::json::Value agent) {
        auto& options = session_.agent;
        options.avoid_slow_targets = agent.member("avoid_slow_targets").flag().value_or(false);
        return !agent.member("storage_targets").exists() ||
               (text(agent.member("storage_targets"), options.storage_targets) &&
                text(agent.member("exclude_targets"), options.exclude_targets));
    }
    // Session files of before this setting lack it; their agents kept no limit.
    static bool percent(format::json::Value value, double& to) {
        const auto given = value.f64();
        to = given.value_or(0);
        return given || !value.exists();
    }
    // Version 1 was of before runs had an identity.
    bool identity(format::json::Value root) {
        if (root.member("version").u64() == 1u) return true;
        return hex(root.member("run_id"), session_.run_id) && hex(root.member("claim"), session_.claim);
    }
    static bool hex(format::json::Value value, std::uint64_t& to) {
        const auto digits = value.text();
        if (!digits || digits->size() != identity_digits) return false;
        const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), to, 16);
        return error == std::errc{} && end == digits->data() + digits->size();
    }
    // Agents of before this choice do as the first of the two says.
    bool direct(format::json::Value agent) {
        const auto given = agent.member("direct").flag();
        const auto chosen = agent.member("direct_is_chosen");
        const bool is_chosen = chosen.flag().value_or(false);
        session_.agent.direct = is_chosen ? Direct::automatic : given.value_or(false) ? Direct::yes : Direct::no;
        return given && (chosen.flag() || !chosen.exists());
    }
    bool environment(format::json::Value list) {
        const auto count = list.list();
        for (std::size_t i = 0; i < count.value_or(0); ++i) {
            std::string name, value;
            if (!text(list.entry(i).entry(0), name) || !text(list.entry(i).entry(1), value)) return false;
            session_.agent.environment.emplace_back(std::move(name), std::move(value));
        }
        return count.has_value();
    }

    // Sessions that write to their target themselves have no such members.
    bool forwarding(format::json::Value root) {
        const auto list = root.member("forward_to");
        if (!list.exists()) return !root.member("forward_token").exists();
        const auto count = list.list();
        for (std::size_t i = 0; i < std::min(count.value_or(0), forwarders_max + 1); ++i)
            if (!text(list.entry(i), session_.forwarding.to.emplace_back())) return false;
        return count.has_value() && text(root.member("forward_token"), session_.forwarding.token);
    }

    // Nor had agents neighbours before there were some.
    bool neighbours(format::json::Value given) {
        auto& to = session_.neighbours;
        if (!given.exists()) return true;
        const auto excluded = given.member("excluded").flag(), avoid_slow = given.member("avoid_slow").flag();
        to.excluded = excluded.value_or(false);
        to.avoid_slow = avoid_slow.value_or(false);
        const auto number_given = given.member("number");
        return excluded && avoid_slow && number(given.member("helpers"), to.helpers) &&
               number(given.member("first"), to.first) &&
               (!number_given.exists() || number(number_given, to.number.emplace())) &&
               text(given.member("address"), to.address) && text(given.member("token"), to.token);
    }

    SessionFile& session_;
};

bool is_token(const std::string& text) {
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return text.size() == token_digits && std::ranges::all_of(text, is_digit);
}

bool is_neighbourhood(const Neighbourhood& neighbours) {
    if (neighbours.helpers == 0) return neighbours == Neighbourhood{};
    return neighbours.helpers <= helpers_max && neighbours.first < neighbours.helpers &&
           neighbours.number.value_or(0) < neighbours.helpers && is_token(neighbours.token) &&
           neighbours.address.size() <= forwarder_text_max && format::json::is_text(neighbours.address);
}

bool is_forwarding(const Forwarding& forwarding) {
    if (forwarding.to.empty()) return forwarding.token.empty();
    return forwarding.to.size() <= forwarders_max && is_token(forwarding.token) &&
           std::ranges::all_of(forwarding.to, [](const std::string& one) {
               return !one.empty() && one.size() <= forwarder_text_max && format::json::is_text(one);
           });
}

}  // namespace

Result<> check(const AgentOptions& agent) {
    if (agent.block_bytes == 0 || agent.block_bytes % 4096 != 0)
        return refusal(fmt::format(
            "agent.block_bytes is {}: it must be a multiple of 4096, best of the target's stripe.", agent.block_bytes));
    if (agent.in_flight < 1 || agent.in_flight > in_flight_max)
        return refusal(fmt::format("agent.in_flight is {}: from 1 to {}.", agent.in_flight, in_flight_max));
    if (agent.cores < 1 || agent.cores > cores_max)
        return refusal(fmt::format("agent.cores is {}: from 1 to {}.", agent.cores, cores_max));
    if (!(agent.slowdown_percent_max >= 0 && agent.slowdown_percent_max <= slowdown_percent_max_max))
        return refusal(fmt::format("agent.slowdown_percent_max is {}: from 0 (no limit) to {}.",
                                   agent.slowdown_percent_max, slowdown_percent_max_max));
    if (agent.retries < 0) return refusal(fmt::format("agent.retries is {}: 0 or more.", agent.retries));
    if (const auto ms = agent.retry_pause.count(); ms < 0 || ms > pause_ms_max)
        return refusal(fmt::format("agent.retry_pause is {} ms: from 0 to {}.", ms, pause_ms_max));
    if (const auto ms = agent.linger.count(); ms < 0 || ms > linger_ms_max)
        return refusal(fmt::format("agent.linger is {} ms: from 0 to {}.", ms, linger_ms_max));
    if (agent.forwarders < 0 || static_cast<std::size_t>(agent.forwarders) > forwarders_max)
        return refusal(fmt::format("agent.forwarders is {}: from 0 to {}.", agent.forwarders, forwarders_max));
    if (agent.forward_to.size() > forwarders_max || (agent.forwarders > 0 && !agent.forward_to.empty()))
        return refusal(
            fmt::format("agent.forward_to names forwarders that run already, at most {}, agent.forwarders "
                        "says how many hosts of this job are some: one of the two.",
                        forwarders_max));
    if (agent.forward_to.empty() != agent.forward_token_file.empty())
        return refusal(
            "agent.forward_to and agent.forward_token_file belong together: where the forwarders are, and "
            "the file that forebay forward has made.");
    FB_TRY(describe::parse_storage_targets(agent.storage_targets, "agent.storage_targets"));
    if (!agent.exclude_targets.starts_with('@'))
        FB_TRY(describe::parse_storage_targets(agent.exclude_targets, "agent.exclude_targets"));
    if (!agent.exclude_nodes.starts_with('@')) {
        const auto hosts = describe::hosts_of(agent.exclude_nodes);
        if (!hosts) return because(hosts.error(), "agent.exclude_nodes: " + hosts.error().what);
    }
    if (agent.neighbours < 0 || static_cast<std::uint32_t>(agent.neighbours) > helpers_max)
        return refusal(fmt::format("agent.neighbours is {}: from 0 to {}.", agent.neighbours, helpers_max));
    bool good = format::json::is_text(agent.cpus) && format::json::is_text(agent.program) &&
                format::json::is_text(agent.metrics_directory);
    for (const auto& [name, value] : agent.environment)
        good = good && !name.empty() && name.find('=') == name.npos && format::json::is_text(name) &&
               format::json::is_text(value);
    if (!good)
        return refusal(
            "agent.program, agent.cpus, agent.metrics_directory and agent.environment must be UTF-8 without NUL, a "
            "variable's name without "
            "'='.");
    return {};
}

Result<std::string> encode_session(const SessionFile& session) {
    const auto& agent = session.agent;
    FB_TRY(check(agent));
    if (!sys::is_whole(session.run) || !format::json::is_text(session.run) || !format::json::is_text(session.host))
        return refusal(
            fmt::format("run '{}' on host '{}': the run's path must be absolute or an address, both UTF-8 without NUL.",
                        session.run, session.host));
    if (!is_forwarding(session.forwarding))
        return refusal("a forwarder's address must be UTF-8 of 1 to 1024 bytes, its token 32 hexadecimal digits.");
    if (!is_neighbourhood(session.neighbours)) return refusal("its neighbours are none of a job.");
    using nlohmann::json;
    json environment = json::array();
    for (const auto& [name, value] : agent.environment) environment.push_back({name, value});
    json document = {{"forebay", "session"},
                     {"version", session_version},
                     {"run", session.run},
                     {"run_id", fmt::format("{:016x}", session.run_id)},
                     {"claim", fmt::format("{:016x}", session.claim)},
                     {"host", session.host},
                     {"process", session.process},
                     {"agent",
                      {{"environment", environment},
                       {"program", agent.program},
                       {"cpus", agent.cpus},
                       {"block_bytes", agent.block_bytes},
                       {"in_flight", agent.in_flight},
                       {"rate_bytes_per_second", agent.rate_bytes_per_second},
                       {"slowdown_percent_max", agent.slowdown_percent_max},
                       {"linger_ms", agent.linger.count()},
                       {"timings", agent.timings},
                       {"metrics_directory", agent.metrics_directory},
                       {"storage_targets", agent.storage_targets},
                       {"exclude_targets", agent.exclude_targets},
                       {"avoid_slow_targets", agent.avoid_slow_targets},
                       {"direct", agent.direct != Direct::no},
                       {"direct_is_chosen", agent.direct == Direct::automatic},
                       {"retries", agent.retries},
                       {"retry_pause_ms", agent.retry_pause.count()}}}};
    if (!session.forwarding.to.empty()) {
        document["forward_to"] = session.forwarding.to;
        document["forward_token"] = session.forwarding.token;
    }
    if (const auto& with = session.neighbours; with.helpers > 0) {
        document["neighbours"] = {{"helpers", with.helpers},   {"first", with.first},
                                  {"excluded", with.excluded}, {"avoid_slow", with.avoid_slow},
                                  {"address", with.address},   {"token", with.token}};
        if (with.number) document["neighbours"]["number"] = *with.number;
    }
    return document.dump(1) + "\n";
}

Result<SessionFile> decode_session(const std::string& text, const std::string& path) {
    const auto corrupt = [&](const std::string& why) {
        return Error{ErrorKind::corrupt, fmt::format("{} cannot be read: {}", path, why), "the staged files beside it",
                     "start the application again on this node, with the same run; it takes them over"};
    };
    const auto document = format::json::Document::parse(text);
    if (!document) return corrupt("it is not JSON.");
    const auto root = document->root();
    const auto version = root.member("version").u64();
    if (root.member("forebay").text() != "session" || !version || *version < 1 || *version > session_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("{} is not a session file of version 1 to {}.", path, session_version)};
    SessionFile session;
    if (!SessionReader(session).read(root)) return corrupt("a member is absent or of another type.");
    if (!sys::is_whole(session.run)) return corrupt(fmt::format("its run '{}' is no absolute path.", session.run));
    if (const auto good = check(session.agent); !good) return corrupt(good.error().what);
    if (!is_forwarding(session.forwarding)) return corrupt("its forwarders or their token are none.");
    if (!is_neighbourhood(session.neighbours)) return corrupt("its neighbours are none of a job.");
    return session;
}

}  // namespace forebay::node
