#include "insight/advice/tune/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/show_text.hpp"
#include "core/format/json_read.hpp"
#include "insight/advice/tune/profile.hpp"

namespace forebay::advice {

namespace {

using Tree = nlohmann::ordered_json;

// Foreign texts, such as paths, may not be UTF-8.
std::string line_of(const Tree& tree) { return tree.dump(-1, ' ', false, Tree::error_handler_t::replace) + "\n"; }

Error refusal(std::string_view line, const std::string& why) {
    return {ErrorKind::refused,
            fmt::format("the trial '{}' is refused: {}", show_text(std::string(line.substr(0, 200))), why), "",
            "write a line as {\"setting\": {\"agent.in_flight\": \"8\"}, \"share\": 0.25}, or {\"done\": true}"};
}

}  // namespace

std::string knobs_line(const Tuner& tuner, double budget) {
    auto list = Tree::array();
    for (const auto& knob : tuner.knobs())
        list.push_back({{"name", knob.name},
                        {"values", knob.values},
                        {"default", knob.values[knob.by_default]},
                        {"ordered", knob.ordered}});
    return line_of({{"knobs", list}, {"budget", budget}});
}

std::string outcome_line(const Tuner& tuner) {
    const auto& [trial, outcome, learned] = tuner.observations().back();
    Tree setting = Tree::object();
    for (const auto& [name, value] : setting_of(tuner.knobs(), trial.choice)) setting[name] = value;
    return line_of({{"setting", setting},
                    {"share", trial.share},
                    {"cost", outcome.error.empty() ? Tree(outcome.cost) : Tree(nullptr)},
                    {"learned", learned},
                    {"not_applied", outcome.not_applied},
                    {"error", outcome.error},
                    {"spent", tuner.spent()}});
}

bool is_whole(std::string_view text) {
    const auto document = format::json::Document::parse(text);
    return document && document->root().members();
}

Result<std::optional<Trial>> read_trial(std::string_view line, const std::vector<Knob>& knobs) {
    const auto document = format::json::Document::parse(line);
    if (!document) return refusal(line, "it is not JSON");
    const auto root = document->root();
    if (root.member("done").flag().value_or(false)) return std::optional<Trial>();
    Trial trial{.choice = {}, .share = 1, .why = Trial::Why::proposal};
    if (const auto share = root.member("share"); share.exists()) {
        trial.share = share.f64().value_or(0);
        if (!(trial.share > 0 && trial.share <= 1)) return refusal(line, "its share must be above 0 and at most 1");
    }
    const auto setting = root.member("setting");
    if (!setting.exists()) return refusal(line, "it has no setting");
    const auto members = setting.members();
    if (!members) return refusal(line, "its setting is not an object");
    std::size_t known = 0;
    for (const auto& knob : knobs) {
        auto& value = trial.choice.emplace_back(knob.by_default);
        const auto at = setting.member(knob.name.c_str());
        if (!at.exists()) continue;
        ++known;
        const auto match = std::ranges::find(knob.values, at.text().value_or(""));
        if (match == knob.values.end()) return refusal(line, knob.name + " does not have this value");
        value = static_cast<std::size_t>(match - knob.values.begin());
    }
    if (known != *members) return refusal(line, "its setting contains an unknown knob");
    return std::optional(trial);
}

}  // namespace forebay::advice
