// The TOML file of load_options(): docs/reference/configuration.md.

#include <fmt/format.h>

#include "bindings/api/option_reader.hpp"
#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/describe/session_list.hpp"

namespace forebay {

namespace {

// Adds names such as "agent.block_bytes" and "streams.restart.slots", for each value that is not a table.
void add_names(TomlValue table, const std::string& prefix, std::vector<std::string>& names) {
    for (const auto& [name, value] : table.members())
        if (value.is_table()) add_names(value, prefix + name + ".", names);
        else names.push_back(prefix + name);
}

void read_all(TomlValue table, const std::string& path, Result<>& verdict, Options& options) {
    OptionReader reader(table, "", path, verdict);
    describe::each_option(options, reader);
}

// toml++ makes a table of every dot of a key, and destroys the tables by recursion: 100 KiB of dots overflow a stack of
// 8 MiB.
constexpr std::uint64_t text_bytes_max = 16u << 10;

// The result of `read` for the tables of `text`, unless `read` or toml++ finds a fault.
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
                  [&](TomlValue table, Result<>& verdict) { OptionReader(table, "", path, verdict).read(options); });
}

Result<Options> decode_options(const std::string& text, const std::string& path) {
    Options options;
    FB_TRY(decode(text, path, [&](TomlValue table, Result<>& verdict) {
        read_all(table, path, verdict, options);
        add_names(table, "", options.in_file);
    }));
    options.run_in_file = options.run;
    // The run may be set in code. All other options must be valid on their own.
    auto checked = options;
    // check() needs some run; the file's path stands in for it.
    if (checked.run.empty()) checked.run = path;
    FB_TRY(check(checked));
    return options;
}

Result<Options> load_options(const std::string& path) {
    const auto text = sys::read_text(sys::posix_store(), path, text_bytes_max);
    if (text) return decode_options(*text, path);
    return with_context(
        text.error(),
        fmt::format("the configuration file '{}' cannot be read: {}. Nothing was opened", path, text.error().what), "",
        "put it on a path that every rank can read, or give another file");
}

}  // namespace forebay
