#include "bindings/api/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "bindings/api/state.hpp"
#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/comm/alike.hpp"

namespace forebay {

namespace {

std::string show(bool value) { return value ? "true" : "false"; }
std::string show(Direct value) { return value == Direct::automatic ? "auto" : show(value == Direct::yes); }
std::string show(std::chrono::milliseconds value) {
    return fmt::format("{}", std::chrono::duration<double>(value).count());
}
std::string show(double value) { return fmt::format("{}", value); }
template <class Integer>
requires std::is_integral_v<Integer> std::string show(Integer value) { return fmt::format("{}", value); }
std::string show(const std::vector<std::string>& values) { return fmt::format("{}", fmt::join(values, ", ")); }

void add(Settings& settings, const AgentOptions& agent) {
    const auto& [mode, program, environment, cores, cpus, block_bytes, in_flight, rate, slowdown, direct, retries,
                 retry_pause, linger, timings, metrics_directory, storage_targets, exclude_targets, avoid_slow,
                 exclude_nodes, neighbours, avoid_slow_nodes, forwarders, forward_address, forward_to,
                 forward_token_file] = agent;
    settings.push_back({"agent.mode", mode == AgentMode::process  ? "process"
                                      : mode == AgentMode::thread ? "thread"
                                                                  : "dedicated"});
    settings.push_back({"agent.cores", show(cores)});
    settings.push_back({"agent.block_bytes", show(block_bytes)});
    settings.push_back({"agent.in_flight", show(in_flight)});
    settings.push_back({"agent.rate_bytes_per_second", show(rate)});
    settings.push_back({"agent.slowdown_percent_max", show(slowdown)});
    settings.push_back({"agent.direct", show(direct)});
    settings.push_back({"agent.retries", show(retries)});
    settings.push_back({"agent.retry_pause_seconds", show(retry_pause)});
    settings.push_back({"agent.linger_seconds", show(linger)});
    settings.push_back({"agent.timings", show(timings)});
    settings.push_back({"agent.storage_targets", storage_targets});
    settings.push_back({"agent.exclude_targets", exclude_targets});
    settings.push_back({"agent.avoid_slow_targets", show(avoid_slow)});
    settings.push_back({"agent.exclude_nodes", exclude_nodes});
    settings.push_back({"agent.neighbours", show(neighbours)});
    settings.push_back({"agent.avoid_slow_nodes", show(avoid_slow_nodes)});
    settings.push_back({"agent.forwarders", show(forwarders)});
    settings.push_back({"agent.forward_to", show(forward_to)});
}

std::vector<std::byte> encode(const Settings& settings) {
    std::vector<std::byte> bytes;
    const auto put = [&](const std::string& text) {
        std::byte size[8];
        store_le(size, static_cast<std::uint64_t>(text.size()));
        bytes.insert(bytes.end(), std::begin(size), std::end(size));
        bytes.insert(bytes.end(), bytes_of(text).begin(), bytes_of(text).end());
    };
    for (const auto& [name, value] : settings) {
        put(name);
        put(value);
    }
    return bytes;
}

// The inverse of encode(), of bytes that it gave.
Settings decode(std::span<const std::byte> bytes) {
    Settings settings;
    const auto take = [&] {
        const auto size = load_le<std::uint64_t>(bytes.data());
        std::string text(text_of(bytes.subspan(8, size)));
        bytes = bytes.subspan(8 + size);
        return text;
    };
    while (!bytes.empty()) {
        auto name = take();
        settings.push_back({std::move(name), take()});
    }
    return settings;
}

std::string quoted(const std::string& value) { return value.empty() ? "\"\"" : value; }

bool has(std::span<const Setting> settings, const std::string& name) {
    return std::ranges::find(settings, name, &Setting::name) != settings.end();
}

// "slots is 1 on rank 0 and 2 on rank 3", of two lists that differ.
std::string show_difference(const Settings& first, const Settings& other, const std::string& where_first,
                            const std::string& where_other) {
    const auto [here, there] = std::ranges::mismatch(first, other);
    const auto text = [&](const std::string& name, const std::string& of_first, const std::string& of_other) {
        return fmt::format("{} is {} {} and {} {}", name, of_first, where_first, of_other, where_other);
    };
    if (here != first.end() && there != other.end() && here->name == there->name)
        return text(here->name, quoted(here->value), quoted(there->value));
    if (here != first.end() && !has({there, other.end()}, here->name))
        return text(here->name, quoted(here->value), "not set");
    return there == other.end() ? "their number differs" : text(there->name, "not set", quoted(there->value));
}

// The error of the lowest rank that has one; else `refused`, where the ranks do not all have the same settings.
template <class Mine>
Result<> agree_on(comm::Group& world, const Mine& settings_of_mine, const std::string& who, const char* outcome) {
    std::vector<std::byte> bytes;
    const auto own_result = attempt([&]() -> Result<> {
        FB_TRY_ASSIGN(settings, settings_of_mine());
        bytes = encode(settings);
        return {};
    });
    FB_TRY_ASSIGN(unlike, comm::agree_alike(world, own_result, bytes));
    if (!unlike) return {};
    const auto differs = show_difference(decode(unlike->of_first), decode(unlike->of_other), "on rank 0",
                                         fmt::format("on rank {}", unlike->other));
    return Error{ErrorKind::refused,
                 fmt::format("{}: {} ({} of {} ranks differ from rank 0). {}", who, differs, unlike->others,
                             world.size(), outcome),
                 "", "set it alike on every rank; where they read it from a file, does each read the same?"};
}

}  // namespace

Settings settings_of(const Options& options) {
    const auto& [run, create_parents, staging, virtual_nodes, huge_pages, agent, job, open_wait, takeover_wait,
                 close_wait, stall_wait, window, copy_threads, log, interrupted, streams, profile, in_file, run_in_file,
                 log_to_stderr] = options;
    Settings settings{{"run", run},
                      {"create_parents", show(create_parents)},
                      {"virtual_nodes", show(virtual_nodes)},
                      {"huge_pages", show(huge_pages)},
                      {"open_wait_seconds", show(open_wait)},
                      {"takeover_wait_seconds", show(takeover_wait)},
                      {"close_wait_seconds", show(close_wait)},
                      {"stall_wait_seconds", show(stall_wait)},
                      {"restart_window_bytes", show(window)},
                      {"copy_threads", copy_threads == 0 ? "auto" : show(copy_threads)},
                      {"profile", profile},
                      {"job.wall_time_seconds", show(job.wall_time)},
                      {"job.reserve_seconds", show(job.reserve)}};
    add(settings, agent);
    for (const auto& [name, stream] : streams)
        for (auto& [setting, value] : describe::settings_of(stream))
            settings.push_back({fmt::format("streams.{}.{}", name, setting), std::move(value)});
    return settings;
}

Result<> agree_on_options(comm::Group& world, const Result<Options>& options, RunIs run) {
    const auto own_settings = [&]() -> Result<Settings> {
        FB_TRY_ASSIGN(checked, options);
        if (run == RunIs::optional && checked.run.empty()) checked.run = "any";
        FB_TRY(check(checked));
        return settings_of(*options);
    };
    return agree_on(world, own_settings, "the ranks have different options", "Nothing was opened.");
}

Result<> agree_on_stream(comm::Group& world, const std::string& name, const Result<StreamOptions>& options,
                         const StreamOptions* open) {
    const auto own_settings = [&]() -> Result<Settings> {
        FB_TRY(options);
        FB_TRY(check(name, *options));
        const auto settings = describe::settings_of(*options);
        if (open != nullptr && settings != describe::settings_of(*open))
            return Error{
                ErrorKind::refused,
                fmt::format("stream '{}' is open already, with other options: {}. Both handles would be of one stream",
                            name, show_difference(describe::settings_of(*open), settings, "there", "here")),
                "", "open it once, give the same options, or none"};
        Settings all{{"stream", fmt::format("'{}'", name)}, {"open already", show(open != nullptr)}};
        all.insert(all.end(), settings.begin(), settings.end());
        return all;
    };
    return agree_on(world, own_settings, fmt::format("the ranks open stream '{}' differently", name),
                    "It was not opened.");
}

}  // namespace forebay
