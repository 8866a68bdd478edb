#include "bindings/api/option_reader.hpp"

#include <fmt/format.h>

#include "core/describe/conventions.hpp"

namespace forebay {

namespace {

// The numbers of a list. Empty if there is no list, or if an entry is not such a number.
template <class Number, class Take>
std::optional<std::vector<Number>> numbers_of(TomlValue list, Take&& take) {
    if (!list.is_list()) return {};
    std::vector<Number> numbers;
    for (const auto& entry : list.entries()) {
        const std::optional<Number> number = take(entry);
        if (!number) return {};
        numbers.push_back(*number);
    }
    return numbers;
}

std::optional<std::vector<double>> reals_of(TomlValue list) {
    return numbers_of<double>(list, [](const TomlValue& entry) { return entry.real(); });
}

std::optional<std::vector<std::int64_t>> wholes_of(TomlValue list) {
    return numbers_of<std::int64_t>(list, [](const TomlValue& entry) { return entry.whole(); });
}

}  // namespace

void OptionReader::operator()(const describe::Option& option, const describe::Views&,
                              const std::tuple<bool&, std::vector<Convention>&>& members) {
    auto& view = std::get<bool&>(members);
    auto& conventions = std::get<std::vector<Convention>&>(members);
    const auto at = section_.any(option.key);
    if (!at.exists()) return;
    if (const auto flag = at.flag()) {
        view = *flag;
        return;
    }
    conventions.clear();
    const auto take = [&](const TomlValue& value) {
        const auto name = value.text();
        const auto convention = name ? describe::convention_named(*name) : std::nullopt;
        if (convention) return conventions.push_back(*convention);
        section_.refuse(
            value, option.key,
            fmt::format("must be true, false, one of {}, or a list of them.", describe::convention_names()));
    };
    if (at.is_list())
        for (const auto& entry : at.entries()) take(entry);
    else take(at);
    view = !conventions.empty();
}

void OptionReader::operator()(const describe::Option& option, const describe::NumberRange&,
                              const std::tuple<double&, double&>& ends) {
    const auto at = section_.any(option.key);
    if (!at.exists()) return;
    const auto numbers = reals_of(at);
    if (!numbers || numbers->size() != 2) return section_.refuse(option.key, "must be a list of two numbers.");
    std::get<0>(ends) = numbers->front();
    std::get<1>(ends) = numbers->back();
}

void OptionReader::operator()(const describe::Option& option, const describe::LengthList&,
                              std::vector<double>& lengths) {
    const auto at = section_.any(option.key);
    if (!at.exists()) return;
    if (auto numbers = reals_of(at)) lengths = std::move(*numbers);
    else if (const auto length = at.real()) lengths = {*length};
    else section_.refuse(option.key, "must be a number or a list of numbers.");
}

void OptionReader::operator()(const describe::Option& option, const describe::PointList&,
                              std::vector<std::vector<std::int64_t>>& points) {
    const auto at = section_.any(option.key);
    if (!at.exists()) return;
    auto all = numbers_of<std::vector<std::int64_t>>(at, wholes_of);
    if (!all) return section_.refuse(option.key, "must be a list of lists of whole numbers.");
    points = std::move(*all);
}

void OptionReader::take_texts(const char* key, const std::function<void(TomlValue, const std::string&)>& take) {
    const auto at = section_.any(key);
    if (!at.exists()) return;
    for (const auto& entry : at.is_list() ? at.entries() : std::vector{at}) {
        if (const auto text = entry.text()) take(entry, *text);
        else section_.refuse(entry, key, "must be a text or a list of texts.");
    }
}

void OptionReader::read_rule(const std::string& key, Compression& rule,
                             const std::function<void(OptionReader&)>& more) {
    if (!table_.member(key).is_table()) return section_.choice<Codec>(key.c_str(), rule.codec, {describe::codec_words});
    OptionReader inner(section_.inner(key), section_.full(key), path_, verdict_);
    describe::each_option(rule, inner);
    if (more) more(inner);
}

// The rules keep the order of the file: the first match counts.
void OptionReader::read_variables(std::vector<std::pair<std::string, Compression>>& rules) {
    const auto table = section_.inner("variables");
    OptionReader patterns(table, section_.full("variables"), path_, verdict_);
    for (const auto& member : table.members())
        patterns.read_rule(member.first, rules.emplace_back(member.first, Compression{}).second, {});
}

void OptionReader::operator()(const describe::Option& option, const describe::Analyses&,
                              std::vector<Analysis>& analyses) {
    for (const auto& [name, table] : section_.inner(option.key).members()) {
        const auto key = option.key + ("." + name);
        if (!table.is_table()) {
            section_.refuse(table, key, "must be a table.");
            continue;
        }
        OptionReader inner(table, section_.full(key), path_, verdict_);
        describe::each_option(analyses.emplace_back(Analysis{.name = name}), inner);
    }
}

void OptionReader::operator()(const describe::Option& option, const describe::WholeOrAuto& whole, int& value) {
    const auto at = section_.any(option.key);
    if (at.text() == "auto") value = 0;
    else if (at.whole()) section_.whole(option.key, value, whole.range);
    else if (at.exists()) section_.refuse(option.key, "must be \"auto\" or a whole number.");
}

void OptionReader::operator()(const describe::Option& option, const describe::FlagOrAuto&, Direct& value) {
    const auto at = section_.any(option.key);
    if (const auto flag = at.flag()) value = *flag ? Direct::yes : Direct::no;
    else if (at.text() == "auto") value = Direct::automatic;
    else if (at.exists()) section_.refuse(option.key, "must be true, false or \"auto\".");
}

// The check of the session makes sure that these are whole pages.
void OptionReader::operator()(const describe::Option& option, const describe::Pages&, std::uint64_t& value) {
    section_.whole(option.key, value, describe::Whole{});
}

void OptionReader::operator()(const describe::Option& option, const describe::EnvironmentList&,
                              std::vector<std::pair<std::string, std::string>>& variables) {
    for (const auto& [name, value] : section_.inner(option.key).members()) {
        if (auto text = value.text()) variables.emplace_back(name, std::move(*text));
        else section_.refuse(value, option.key + ("." + name), "must be text.");
    }
}

void OptionReader::operator()(const describe::Option& option, const describe::StreamTables&,
                              std::vector<std::pair<std::string, StreamOptions>>& streams) {
    for (const auto& [name, table] : section_.inner(option.key).members()) {
        const auto key = option.key + ("." + name);
        if (table.is_table())
            OptionReader(table, section_.full(key), path_, verdict_)
                .read(streams.emplace_back(name, StreamOptions{}).second);
        else section_.refuse(table, key, "must be a table.");
    }
}

void OptionReader::read(StreamOptions& stream) {
    for (const auto* key : {"nodes_per_file", "shared"}) section_.former(key);
    describe::each_option(stream, *this);
}

}  // namespace forebay
