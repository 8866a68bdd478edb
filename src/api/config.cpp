// The TOML file of load_options(): docs/guide/configuration.md.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string_view>
#include <tuple>

#include <toml++/toml.h>

#include "api/state.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "describe/conventions.hpp"
#include "describe/option_list.hpp"

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
    template <class T>
    void number(const char* key, T& value, std::int64_t least = 0) {
        take<std::int64_t>(key, "a whole number", [&](std::int64_t given) {
            if (given < least || !std::in_range<T>(given))
                fail(*table_.get(key), fmt::format("'{}' is {}: out of range.", full(key), given));
            else value = static_cast<T>(given);
        });
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
    /// Refuses a key that there is no more, with what to write instead.
    void former(const char* key) {
        const auto* node = table_.get(key);
        if (node == nullptr) return;
        std::ostringstream written;
        if (const auto* text = node->as_string()) written << '"' << text->get() << '"';  // toml++ takes other quotes
        else node->visit([&](const auto& one) { written << one; });
        fail(*node, fmt::format("'{}': {} = {} is now {}.", full(key), key, written.str(),
                                describe::said_now(key, written.str())));
    }
    template <class Integer>
    void whole(const char* key, Integer& value, const describe::Whole& range) {
        take<std::int64_t>(key, "a whole number", [&](std::int64_t given) {
            if (range.has(given) && std::in_range<Integer>(given)) return void(value = static_cast<Integer>(given));
            fail(*table_.get(key),
                 fmt::format("'{}' is {}, out of range: {}.", full(key), given, describe::values_of(range)));
        });
    }
    template <class T>
    void choice(const char* key, T& value, const describe::Words<T>& words) {
        take<std::string>(key, "text", [&](const std::string& given) {
            const auto found = std::ranges::find(words.all, given, &describe::Word<T>::name);
            if (found != words.all.end()) return void(value = found->value);
            fail(*table_.get(key), fmt::format("'{}' is \"{}\": one of {}.", full(key), given, quoted(words)));
        });
    }
    template <class T>
    void word(const char* key, T& value, const describe::Text<T>& text) {
        take<std::string>(key, "text", [&](const std::string& given) {
            if (auto parsed = text.parse(given)) return void(value = *parsed);
            fail(*table_.get(key), fmt::format("'{}' is \"{}\": one of {}.", full(key), given, text.values));
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
    template <class T>
    static std::string quoted(const describe::Words<T>& words) {
        std::string list;
        for (const auto& word : words.all) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", word.name);
        return list;
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

void read_direct(Section& section, Direct& direct) {
    const auto* node = section.any("direct");
    if (node == nullptr) return;
    if (const auto* flag = node->as_boolean()) direct = flag->get() ? Direct::yes : Direct::no;
    else if (node->value<std::string>() == "auto") direct = Direct::automatic;
    else section.fail(*node, "'agent.direct' must be true, false or \"auto\".");
}

void read_copy_threads(Section& section, int& threads) {
    const auto* node = section.any("copy_threads");
    if (node == nullptr || node->value<std::string>() == "auto") return;
    if (node->is_integer()) return section.whole("copy_threads", threads, {1, limits::copy_threads_max});
    section.fail(*node, "'copy_threads' must be \"auto\" or a number of threads.");
}

void read_agent(const toml::table& table, const std::string& path, Result<>& verdict, AgentOptions& agent) {
    Section section(table, "agent", path, verdict);
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

// Each option of the list in describe, from its key in `table`; the names of keys below it begin with `name`.
class OptionReader {
public:
    OptionReader(const toml::table& table, std::string name, const std::string& path, Result<>& verdict)
        : table_(table),
          name_(std::move(name)),
          path_(path),
          verdict_(verdict),
          section_(table, name_, path, verdict) {}

    template <class Integer>
    void operator()(const describe::Option& option, const describe::Whole& range, Integer& value) {
        section_.whole(option.key, value, range);
    }
    void operator()(const describe::Option& option, const describe::Seconds&, std::chrono::milliseconds& value) {
        section_.seconds(option.key, value);
    }
    void operator()(const describe::Option& option, const describe::Real&, double& value) {
        section_.real(option.key, value);
    }
    template <class T>
    void operator()(const describe::Option& option, const describe::Words<T>& words, T& value) {
        section_.choice(option.key, value, words);
    }
    template <class T>
    void operator()(const describe::Option& option, const describe::Text<T>& text, T& value) {
        section_.word(option.key, value, text);
    }
    void operator()(const describe::Option& option, const describe::Views&,
                    const std::tuple<bool&, std::vector<Convention>&>& members);
    template <class Rules>
    void operator()(const describe::Option& option, const describe::Compressions&,
                    const std::tuple<Compression&, Rules&>& members) {
        auto& variables = std::get<Rules&>(members);
        read_rule(option.key, std::get<Compression&>(members),
                  [&](OptionReader& inner) { inner.read_variables(variables); });
    }

    Section& section() { return section_; }

private:
    /// A codec, or a table of the options of a rule and what `more` reads of it.
    void read_rule(const char* key, Compression& rule, const std::function<void(OptionReader&)>& more);
    void read_variables(std::vector<std::pair<std::string, Compression>>& rules);

    const toml::table& table_;
    const std::string name_;
    const std::string& path_;
    Result<>& verdict_;
    Section section_;
};

void OptionReader::operator()(const describe::Option& option, const describe::Views&,
                              const std::tuple<bool&, std::vector<Convention>&>& members) {
    auto& view = std::get<bool&>(members);
    auto& conventions = std::get<std::vector<Convention>&>(members);
    const auto* node = section_.any(option.key);
    if (node == nullptr) return;
    if (const auto* flag = node->as_boolean()) {
        view = flag->get();
        return;
    }
    conventions.clear();
    const auto take = [&](const toml::node& one) {
        const auto* name = one.as_string();
        const auto found = name == nullptr ? std::nullopt : describe::convention_named(name->get());
        if (found) return conventions.push_back(*found);
        section_.fail(one, fmt::format("'view' must be true, false, one of {}, or a list of them.",
                                       describe::convention_names()));
    };
    if (const auto* list = node->as_array())
        for (const auto& one : *list) take(one);
    else take(*node);
    view = !conventions.empty();
}

void OptionReader::read_rule(const char* key, Compression& rule, const std::function<void(OptionReader&)>& more) {
    const auto* node = table_.get(key);
    if (node == nullptr || !node->is_table()) return section_.choice<Codec>(key, rule.codec, {describe::codec_words});
    const auto& table = section_.inner(key);
    OptionReader inner(table, name_.empty() ? key : name_ + "." + key, path_, verdict_);
    describe::each_option(rule, inner);
    if (more) more(inner);
}

// A table of toml++ is sorted by its keys; the first rule that fits is the first of the file.
void OptionReader::read_variables(std::vector<std::pair<std::string, Compression>>& rules) {
    const auto& table = section_.inner("variables");
    OptionReader patterns(table, name_ + ".variables", path_, verdict_);
    std::vector<std::pair<toml::source_position, std::string>> order;
    for (const auto& [pattern, value] : table) order.emplace_back(pattern.source().begin, pattern.str());
    std::ranges::sort(order, {}, [](const auto& one) { return std::pair(one.first.line, one.first.column); });
    for (const auto& [at, pattern] : order)
        patterns.read_rule(pattern.c_str(), rules.emplace_back(pattern, Compression{}).second, {});
}

StreamOptions read_stream(const toml::table& table, const std::string& name, const std::string& path,
                          Result<>& verdict) {
    StreamOptions stream;
    OptionReader reader(table, name, path, verdict);
    for (const auto* key : {"nodes_per_file", "shared"}) reader.section().former(key);
    describe::each_option(stream, reader);
    return stream;
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
    read_copy_threads(section, options.copy_threads);
    read_agent(section.inner("agent"), path, verdict, options.agent);
    read_job(section.inner("job"), path, verdict, options.job);
    for (const auto& [name, value] : section.inner("streams")) {
        if (const auto* stream = value.as_table())
            options.streams.emplace_back(name.str(),
                                         read_stream(*stream, fmt::format("streams.{}", name.str()), path, verdict));
        else section.fail(value, fmt::format("'streams.{}' must be a table.", name.str()));
    }
}

// toml++ makes a table of every dot of a key and destroys them by recursion: 100 KiB of dots end a stack of 8 MiB.
constexpr std::uint64_t text_bytes_max = 16u << 10;

// What `read` makes of the tables of `text`, unless it, or toml++, finds a fault.
template <class Read>
Result<> decode(const std::string& text, const std::string& path, Read&& read) {
    Result<> verdict;
    try {
        read(toml::parse(text, path), verdict);
    } catch (const toml::parse_error& problem) {
        return Error{ErrorKind::refused,
                     fmt::format("{}, line {}: {}", path, problem.source().begin.line, problem.description())};
    }
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
        FB_TRY(decode(toml, source, [&](const toml::table& table, Result<>& verdict) {
            stream = read_stream(table, "", source, verdict);
        }));
        return stream;
    });
}

Result<Options> decode_options(const std::string& text, const std::string& path) {
    Options options;
    FB_TRY(decode(text, path,
                  [&](const toml::table& table, Result<>& verdict) { read_all(table, path, verdict, options); }));
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
