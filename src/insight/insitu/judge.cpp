#include "insight/insitu/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/glob.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/describe/condition.hpp"
#include "insight/insitu/numbers.hpp"
#include "path/catalog/marks.hpp"

namespace forebay::insitu {

namespace {

using describe::Condition;
using format::Mark;

// The agent reads lines up to 4 KiB (sys::child_line_bytes_max); this leaves room for the rest of the line.
constexpr std::size_t line_bytes_max = 3000;

// The value farthest beyond the limit, if any value fulfils the condition.
std::optional<double> found_in(const FoundVariable& result, const Condition& condition) {
    const auto numbers = RealNumbers::of(
        {.name = result.name, .type = result.type, .kind = Kind::replicated, .shape = result.shape, .attributes = {}});
    std::optional<double> farthest;
    if (!numbers) return farthest;
    numbers->each_chunk<double>(result.bytes, [&](std::span<const double> chunk) {
        for (const auto value : chunk)
            if (condition.holds(value) && (!farthest || condition.is_farther(value, *farthest))) farthest = value;
    });
    return farthest;
}

std::string cut(const std::string& text) { return text.substr(0, format::mark_text_bytes_max); }

}  // namespace

Judgement judge(const Analysis& analysis, std::span<const FoundVariable> results) {
    Judgement judgement;
    judgement.actions = analysis.action;
    for (const auto& text : analysis.condition) {
        const auto condition = describe::parse_condition(text);
        if (!condition) {
            judgement.problems.push_back(condition.error().line());
            continue;
        }
        bool matched = false;
        std::optional<Mark> mark;
        for (const auto& result : results) {
            if (!matches(condition->pattern, result.name)) continue;
            matched = true;
            const auto number = found_in(result, *condition);
            if (number && (!mark || condition->is_farther(*number, mark->value)))
                mark = Mark{analysis.name, text, cut(result.name), *number};
        }
        if (mark) judgement.fulfilled.push_back(std::move(*mark));
        if (!matched)
            judgement.problems.push_back(
                fmt::format("analysis '{}': no result matches condition '{}'", analysis.name, text));
    }
    return judgement;
}

Judgement flagged(const Analysis& analysis, const std::string& text, double value,
                  std::vector<Analysis::Action> actions) {
    return {{{analysis.name, text, "", value}}, std::move(actions), {}};
}

void mark_snapshot(sys::Store& store, const std::string& run, const SeenSnapshot& source, Judgement& judgement) {
    auto& actions = judgement.actions;
    if (judgement.fulfilled.empty() || std::ranges::find(actions, Analysis::Action::mark) == actions.end()) return;
    const auto marked =
        catalog::mark(store, {run, source.stream, source.moment.step, source.snapshot_id}, judgement.fulfilled);
    if (marked) return;
    // The agent must not report a mark that does not exist, so the action is dropped.
    std::erase(actions, Analysis::Action::mark);
    for (const auto& mark : judgement.fulfilled) {
        const Error unmarked{marked.error().kind,
                             fmt::format("step {} of stream '{}' is NOT marked, and counts as good: {}: {}",
                                         source.moment.step, source.stream, words_of(mark), marked.error().what),
                             "", fmt::format("forebay mark {}/{}@{}", run, source.stream, source.moment.step)};
        judgement.problems.push_back(unmarked.line());
    }
}

std::vector<std::string> lines_of(const Judgement& judgement) {
    std::vector<std::string> lines;
    for (const auto& problem : judgement.problems) lines.push_back(one_line("problem " + problem));
    std::string actions;
    for (const auto& word : describe::action_words)
        if (std::ranges::find(judgement.actions, word.value) != judgement.actions.end())
            actions += (actions.empty() ? "" : ",") + std::string(word.name);
    if (actions.empty()) return lines;  // the mark failed, and no other action follows
    for (const auto& mark : judgement.fulfilled)
        lines.push_back(one_line(fmt::format("raise {} {} {}", actions, mark.value, words_of(mark))));
    return lines;
}

std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    if (text.size() > line_bytes_max) text.replace(line_bytes_max, std::string::npos, "...");
    return text;
}

}  // namespace forebay::insitu
