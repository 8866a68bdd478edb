#include "insight/advice/preflight/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/format/json_read.hpp"

namespace forebay::advice {

namespace {

using AskTree = nlohmann::ordered_json;
using format::Severity;
namespace json = format::json;

constexpr std::array task_names{"check", "metadata", "speed", "target", "clock", "meet", "end"};
// A question is one line to a node. A started program reads lines of at most 4096 bytes.
constexpr std::size_t numbers_max = 16, findings_max = 64, host_bytes_max = 64;
// The length of a finding's text, and the shortest cut that still says something.
constexpr std::size_t text_bytes_max = 400, text_bytes_min = 40;

std::string dumped(const AskTree& tree) { return tree.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

AskTree tree_of_rules(const Rules& rules) {
    auto tree = AskTree::array();
    for (std::size_t i = 0; i < checks; ++i) {
        const auto& rule = rules.of(static_cast<CheckKind>(i));
        tree.push_back(
            AskTree::array({static_cast<unsigned>(rule.most), rule.on, rule.warn, rule.fail, rule.deadline.count()}));
    }
    return tree;
}

std::optional<Rules> rules_of(json::Value from) {
    Rules rules;
    if (from.list() != checks) return std::nullopt;
    for (std::size_t i = 0; i < checks; ++i) {
        auto& rule = rules.of(static_cast<CheckKind>(i));
        const auto entry = from.entry(i);
        const auto most = entry.entry(0).u64(2), deadline = entry.entry(4).u64(INT32_MAX);
        const auto on = entry.entry(1).flag();
        const auto warn = entry.entry(2).f64(), fail = entry.entry(3).f64();
        if (!most || !on || !warn || !fail || !deadline) return std::nullopt;
        rule.most = static_cast<Severity>(*most);
        rule.on = *on;
        rule.warn = *warn;
        rule.fail = *fail;
        rule.deadline = std::chrono::milliseconds(*deadline);
    }
    return rules;
}

AskTree tree_of(const NodeAnswer& answer) {
    AskTree tree{{"n", answer.number}, {"h", answer.host}};
    if (!answer.numbers.empty()) {
        auto numbers = AskTree::array();
        // Nine digits are enough, except for whole numbers such as hashes and seconds.
        for (const double number : answer.numbers)
            if (number == std::floor(number) && std::abs(number) < 9e15)
                numbers.push_back(static_cast<std::int64_t>(number));
            else numbers.push_back(number);
        tree["v"] = std::move(numbers);
    }
    if (!answer.findings.empty()) {
        auto findings = AskTree::array();
        for (const auto& finding : answer.findings)
            findings.push_back(AskTree::array({finding.check, static_cast<unsigned>(finding.severity), finding.text}));
        tree["f"] = std::move(findings);
    }
    if (!answer.failed.empty()) tree["e"] = answer.failed;
    if (answer.hangs) tree["s"] = true;
    return tree;
}

// Cuts between characters, and adds a mark.
void cut(std::string& text, std::size_t bytes) {
    constexpr std::string_view mark = "…";
    if (text.size() <= bytes) return;
    bytes -= mark.size();
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    text.resize(bytes);
    text += mark;
}

// The answer with the first `kept` findings, and texts of at most `text_bytes` bytes.
std::string encoded(NodeAnswer answer, std::size_t kept, std::size_t text_bytes) {
    const auto dropped = answer.findings.size() - kept;
    if (dropped > 0) {
        answer.findings.resize(kept + 1);
        answer.findings.back().text = fmt::format("and {} more", dropped);
    }
    cut(answer.failed, text_bytes);
    for (auto& value : answer.findings) cut(value.text, text_bytes);
    return dumped(tree_of(answer));
}

}  // namespace

std::string encode(const Question& question) {
    AskTree tree{{"n", question.number}, {"task", task_names[static_cast<std::size_t>(question.task)]}};
    if (!question.path.empty()) tree["path"] = question.path;
    if (question.bytes != 0) tree["bytes"] = question.bytes;
    if (question.deadline_ms != 0) tree["deadline_ms"] = question.deadline_ms;
    if (!question.ranks.empty()) tree["ranks"] = question.ranks;
    if (question.task == Task::check || question.task == Task::speed) {
        const auto& needs = question.needs;
        tree["needs"] = AskTree::array({needs.staging, needs.target, needs.application_bytes, needs.slot_bytes,
                                        needs.slots, needs.agent_bytes, needs.binary});
    }
    if (question.task == Task::check) tree["rules"] = tree_of_rules(question.rules);
    return dumped(tree);
}

Result<Question> decode_question(std::string_view line) {
    const Error wrong{ErrorKind::corrupt, "this is not a question of preflight"};
    const auto document = json::Document::parse(line);
    if (!document) return wrong;
    const auto root = document->root();
    const auto number = root.member("n").u64();
    const auto task = std::ranges::find(task_names, root.member("task").text().value_or("")) - task_names.begin();
    if (!number || static_cast<std::size_t>(task) >= task_names.size()) return wrong;
    Question question{.number = *number, .task = static_cast<Task>(task)};
    question.path = root.member("path").text().value_or("");
    // Bounded, because any text may arrive.
    question.bytes = root.member("bytes").u64(1ull << 40).value_or(0);
    question.deadline_ms = root.member("deadline_ms").u64(INT32_MAX).value_or(0);
    question.ranks = root.member("ranks").text().value_or("");
    if (const auto needs = root.member("needs"); needs.exists()) {
        const auto texts = [&](std::size_t i) { return needs.entry(i).text().value_or(""); };
        const auto sizes = [&](std::size_t i) { return needs.entry(i).u64(1ull << 60).value_or(0); };
        question.needs = {texts(0), texts(1), sizes(2), sizes(3), std::min<std::uint64_t>(sizes(4), 1u << 20),
                          sizes(5), texts(6)};
    }
    if (const auto rules = root.member("rules"); rules.exists()) {
        const auto read = rules_of(rules);
        if (!read) return wrong;
        question.rules = *read;
    }
    return question;
}

std::string encode(NodeAnswer answer) {
    std::ranges::stable_sort(answer.findings, std::ranges::greater(), &format::Finding::severity);
    cut(answer.host, host_bytes_max);
    auto kept = answer.findings.size();
    // Mild and later findings are dropped before a text is shortened: half a sentence helps nobody.
    for (; kept > 1; --kept)
        if (auto text = encoded(answer, kept, text_bytes_max); text.size() <= answer_bytes_max) return text;
    for (;; --kept)
        for (const std::size_t text_bytes :
             {text_bytes_max, std::size_t{200}, std::size_t{90}, std::size_t{60}, text_bytes_min}) {
            auto text = encoded(answer, kept, text_bytes);
            if (text.size() <= answer_bytes_max || (kept == 0 && text_bytes == text_bytes_min)) return text;
        }
}

Result<NodeAnswer> decode_answer(std::string_view line) {
    const Error wrong{ErrorKind::corrupt, "this is not the answer of a node"};
    const auto document = json::Document::parse(line);
    if (!document) return wrong;
    const auto root = document->root();
    const auto number = root.member("n").u64();
    const auto host = root.member("h").text();
    if (!number || !host) return wrong;
    NodeAnswer answer{.number = *number, .host = show_text(*host)};
    const auto numbers = root.member("v"), findings = root.member("f");
    // Any text may arrive, so the lists are bounded.
    if (numbers.list().value_or(0) > numbers_max || findings.list().value_or(0) > findings_max) return wrong;
    for (std::size_t i = 0; i < numbers.list().value_or(0); ++i) {
        const auto f64 = numbers.entry(i).f64();
        if (!f64 || !std::isfinite(*f64)) return wrong;
        answer.numbers.push_back(*f64);
    }
    for (std::size_t i = 0; i < findings.list().value_or(0); ++i) {
        const auto entry = findings.entry(i);
        const auto check = entry.entry(0).text(), text = entry.entry(2).text();
        const auto severity = entry.entry(1).u64(2);
        if (!check || !text || !severity) return wrong;
        answer.findings.push_back(
            {.check = show_text(*check), .severity = static_cast<Severity>(*severity), .text = show_text(*text)});
    }
    answer.failed = show_text(root.member("e").text().value_or(""));
    answer.hangs = root.member("s").flag().value_or(false);
    return answer;
}

}  // namespace forebay::advice
