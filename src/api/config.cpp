// The TOML file of load_options(): docs/guide/configuration.md.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>

#include <toml++/toml.h>

#include "api/state.hpp"
#include "catalog/catalog.hpp"

namespace forebay {

namespace {

// One table of the file: takes known keys and refuses the others. The first error is kept.
class Section {
public:
    Section(const toml::table& table, std::string name, const std::string& path, Result<>& verdict)
        : table_(table), name_(std::move(name)), path_(path), verdict_(verdict) {}
    ~Section() {
        for (const auto& [key, node] : table_)
            if (verdict_ && std::ranges::find(known_, key.str()) == known_.end())
                fail(node, fmt::format("'{}' is not known. Nearest: '{}'.", full(key.str()), nearest(key.str())));
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    void text(const char* key, std::string& value) {
        take<std::string>(key, "text", [&](const std::string& given) { value = given; });
    }
    void flag(const char* key, bool& value) {
        take<bool>(key, "true or false", [&](bool given) { value = given; });
    }
    /// True where the key names the one choice that there is.
    void flag_to(const char* key, const std::string& choice, bool& value) {
        take<std::string>(key, "text", [&](const std::string& given) {
            value = given == choice;
            if (!value)
                fail(*table_.get(key),
                     fmt::format("'{}' is \"{}\": \"{}\", or leave it out.", full(key), given, choice));
        });
    }
    void texts(const char* key, std::vector<std::string>& values) {
        const auto* node = known(key);
        if (node == nullptr) return;
        const auto* list = node->as_array();
        if (list == nullptr) return fail(*node, fmt::format("'{}' must be a list of texts.", full(key)));
        for (const auto& entry : *list) {
            if (const auto* text = entry.as_string()) values.push_back(text->get());
            else fail(entry, fmt::format("'{}' must be a list of texts.", full(key)));
        }
    }
    /// A choice of which two are false and true.
    template <class T>
    void flag_or(const char* key, T& value, T no, T yes, const std::vector<std::pair<std::string, T>>& choices) {
        const auto* node = known(key);
        if (node == nullptr) return;
        if (const auto* given = node->as_boolean()) {
            value = given->get() ? yes : no;
            return;
        }
        const auto* text = node->as_string();
        for (const auto& [name, choice] : choices) {
            if (text == nullptr || text->get() != name) continue;
            value = choice;
            return;
        }
        std::string names;
        for (const auto& [name, choice] : choices) names += fmt::format(" or \"{}\"", name);
        fail(*node, fmt::format("'{}' must be true, false{}.", full(key), names));
    }
    template <class T>
    void number(const char* key, T& value, std::int64_t least = 0) {
        take<std::int64_t>(key, "a whole number", [&](std::int64_t given) {
            if (given < least || !std::in_range<T>(given))
                fail(*table_.get(key), fmt::format("'{}' is {}: out of range.", full(key), given));
            else value = static_cast<T>(given);
        });
    }
    void percent(const char* key, double& value) {
        const auto* node = known(key);
        if (node == nullptr) return;
        if (const auto given = node->value<double>()) value = *given;
        else fail(*node, fmt::format("'{}' must be a number.", full(key)));
    }
    void seconds(const char* key, std::chrono::milliseconds& value) {
        const auto* node = known(key);
        if (node == nullptr) return;
        const auto given = node->value<double>();  // a whole number counts too
        if (!given || !(*given >= 0 && *given < 1e9))
            fail(*node, fmt::format("'{}' must be a number of seconds, 0 or more.", full(key)));
        else value = std::chrono::milliseconds(static_cast<std::int64_t>(*given * 1000));
    }
    void real(const char* key, double& value) {
        const auto* node = known(key);
        if (node == nullptr) return;
        if (const auto given = node->value<double>()) value = *given;
        else fail(*node, fmt::format("'{}' must be a number.", full(key)));
    }
    /// A value of any kind; nothing when there is none.
    const toml::node* any(const char* key) { return known(key); }
    template <class T>
    void choice(const char* key, T& value, const std::map<std::string_view, T>& names) {
        take<std::string>(key, "text", [&](const std::string& given) {
            if (const auto at = names.find(given); at != names.end()) return void(value = at->second);
            std::string list;
            for (const auto& [name, meaning] : names) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name);
            fail(*table_.get(key), fmt::format("'{}' is \"{}\": one of {}.", full(key), given, list));
        });
    }
    /// The table below `key`; an empty one when there is none.
    const toml::table& inner(const char* key) {
        const auto* node = known(key);
        if (node == nullptr) return none_;
        if (node->is_table()) return *node->as_table();
        fail(*node, fmt::format("'{}' must be a table.", full(key)));
        return none_;
    }
    void fail(const toml::node& node, const std::string& why) {
        if (verdict_)
            verdict_ = Error{ErrorKind::refused, fmt::format("{}, line {}: {}", path_, node.source().begin.line, why)};
    }

private:
    template <class T, class Visit>
    void take(const char* key, const char* what, Visit&& visit) {
        const auto* node = known(key);
        if (node == nullptr) return;
        if (const auto* value = node->as<T>()) visit(value->get());
        else fail(*node, fmt::format("'{}' must be {}.", full(key), what));
    }
    const toml::node* known(const char* key) {
        known_.emplace_back(key);
        return table_.get(key);
    }
    std::string full(std::string_view key) const {
        return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
    }
    std::string nearest(std::string_view key) const {
        const auto common = [&](const std::string& other) {
            return static_cast<std::size_t>(
                       std::ranges::count_if(key, [&](char c) { return other.find(c) != std::string::npos; })) *
                       4 -
                   std::max(other.size(), key.size());
        };
        return known_.empty() ? "" : full(*std::ranges::max_element(known_, {}, [&](const auto& other) {
            return static_cast<std::ptrdiff_t>(common(other));
        }));
    }

