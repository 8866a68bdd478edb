#include "path/node/analysis_rules.hpp"

#include <fmt/format.h>

#include <map>

#include "core/describe/analysis_list.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"
#include "path/node/control.hpp"

namespace forebay::node {

namespace {

namespace json = format::json;
using describe::AnalysisOption;

// Writes the options of an analysis as JSON, by their keys.
struct PutAnalysis {
    std::map<std::string, std::string>& members;

    template <class Values, class Value>
    void operator()(const AnalysisOption& option, const Values&, const Value& value) const {
        put(members[option.key], value);
    }

    static void put(std::string& out, bool value) { out += value ? "true" : "false"; }
    template <class Integer>
    requires std::is_integral_v<Integer>
    static void put(std::string& out, Integer value) { json::put_i64(out, value); }
    template <class Word>
    requires std::is_enum_v<Word>
    static void put(std::string& out, Word value) { json::put_i64(out, static_cast<std::int64_t>(value)); }
    static void put(std::string& out, double value) { json::put_f64(out, value); }
    static void put(std::string& out, std::chrono::milliseconds value) { json::put_i64(out, value.count()); }
    static void put(std::string& out, const std::string& value) { json::put_text(out, value); }
    static void put(std::string& out, const std::tuple<const double&, const double&>& ends) {
        put(out, std::vector<double>{std::get<0>(ends), std::get<1>(ends)});
    }
    template <class Entry>
    static void put(std::string& out, const std::vector<Entry>& list) {
        const char* before = "[";
        for (const auto& entry : list) {
            out += before;
            put(out, entry);
            before = ",";
        }
        out += list.empty() ? "[]" : "]";
    }
};

// Reads them back. An absent option keeps its value.
struct TakeAnalysis {
    json::Value from;
    bool& good;

    template <class Values, class Value>
    void operator()(const AnalysisOption& option, const Values&, Value&& value) const {
        const auto member = from.member(option.key);
        if (good && member.exists()) good = take(member, value);
    }

    static bool take(json::Value from, bool& value) { return keep(from.flag(), value); }
    static bool take(json::Value from, double& value) { return keep(from.f64(), value); }
    static bool take(json::Value from, std::string& value) { return keep(from.text(), value); }
    static bool take(json::Value from, std::int64_t& value) { return keep(from.i64(), value); }
    static bool take(json::Value from, std::chrono::milliseconds& value) {
        const auto number = from.i64();
        if (number) value = std::chrono::milliseconds(*number);
        return number.has_value();
    }
    static bool take(json::Value from, int& value) {
        const auto number = from.i64();
        return number && std::in_range<int>(*number) && keep(number, value);
    }
    // check_values() finds numbers that mean no word.
    template <class Word>
    requires std::is_enum_v<Word>
    static bool take(json::Value from, Word& value) {
        int number = 0;
        if (!take(from, number)) return false;
        value = static_cast<Word>(number);
        return true;
    }
    static bool take(json::Value from, const std::tuple<double&, double&>& ends) {
        return take(from.entry(0), std::get<0>(ends)) && take(from.entry(1), std::get<1>(ends));
    }
    template <class Entry>
    static bool take(json::Value from, std::vector<Entry>& list) {
        const auto count = from.list();
        list.clear();
        for (std::size_t i = 0; count && i < *count; ++i)
            if (!take(from.entry(i), list.emplace_back())) return false;
        return count.has_value();
    }
    template <class Given, class Value>
    static bool keep(const std::optional<Given>& given, Value& value) {
        if (given) value = static_cast<Value>(*given);
        return given.has_value();
    }
};

std::map<std::string, std::string> members_of(const Analysis& analysis) {
    std::map<std::string, std::string> members;
    describe::each_option(analysis, PutAnalysis{members});
    return members;
}

}  // namespace

Result<> check(const std::vector<Analysis>& analyses, const std::string& stream) {
    if (const auto bytes = encode_analyses(analyses).size(); bytes >= insitu_text_max)
        return Error{ErrorKind::refused,
                     fmt::format("the analyses of stream '{}' need {} bytes of text, at most {} are allowed", stream,
                                 bytes, insitu_text_max - 1),
                     "", "use patterns instead of names, or fewer points"};
    return {};
}

std::string encode_analyses(const std::vector<Analysis>& analyses) {
    // Leave defaults out: the page has little room.
    const auto untouched = members_of({});
    std::string text;
    for (const auto& analysis : analyses) {
        text += text.empty() ? "[{\"name\":" : ",{\"name\":";
        json::put_text(text, analysis.name);
        for (const auto& [key, value] : members_of(analysis))
            if (value != untouched.at(key)) text += fmt::format(",\"{}\":{}", key, value);
        text += '}';
    }
    return text.empty() ? text : text + "]";
}

Result<std::vector<Analysis>> decode_analyses(std::string_view text) {
    std::vector<Analysis> analyses;
    if (text.empty()) return analyses;
    const auto document = json::Document::parse(text);
    const auto list = document ? document->root() : json::Value();
    bool good = list.list().has_value();
    for (std::size_t i = 0; good && i < *list.list(); ++i) {
        auto& analysis = analyses.emplace_back();
        good = TakeAnalysis::take(list.entry(i).member("name"), analysis.name);
        describe::each_option(analysis, TakeAnalysis{list.entry(i), good});
    }
    if (!good || !describe::check_values("any", analyses) || encode_analyses(analyses) != text)
        return Error{ErrorKind::corrupt, "the analyses of a stream are not in Forebay's format."};
    return analyses;
}

}  // namespace forebay::node
