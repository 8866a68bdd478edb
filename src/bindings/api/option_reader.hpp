// Reads each option of the lists in describe from its key in a table. `name` is the prefix for error texts of the keys
// below.

#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/describe/analysis_list.hpp"
#include "core/describe/option_list.hpp"
#include "core/describe/session_list.hpp"
#include "core/format/toml_section.hpp"

namespace forebay {

/// A visitor of each_option(): one operator() for each kind of values.
class OptionReader {
public:
    /// The arguments are those of TomlSection.
    OptionReader(TomlValue table, std::string name, const std::string& path, Result<>& verdict)
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
    void operator()(const describe::Option& option, const describe::Flag&, bool& value) {
        section_.flag(option.key, value);
    }
    void operator()(const describe::Option& option, const describe::NameList&, std::vector<std::string>& names) {
        section_.texts(option.key, names);
    }
    void operator()(const describe::Option& option, const describe::AnyText&, std::string& value) {
        section_.text(option.key, value);
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
    void operator()(const describe::Option& option, const describe::NumberRange&,
                    const std::tuple<double&, double&>& ends);
    void operator()(const describe::Option& option, const describe::LengthList&, std::vector<double>& lengths);
    void operator()(const describe::Option& option, const describe::PointList&,
                    std::vector<std::vector<std::int64_t>>& points);
    void operator()(const describe::Option& option, const describe::ConditionList&, std::vector<std::string>& texts) {
        take_texts(option.key, [&](TomlValue, const std::string& text) { texts.push_back(text); });
    }
    template <class T>
    void operator()(const describe::Option& option, const describe::WordList<T>& words, std::vector<T>& values) {
        std::vector<T> given;
        take_texts(option.key, [&](TomlValue at, const std::string& text) {
            for (const auto& word : words.all)
                if (text == word.name) return given.push_back(word.value);
            section_.refuse(at, option.key,
                            fmt::format("is \"{}\": one of {}, or a list of them.", text,
                                        describe::values_of(describe::Words<T>{words.all})));
        });
        if (section_.any(option.key).exists()) values = std::move(given);
    }
    template <class Rules>
    void operator()(const describe::Option& option, const describe::Compressions&,
                    const std::tuple<Compression&, Rules&>& members) {
        auto& variables = std::get<Rules&>(members);
        read_rule(option.key, std::get<Compression&>(members),
                  [&](OptionReader& inner) { inner.read_variables(variables); });
    }
    void operator()(const describe::Option& option, const describe::Analyses&, std::vector<Analysis>& analyses);

    // The options of a session only.
    void operator()(const describe::Option& option, const describe::WholeOrAuto& whole, int& value);
    void operator()(const describe::Option& option, const describe::FlagOrAuto&, Direct& value);
    void operator()(const describe::Option& option, const describe::Pages&, std::uint64_t& value);
    void operator()(const describe::Option& option, const describe::RealRange&, double& value) {
        section_.real(option.key, value);
    }
    void operator()(const describe::Option& option, const describe::OnlyWord& only, bool& value) {
        section_.flag_to(option.key, only.word, value);
    }
    void operator()(const describe::Option& option, const describe::TextList&, std::vector<std::string>& texts) {
        section_.texts(option.key, texts);
    }
    void operator()(const describe::Option& option, const describe::TargetList&, std::string& text) {
        section_.text(option.key, text);
    }
    void operator()(const describe::Option& option, const describe::HostList&, std::string& text) {
        section_.text(option.key, text);
    }
    void operator()(const describe::Option& option, const describe::EnvironmentList&,
                    std::vector<std::pair<std::string, std::string>>& variables);
    template <class Inner>
    void operator()(const describe::Option& option, const describe::OptionTable&, Inner& inner) {
        OptionReader reader(section_.inner(option.key), section_.full(option.key), path_, verdict_);
        describe::each_option(inner, reader);
    }
    void operator()(const describe::Option& option, const describe::StreamTables&,
                    std::vector<std::pair<std::string, StreamOptions>>& streams);

    /// Reads the options of a stream. Keys of earlier versions are refused, with the new key in the error.
    void read(StreamOptions& stream);

private:
    /// Calls `take` for a text, or for each text of a list.
    void take_texts(const char* key, const std::function<void(TomlValue, const std::string&)>& take);
    /// Reads a codec, or a table with the options of a rule. `more` reads further keys of the table.
    void read_rule(const std::string& key, Compression& rule, const std::function<void(OptionReader&)>& more);
    void read_variables(std::vector<std::pair<std::string, Compression>>& rules);

    const TomlValue table_;
    const std::string name_;
    const std::string& path_;
    Result<>& verdict_;
    TomlSection section_;
};

}  // namespace forebay