    const toml::table& table_;
    std::string name_;
    const std::string& path_;
    Result<>& verdict_;
    std::vector<std::string> known_;
    const toml::table none_;
};

void read_agent(const toml::table& table, const std::string& path, Result<>& verdict, AgentOptions& agent) {
    Section section(table, "agent", path, verdict);
    section.choice<AgentMode>(
        "mode", agent.mode,
        {{"process", AgentMode::process}, {"thread", AgentMode::thread}, {"dedicated", AgentMode::dedicated}});
    section.number("cores", agent.cores);
    section.text("program", agent.program);
    section.text("cpus", agent.cpus);
    section.number("block_bytes", agent.block_bytes);
    section.number("in_flight", agent.in_flight);
    section.number("rate_bytes_per_second", agent.rate_bytes_per_second);
    section.percent("slowdown_percent_max", agent.slowdown_percent_max);
    section.flag("direct", agent.direct);
    section.number("retries", agent.retries);
    section.seconds("retry_pause_seconds", agent.retry_pause);
    section.seconds("linger_seconds", agent.linger);
    section.number("forwarders", agent.forwarders);
    section.text("forward_address", agent.forward_address);
    section.texts("forward_to", agent.forward_to);
    section.text("forward_token_file", agent.forward_token_file);
    for (const auto& [name, value] : section.inner("environment")) {
        if (const auto* text = value.as_string()) agent.environment.emplace_back(name.str(), text->get());
        else section.fail(value, fmt::format("'agent.environment.{}' must be text.", name.str()));
    }
}

void read_job(const toml::table& table, const std::string& path, Result<>& verdict, JobOptions& job) {
    Section section(table, "job", path, verdict);
    section.seconds("wall_time_seconds", job.wall_time);
    section.seconds("reserve_seconds", job.reserve);
}

// `compression = "zstd"`, or a table that says more.
void read_compression(Section& above, const char* key, const toml::table& table, const std::string& name,
                      const std::string& path, Result<>& verdict, Compression& rule,
                      std::vector<std::pair<std::string, Compression>>* variables) {
    static const std::map<std::string_view, Codec> codecs{{"none", Codec::none},
                                                          {"auto", Codec::automatic},
                                                          {"lz4", Codec::lz4},
                                                          {"zstd", Codec::zstd},
                                                          {"zfp", Codec::zfp}};
    const auto* node = table.get(key);
    if (node == nullptr || !node->is_table()) return above.choice(key, rule.codec, codecs);
    Section section(above.inner(key), name + "." + key, path, verdict);
    section.choice("codec", rule.codec, codecs);
    section.choice<Shuffle>("shuffle", rule.shuffle,
                            {{"none", Shuffle::none}, {"bytes", Shuffle::bytes}, {"bits", Shuffle::bits}});
    section.number("level", rule.level);
    section.real("error", rule.error);
    if (variables == nullptr) return;
    const auto& inner = section.inner("variables");
    const auto below = name + "." + key + ".variables";
    Section patterns(inner, below, path, verdict);
    // A table of toml++ is sorted by its keys; the first rule that fits is the first of the file.
    std::vector<std::pair<toml::source_position, std::string>> order;
    for (const auto& [pattern, value] : inner) order.emplace_back(pattern.source().begin, pattern.str());
    std::ranges::sort(order, {}, [](const auto& one) { return std::pair(one.first.line, one.first.column); });
    for (const auto& [at, pattern] : order) {
        auto& own = variables->emplace_back(pattern, Compression{}).second;
        read_compression(patterns, pattern.c_str(), inner, below, path, verdict, own, nullptr);
    }
}

/// true, false, a convention, or a list of them.
void read_view(Section& section, StreamOptions& stream) {
    const auto* node = section.any("view");
    if (node == nullptr) return;
    if (const auto* flag = node->as_boolean()) {
        stream.view = flag->get();
        return;
    }
    stream.conventions.clear();
    const auto take = [&](const toml::node& one) {
        const auto* name = one.as_string();
        const auto found = std::ranges::find_if(catalog::all_conventions, [&](Convention convention) {
            return name != nullptr && name->get() == catalog::name_of(convention);
        });
        if (found == catalog::all_conventions.end())
            section.fail(
                one,
                "'view' must be true, false, or of \"plain\", \"h5part\", \"openpmd\" and \"netcdf\" one or a list.");
        else stream.conventions.push_back(*found);
    };
    if (const auto* list = node->as_array())
        for (const auto& one : *list) take(one);
    else take(*node);
    stream.view = !stream.conventions.empty();
}

void read_stream(const toml::table& table, const std::string& name, const std::string& path, Result<>& verdict,
                 Options& options) {
    StreamOptions stream;
    {
        Section section(table, "streams." + name, path, verdict);
        section.number("slots", stream.slots);
        section.choice<Policy>("policy", stream.policy,
                               {{"wait", Policy::wait},
                                {"wait_at_most", Policy::wait_at_most},
                                {"skip", Policy::skip},
                                {"newest_only", Policy::newest_only}});
        section.seconds("wait_max_seconds", stream.wait_max);
        section.number("keep", stream.keep);
        section.number("keep_abandoned", stream.keep_abandoned, -1);
        read_view(section, stream);
        read_compression(section, "compression", table, "streams." + name, path, verdict, stream.compression,
                         &stream.variable_compression);
        section.number("priority", stream.priority, std::numeric_limits<int>::min());
        section.seconds("deadline_seconds", stream.deadline);
        section.number("rate_bytes_per_second", stream.rate_bytes_per_second);
        section.number("nodes_per_file", stream.nodes_per_file);
        section.flag_or<Shared>("shared", stream.shared, Shared::no, Shared::yes, {{"h5part", Shared::h5part}});
    }
    options.streams.emplace_back(name, stream);
}

void read_all(const toml::table& table, const std::string& path, Result<>& verdict, Options& options) {
    Section section(table, "", path, verdict);
    section.text("run", options.run);
    options.run_in_file = options.run;
    section.flag_to("log", "stderr", options.log_to_stderr);
    section.text("staging", options.staging);
    section.number("virtual_nodes", options.virtual_nodes);
    section.flag("huge_pages", options.huge_pages);
    section.seconds("open_wait_seconds", options.open_wait);
    section.seconds("takeover_wait_seconds", options.takeover_wait);
    section.seconds("close_wait_seconds", options.close_wait);
    section.seconds("stall_wait_seconds", options.stall_wait);
    section.number("restart_window_bytes", options.restart_window_bytes);
    read_agent(section.inner("agent"), path, verdict, options.agent);
    read_job(section.inner("job"), path, verdict, options.job);
    for (const auto& [name, value] : section.inner("streams")) {
        if (const auto* stream = value.as_table()) read_stream(*stream, std::string(name), path, verdict, options);
        else section.fail(value, fmt::format("'streams.{}' must be a table.", name.str()));
    }
}

}  // namespace

Result<Options> decode_options(const std::string& text, const std::string& path) {
    Options options;
    Result<> verdict;
    try {
        read_all(toml::parse(text, path), path, verdict, options);
    } catch (const toml::parse_error& problem) {
        return Error{ErrorKind::refused,
                     fmt::format("{}, line {}: {}", path, problem.source().begin.line, problem.description())};
    }
    FB_TRY(verdict);
    // The run may be given in code; everything else must be right by itself.
    auto checked = options;
    if (checked.run.empty()) checked.run = path;
    FB_TRY(check(checked));
    return options;
}

Result<Options> load_options(const std::string& path) {
    // toml++ makes a table of every dot of a key and destroys them by recursion: 100 KiB of dots end a stack of 8 MiB.
    constexpr std::uint64_t bytes_max = 16u << 10;
    const auto text = sys::read_text(sys::posix_store(), path, bytes_max);
    if (text) return decode_options(*text, path);
    return because(
        text.error(),
        fmt::format("the configuration file '{}' cannot be read: {}. Nothing was opened", path, text.error().what), "",
        "put it where every rank can read it, or name another one");
}

}  // namespace forebay
