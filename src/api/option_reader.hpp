// Reads each option of the lists in describe from its key in a table; the names of keys below it begin with `name`.

#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/toml_section.hpp"
#include "describe/analysis_list.hpp"
#include "describe/option_list.hpp"

namespace forebay {

/// A visitor of each_option(): one operator() for each kind of values.
class OptionReader {
public:
    /// As TomlSection.
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
    template <class Rules>
    void operator()(const describe::Option& option, const describe::Compressions&,
                    const std::tuple<Compression&, Rules&>& members) {
        auto& variables = std::get<Rules&>(members);
        read_rule(option.key, std::get<Compression&>(members),
                  [&](OptionReader& inner) { inner.read_variables(variables); });
    }
    void operator()(const describe::Option& option, const describe::Analyses&, std::vector<Analysis>& analyses);

    TomlSection& section() { return section_; }

private:
    /// A codec, or a table of the options of a rule and what `more` reads of it.
    void read_rule(const std::string& key, Compression& rule, const std::function<void(OptionReader&)>& more);
    void read_variables(std::vector<std::pair<std::string, Compression>>& rules);

    const TomlValue table_;
    const std::string name_;
    const std::string& path_;
    Result<>& verdict_;
    TomlSection section_;
};

}  // namespace forebay
