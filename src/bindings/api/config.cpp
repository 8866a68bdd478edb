// The TOML file of load_options(): docs/reference/configuration.md.

#include <fmt/format.h>

#include "bindings/api/option_reader.hpp"
#include "bindings/api/state.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/option_list.hpp"
#include "core/format/toml_section.hpp"

namespace forebay {

namespace {

void read_direct(TomlSection& section, Direct& direct) {
    const auto at = section.any("direct");
    if (const auto flag = at.flag()) direct = *flag ? Direct::yes : Direct::no;
    else if (at.text() == "auto") direct = Direct::automatic;
    else if (at.exists()) section.refuse("direct", "must be true, false or \"auto\".");
}

void read_copy_threads(TomlSection& section, int& threads) {
    const auto at = section.any("copy_threads");
    if (!at.exists() || at.text() == "auto") return;
    if (at.whole()) return section.whole("copy_threads", threads, {1, limits::copy_threads_max});
    section.refuse("copy_threads", "must be \"auto\" or a number of threads.");
}

void read_agent(TomlValue table, const std::string& path, Result<>& verdict, AgentOptions& agent) {
    TomlSection section(table, "agent", path, verdict);
    static constexpr describe::Word<AgentMode> modes[] = {
        {"process", AgentMode::process}, {"thread", AgentMode::thread}, {"dedicated", AgentMode::dedicated}};
    section.choice<AgentMode>("mode", agent.mode, {modes});
    section.number("cores", agent.cores);
    section.text("program", agent.program);
    section.text("cpus", agent.cpus);
    section.number("block_bytes", agent.block_bytes);
    section.number("in_flight", agent.in_flight);
    section.number("rate_bytes_per_second", agent.rate_bytes_per_second);
    section.real("slowdown_percent_max", agent.slowdown_percent_max);
    read_direct(section, agent.direct);
    section.number("retries", agent.retries);
    section.seconds("retry_pause_seconds", agent.retry_pause);
    section.seconds("linger_seconds", agent.linger);
    section.flag("timings", agent.timings);
    section.text("metrics_directory", agent.metrics_directory);
    section.text("storage_targets", agent.storage_targets);
    section.text("exclude_targets", agent.exclude_targets);
    section.flag("avoid_slow_targets", agent.avoid_slow_targets);
    section.text("exclude_nodes", agent.exclude_nodes);
    section.number("neighbours", agent.neighbours);
    section.flag("avoid_slow_nodes", agent.avoid_slow_nodes);
    section.number("forwarders", agent.forwarders);
    section.text("forward_address", agent.forward_address);
    section.texts("forward_to", agent.forward_to);
    section.text("forward_token_file", agent.forward_token_file);
    for (const auto& [name, value] : section.inner("environment").members()) {
        if (auto text = value.text()) agent.environment.emplace_back(name, std::move(*text));
        else section.refuse(value, "environment." + name, "must be text.");
    }
}

void read_job(TomlValue table, const std::string& path, Result<>& verdict, JobOptions& job) {
    TomlSection section(table, "job", path, verdict);
    section.seconds("wall_time_seconds", job.wall_time);
    section.seconds("reserve_seconds", job.reserve);
}

void read_stream(TomlValue table, const std::string& name, const std::string& path, Result<>& verdict,
                 StreamOptions& stream) {
    OptionReader reader(table, name, path, verdict);
    for (const auto* key : {"nodes_per_file", "shared"}) reader.section().former(key);
    describe::each_option(stream, reader);
}

// "agent.block_bytes", "streams.restart.slots": of each value that is no table.
void add_names(TomlValue table, const std::string& prefix, std::vector<std::string>& names) {
    for (const auto& [name, value] : table.members())
        if (value.is_table()) add_names(value, prefix + name + ".", names);
        else names.push_back(prefix + name);
}

void read_all(TomlValue table, const std::string& path, Result<>& verdict, Options& options) {
    TomlSection section(table, "", path, verdict);
    section.text("run", options.run);
    section.flag("create_parents", options.create_parents);
    section.text("profile", options.profile);
    section.flag_to("log", "stderr", options.log_to_stderr);
    section.text("staging", options.staging);
    section.number("virtual_nodes", options.virtual_nodes);
    section.flag("huge_pages", options.huge_pages);
    section.seconds("open_wait_seconds", options.open_wait);
    section.seconds("takeover_wait_seconds", options.takeover_wait);
    section.seconds("close_wait_seconds", options.close_wait);
    section.seconds("stall_wait_seconds", options.stall_wait);
    section.number("restart_window_bytes", options.restart_window_bytes);
    read_copy_threads(section, options.copy_threads);
    read_agent(section.inner("agent"), path, verdict, options.agent);
    read_job(section.inner("job"), path, verdict, options.job);
    for (const auto& [name, value] : section.inner("streams").members()) {
        if (value.is_table())
            read_stream(value, fmt::format("streams.{}", name), path, verdict,
                        options.streams.emplace_back(name, StreamOptions{}).second);
        else section.refuse(value, "streams." + name, "must be a table.");
    }
}

// toml++ makes a table of every dot of a key and destroys them by recursion: 100 KiB of dots end a stack of 8 MiB.
constexpr std::uint64_t text_bytes_max = 16u << 10;

// What `read` makes of the tables of `text`, unless it, or toml++, finds a fault.
template <class Read>
Result<> decode(const std::string& text, const std::string& path, Read&& read) {
    FB_TRY_ASSIGN(parsed, TomlText::parse(text, path));
    Result<> verdict;
    read(parsed.root(), verdict);
    return verdict;
}

}  // namespace

Result<StreamOptions> parse_stream_options(const std::string& toml) {
    return attempt([&]() -> Result<StreamOptions> {
        const std::string source = "the options of the stream";
        if (toml.size() > text_bytes_max)
            return Error{ErrorKind::refused,
                         fmt::format("{} are {} bytes of text: at most {}.", source, toml.size(), text_bytes_max)};
        StreamOptions stream;
        FB_TRY(read_over(toml, source, stream));
        return stream;
    });
}

Result<> read_over(const std::string& text, const std::string& path, Options& options) {
    return decode(text, path, [&](TomlValue table, Result<>& verdict) { read_all(table, path, verdict, options); });
}

Result<> read_over(const std::string& text, const std::string& path, StreamOptions& options) {
    return decode(text, path,
                  [&](TomlValue table, Result<>& verdict) { read_stream(table, "", path, verdict, options); });
}

Result<Options> decode_options(const std::string& text, const std::string& path) {
    Options options;
    FB_TRY(decode(text, path, [&](TomlValue table, Result<>& verdict) {
        read_all(table, path, verdict, options);
        add_names(table, "", options.in_file);
    }));
    options.run_in_file = options.run;
    // The run may be given in code; everything else must be right by itself.
    auto checked = options;
    if (checked.run.empty()) checked.run = path;
    FB_TRY(check(checked));
    return options;
}

Result<Options> load_options(const std::string& path) {
    const auto text = sys::read_text(sys::posix_store(), path, text_bytes_max);
    if (text) return decode_options(*text, path);
    return because(
        text.error(),
        fmt::format("the configuration file '{}' cannot be read: {}. Nothing was opened", path, text.error().what), "",
        "put it where every rank can read it, or name another one");
}

}  // namespace forebay
