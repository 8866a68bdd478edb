// Case files: bench/cases. They hold options by name, `sweep` as on the command line, `rows` with further words, and
// tables `published` with the words of a setting, a measure and its value.

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <sstream>

#include "bench/matrix/outcome.hpp"
#include "core/base/try.hpp"
#include "core/terminal/advice_file.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t case_bytes_max = 1u << 20;

Error wrong(const std::string& path, const toml::node& at, const std::string& what) {
    return {ErrorKind::refused, fmt::format("{}, line {}: {}", path, at.source().begin.line, what), "",
            "use the options of forebay bench run --help, and title, source, rows, sweep and published"};
}

// As on the command line, numbers are words too.
Result<std::string> word_from(const std::string& path, const toml::node& node) {
    if (const auto text = node.value<std::string>()) return *text;
    if (node.is_integer()) return fmt::format("{}", *node.value<std::int64_t>());
    if (node.is_floating_point()) return fmt::format("{:g}", *node.value<double>());
    return wrong(path, node, "a text or a number is needed");
}

bool is_option(std::string_view key) {
    return std::ranges::any_of(matrix_options(), [&](const auto& option) { return key == option.key; });
}

Result<Words> row_from(const std::string& path, const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) return wrong(path, node, "rows is a list of tables");
    Words words;
    for (const auto& [name, value] : *table) {
        const std::string key(name.str());
        if (!is_option(key)) return wrong(path, value, fmt::format("'{}' is not known", key));
        FB_TRY_ASSIGN(word, word_from(path, value));
        words.emplace_back(key, word);
    }
    return words;
}

Result<Published> published_from(const std::string& path, const toml::node& node) {
    Published published;
    const auto* table = node.as_table();
    if (table == nullptr) return wrong(path, node, "published is a list of tables");
    for (const auto& [name, value] : *table) {
        const std::string key(name.str());
        if (key == "value") {
            published.value = value.value_or(0.0);
            continue;
        }
        FB_TRY_ASSIGN(word, word_from(path, value));
        if (key == "measure") published.measure = word;
        else if (key == "statistic" && word == "max") published.is_max = true;
        else if (is_option(key)) published.setting.emplace_back(key, word);
        else return wrong(path, value, fmt::format("'{}' is not known", key));
    }
    if (published.measure.empty() || published.value <= 0)
        return wrong(path, node, "published needs a measure and a value above 0");
    return published;
}

Result<> take(const std::string& path, const std::string& key, const toml::node& value, Case& result) {
    const auto* list = value.as_array();
    if (key == "sweep" || key == "published" || key == "rows") {
        if (list == nullptr) return wrong(path, value, fmt::format("'{}' is a list", key));
        for (const auto& entry : *list) {
            if (key == "sweep") {
                FB_TRY_ASSIGN(word, word_from(path, entry));
                result.sweeps.push_back(word);
            } else if (key == "rows") {
                FB_TRY_ASSIGN(row, row_from(path, entry));
                result.rows.push_back(std::move(row));
            } else {
                FB_TRY_ASSIGN(published, published_from(path, entry));
                result.published.push_back(std::move(published));
            }
        }
        return {};
    }
    FB_TRY_ASSIGN(word, word_from(path, value));
    if (key == "title") result.title = word;
    else if (key == "source") result.source = word;
    else if (is_option(key)) result.words.emplace_back(key, word);
    else return wrong(path, value, fmt::format("'{}' is not known", key));
    return {};
}

}  // namespace

Result<Case> read_case(const std::string& path) {
    constexpr const char* next = "give --case bench/cases/hacc.toml, or another file like it";
    FB_TRY_ASSIGN(text, cli::input_text("--case", path, case_bytes_max, next));
    Case result;
    try {
        const auto table = toml::parse(text, path);
        for (const auto& [key, value] : table) FB_TRY(take(path, std::string(key.str()), value, result));
    } catch (const toml::parse_error& error) {
        return Error{ErrorKind::corrupt,
                     fmt::format("{}, line {}: {}", path, error.source().begin.line, error.description()), "", next};
    }
    if (result.title.empty() || (!result.published.empty() && result.source.empty()))
        return Error{ErrorKind::refused,
                     fmt::format("{}: a case needs a title, and the source of its published figures", path), "", next};
    return result;
}

}  // namespace forebay::bench
