#include "agent/analysis_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/hosts.hpp"
#include "base/show_text.hpp"
#include "base/try.hpp"
#include "describe/analysis_list.hpp"
#include "node/raised.hpp"
#include "node/staging.hpp"

namespace forebay::agent {

namespace {

constexpr std::size_t shown_answer_max = 200;

// "mark,stop 3 numbers: */nan > 0"
std::optional<WorkerAnswer> raised_by(std::string_view rest) {
    WorkerAnswer answer{.kind = WorkerAnswer::Kind::raised};
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

Result<AnalysisWorker> AnalysisWorker::start(const std::string& directory, const AgentOptions& options) {
    auto program = agent_program(options.program);
    FB_TRY_ASSIGN(child, sys::ChildProgram::start({.program = program,
                                                   .arguments = {"insitu-worker", directory},
                                                   .environment = options.environment,
                                                   // What is preloaded into the application is not meant for it.
                                                   .environment_removed = {"LD_PRELOAD"},
                                                   .log_path = node::agent_log_path(directory)}));
    return AnalysisWorker(std::move(program), std::move(child));
}

Result<> AnalysisWorker::see(std::uint32_t slot, std::uint64_t snapshot_id, std::int64_t step) {
    return child_.write_line(fmt::format("see {} {} {}", slot, snapshot_id, step));
}

Result<WorkerAnswer> AnalysisWorker::answer(std::chrono::milliseconds at_most) {
    FB_TRY_ASSIGN(line, child_.read_line(at_most));
    if (!line) return WorkerAnswer{};
    return decode_answer(*line, program_);
}

Result<WorkerAnswer> decode_answer(std::string_view said, const std::string& program) {
    using Kind = WorkerAnswer::Kind;
    const auto word = said.substr(0, said.find(' '));
    const auto rest = said.substr(std::min(said.size(), word.size() + 1));
    if (said == "seen") return WorkerAnswer{.kind = Kind::seen};
    if (word == "failed") return WorkerAnswer{.kind = Kind::failed, .text = std::string(rest)};
    if (word == "problem") return WorkerAnswer{.kind = Kind::problem, .text = std::string(rest)};
    if (word == "raise")
        if (auto raised = raised_by(rest)) return std::move(*raised);
    if (word == "made") {
        std::uint64_t count = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
        if (error == std::errc{} && end == rest.data() + rest.size())
            return WorkerAnswer{.kind = Kind::made, .count = count};
    }
    return Error{ErrorKind::corrupt, fmt::format("{} said '{}'", program, show_text(said.substr(0, shown_answer_max)))};
}

}  // namespace forebay::agent
