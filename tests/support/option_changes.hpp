// Visitors of describe::each_option() for tests of every session option. Each option gets another valid value, written
// as in a configuration.

#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/describe/session_list.hpp"

namespace forebay::test {

/// Sets each option to a valid value that is not its default.
struct ChangeOption {
    template <class Integer>
    void operator()(const describe::SessionOption&, const describe::Whole& range, Integer& value) const {
        const auto more = static_cast<Integer>(value + 1);
        value = range.has(more) ? more : static_cast<Integer>(value - 1);
    }
    template <class T>
    void operator()(const describe::SessionOption&, const describe::Words<T>& words, T& value) const {
        value = words.all.back().value;
    }
    void operator()(const describe::SessionOption&, const describe::WholeOrAuto&, int& value) const { value += 3; }
    void operator()(const describe::SessionOption&, const describe::FlagOrAuto&, Direct& value) const {
        value = Direct::automatic;
    }
    void operator()(const describe::SessionOption&, const describe::Seconds&, std::chrono::milliseconds& value) const {
        value += std::chrono::milliseconds(1500);
    }
    void operator()(const describe::SessionOption&, const describe::RealRange&, double& value) const { value += 2.5; }
    void operator()(const describe::SessionOption&, const describe::Pages& pages, std::uint64_t& value) const {
        value += pages.bytes;
    }
    void operator()(const describe::SessionOption&, const describe::Flag&, bool& value) const { value = !value; }
    void operator()(const describe::SessionOption&, const describe::OnlyWord&, bool& value) const { value = true; }
    void operator()(const describe::SessionOption& option, const describe::AnyText&, std::string& value) const {
        value = std::string("a ") + option.key;
    }
    void operator()(const describe::SessionOption&, const describe::TargetList&, std::string& value) const {
        value = "0-3,7";
    }
    void operator()(const describe::SessionOption&, const describe::HostList&, std::string& value) const {
        value = "nid[1-3]";
    }
    void operator()(const describe::SessionOption& option, const describe::TextList&,
                    std::vector<std::string>& value) const {
        value = {option.key, "b"};
    }
    void operator()(const describe::SessionOption& option, const describe::EnvironmentList&,
                    std::vector<std::pair<std::string, std::string>>& value) const {
        value = {{"A", option.key}, {"B", ""}};
    }
    template <class Inner>
    void operator()(const describe::SessionOption&, const describe::OptionTable&, Inner& inner) const {
        describe::each_option(inner, *this);
    }
    void operator()(const describe::SessionOption&, const describe::StreamTables&,
                    std::vector<std::pair<std::string, StreamOptions>>& streams) const {
        streams = {{"fields", {.slots = 2}}};
    }
};

/// A line of the configuration.
struct OptionText {
    describe::SessionOption option;
    std::string key, value;
};

/// Writes every option except the options of streams, as "agent.cores = 3".
struct WriteOptions {
    std::vector<OptionText>& lines;
    std::string prefix = {};

    template <class Values, class Value>
    void operator()(const describe::SessionOption& option, const Values& values, const Value& value) const {
        lines.push_back({option, prefix + option.key, text_of(values, value)});
    }
    template <class Inner>
    void operator()(const describe::SessionOption& option, const describe::OptionTable&, const Inner& inner) const {
        describe::each_option(inner, WriteOptions{lines, prefix + option.key + "."});
    }
    void operator()(const describe::SessionOption&, const describe::StreamTables&,
                    const std::vector<std::pair<std::string, StreamOptions>>&) const {}

    static std::string quoted(const std::string& text) { return "\"" + text + "\""; }
    template <class Values, class Number>
    static std::string text_of(const Values&, const Number& value) {
        return fmt::format("{}", value);
    }
    template <class Values>
    static std::string text_of(const Values&, const std::string& value) {
        return quoted(value);
    }
    template <class Values>
    static std::string text_of(const Values&, const std::chrono::milliseconds& value) {
        return fmt::format("{}", std::chrono::duration<double>(value).count());
    }
    template <class T>
    static std::string text_of(const describe::Words<T>& words, const T& value) {
        for (const auto& word : words.all)
            if (word.value == value) return quoted(word.name);
        return "";
    }
    static std::string text_of(const describe::WholeOrAuto&, int value) {
        return value == 0 ? quoted("auto") : fmt::format("{}", value);
    }
    static std::string text_of(const describe::FlagOrAuto&, const Direct& value) {
        return value == Direct::automatic ? quoted("auto") : value == Direct::yes ? "true" : "false";
    }
    static std::string text_of(const describe::OnlyWord& only, bool value) { return value ? quoted(only.word) : ""; }
    static std::string text_of(const describe::TextList&, const std::vector<std::string>& value) {
        std::string text;
        for (const auto& each : value) text += (text.empty() ? "" : ", ") + quoted(each);
        return "[" + text + "]";
    }
    static std::string text_of(const describe::EnvironmentList&,
                               const std::vector<std::pair<std::string, std::string>>& value) {
        std::string text;
        for (const auto& [name, each] : value) text += (text.empty() ? "" : ", ") + name + " = " + quoted(each);
        return "{ " + text + " }";
    }
};

/// The lines of an Options or AgentOptions object.
template <class Given>
std::vector<OptionText> texts_of(const Given& options, const std::string& prefix = "") {
    std::vector<OptionText> lines;
    describe::each_option(options, WriteOptions{lines, prefix});
    return lines;
}

}  // namespace forebay::test
