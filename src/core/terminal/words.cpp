#include "core/terminal/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/sys/machine.hpp"

namespace forebay::cli {

namespace {

constexpr int text_columns_min = 80, text_columns_max = 100;

}  // namespace

std::string show_ranks(std::span<const format::RankRange> ranks) {
    std::string text;
    for (const auto& range : ranks) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", range.first);
        if (range.count > 1) text += fmt::format("-{}", range.first + range.count - 1);
    }
    return text;
}

std::string wrapped(const std::string& head, const std::string& text) {
    const auto columns =
        static_cast<std::size_t>(std::clamp(sys::terminal_columns(), text_columns_min, text_columns_max));
    std::string lines = head, indent(head.size(), ' ');
    std::size_t at = head.size(), begin = 0;
    while (begin < text.size()) {
        const auto end = std::min(text.find(' ', begin), text.size());
        const auto word = text.substr(begin, end - begin);
        if (at + word.size() > columns && at > indent.size()) {
            while (lines.ends_with(' ')) lines.pop_back();
            lines += "\n" + indent;
            at = indent.size();
        }
        lines += word + " ";
        at += word.size() + 1;
        begin = end + 1;
    }
    while (lines.ends_with(' ')) lines.pop_back();
    return lines + "\n";
}

Json json_of(const Extents& shape) {
    auto list = Json::array();
    for (int dim = 0; dim < shape.dims(); ++dim) list.push(shape[dim]);
    return list;
}

Json json_of(std::span<const format::Mark> marks) {
    auto array = Json::array();
    for (const auto& mark : marks)
        array.push(Json::object()
                       .set("analysis", mark.analysis)
                       .set("condition", mark.condition)
                       .set("result", mark.result)
                       .set("value", mark.value));
    return array;
}

}  // namespace forebay::cli
