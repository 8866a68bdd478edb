#include "path/agent/analysis_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "path/agent/hosts.hpp"
#include "path/node/flagged.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

namespace {

constexpr std::size_t shown_answer_max = 200;

// "mark,stop 3 numbers: */nan > 0"
std::optional<WorkerAnswer> flagged_by(std::string_view rest) {
    WorkerAnswer answer{.kind = WorkerAnswer::Kind::flagged};
    const auto take = [&] {
        const auto word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        return word;
    };
    for (auto words = take(); !words.empty();) {
        const auto word = words.substr(0, words.find(','));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
        const auto* const known =
            std::ranges::find(describe::action_words, word, &describe::Word<Analysis::Action>::name);
        if (known == std::end(describe::action_words)) return {};
        answer.actions |= node::bit_of(known->value);
    }
    const auto number = take();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), answer.value);
    if (answer.actions == 0 || error != std::errc{} || end != number.data() + number.size() || rest.empty()) return {};
    answer.text = rest;
    return answer;
}

}  // namespace

Result<AnalysisWorker> AnalysisWorker::start(sys::Spawn spawn, const std::string& directory,
                                             const AgentOptions& options) {
    spawn.arguments.push_back(directory);
    spawn.environment.insert(spawn.environment.end(), options.environment.begin(), options.environment.end());
    spawn.environment_removed = {"LD_PRELOAD"};  // a preloaded library of the application is not meant for it
    spawn.log_path = node::agent_log_path(directory);
    FB_TRY_ASSIGN(child, sys::ChildProgram::start(spawn));
    return AnalysisWorker(spawn.program, std::move(child));
}

Result<AnalysisWorker> AnalysisWorker::start(const std::string& directory, const AgentOptions& options) {
    return start({.program = agent_program(options.program),
                  .arguments = {"insitu-worker"},
                  .environment = {},
                  .environment_removed = {},
                  .log_path = {}},
                 directory, options);
}

Result<AnalysisWorker> AnalysisWorker::start_python(const std::string& directory, const AgentOptions& options,
                                                    const std::string& python) {
    const auto place = python_place(python);
    return start({.program = place.program,
                  .arguments = {"-m", "forebay.insitu_worker"},
                  .environment = place.environment,
                  .environment_removed = {},
                  .log_path = {}},
                 directory, options);
}

Result<> AnalysisWorker::see(std::uint32_t slot, std::uint64_t snapshot_id, std::int64_t step,
                             std::span<const std::size_t> switched_off) {
    auto line = fmt::format("see {} {} {}", slot, snapshot_id, step);
    for (const auto index : switched_off) line += fmt::format(" {}", index);
    return child_.write_line(line);
}

std::optional<WorkerAnswer> decode_answer(std::string_view line) {
    using Kind = WorkerAnswer::Kind;
    const auto word = line.substr(0, line.find(' '));
    const auto rest = line.substr(std::min(line.size(), word.size() + 1));
    if (line == "seen") return WorkerAnswer{.kind = Kind::seen};
    if (line == "returned") return WorkerAnswer{.kind = Kind::returned};
    if (word == "failed") return WorkerAnswer{.kind = Kind::failed, .text = std::string(rest)};
    if (word == "problem") return WorkerAnswer{.kind = Kind::problem, .text = std::string(rest)};
    if (word == "raise") return flagged_by(rest);
    if (word != "made" && word != "calls") return {};
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc{} || end != rest.data() + rest.size()) return {};
    return WorkerAnswer{.kind = word == "made" ? Kind::made : Kind::calls, .count = count};
}

Result<WorkerAnswer> AnalysisWorker::answer(std::chrono::milliseconds at_most) {
    FB_TRY_ASSIGN(line, child_.read_line(at_most));
    if (!line) return WorkerAnswer{};
    if (auto answer = decode_answer(*line)) return std::move(*answer);
    // A broken worker may print anything, so the text is cut and escaped.
    return Error{ErrorKind::corrupt,
                 fmt::format("{} said '{}'", program_, show_text(line->substr(0, shown_answer_max)))};
}

}  // namespace forebay::agent
