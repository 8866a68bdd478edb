#include "program/run/left_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/error_text.hpp"

namespace forebay::cli {

namespace {

using Versions = std::vector<const catalog::Version*>;

std::string steps_of(const Versions& versions) {
    constexpr std::size_t steps_max = 8;
    std::string text = versions.size() == 1 ? "step" : "steps";
    for (std::size_t i = 0; i < std::min(versions.size(), steps_max); ++i)
        text += fmt::format("{} {}", i > 0 ? "," : "", versions[i]->head.step);
    if (versions.size() > steps_max) text += fmt::format(" and {} more", versions.size() - steps_max);
    return text;
}

// The line whose removal would make all of them living again; empty if that needs several lines.
std::string line_that_left(const catalog::History& history, const Versions& versions) {
    std::string name;
    for (const auto* version : versions) {
        const auto has_left = [&](const format::LineStart& start) {
            return format::abandons(start, version->head.lineage.line(), version->head.step);
        };
        if (std::ranges::count_if(history.starts, has_left) != 1) return "";
        const auto line = format::name_of(std::ranges::find_if(history.starts, has_left)->line);
        if (!name.empty() && name != line) return "";
        name = line;
    }
    return name;
}

}  // namespace

std::vector<std::string> left_lines(const std::string& run, const std::string& stream,
                                    const catalog::History& history) {
    std::map<format::Line, Versions> left;
    for (const auto& version : history.abandoned)
        if (version.readable) left[version.head.lineage.line()].push_back(&version);
    std::vector<std::string> texts;
    for (const auto& [line, versions] : left) {
        const auto name = format::name_of(line);
        const auto by = line_that_left(history, versions);
        const bool is_one = versions.size() == 1;
        const auto back = by.empty() ? ""
                                     : fmt::format("forebay prune {}/{} --line {} removes line {} and returns to {}; ",
                                                   run, stream, by, by, is_one ? "it" : "them");
        texts.push_back(
            fmt::format("{}: the run has left {} of line {}; {} as keep_abandoned requires. {}{}forebay prune {}/{} "
                        "--line {} removes {} now.",
                        stream, steps_of(versions), name, is_one ? "it stays" : "they stay", next_label, back, run,
                        stream, name, is_one ? "it" : "them"));
    }
    return texts;
}

}  // namespace forebay::cli
