#include "program/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "program/plan/plan_options.hpp"
#include "program/snapshot_words.hpp"

namespace forebay::cli {

namespace {

using advice::Unit;
using format::Advice;
using format::Measure;

constexpr std::size_t from_columns_max = 36;

double planned_value(const Advice& plan, std::string_view name) {
    const auto* measure = format::find(plan.measures, name);
    return measure != nullptr ? measure->value : 0;
}

Unit planned_unit(std::string_view name) {
    for (const auto& kind : advice::input_kinds())
        if (kind.name == name) return kind.unit;
    if (name.ends_with("_seconds") || name.ends_with("_seconds_closed")) return Unit::seconds;
    if (name.ends_with("_bytes_per_second")) return Unit::rate;
    return name.ends_with("_bytes") ? Unit::bytes : Unit::share;
}

std::string show_planned(std::string_view name, double value) {
    const auto unit = planned_unit(name);
    if (unit == Unit::share) return fmt::format("{:.4g}", value);
    if (name == "ends_in_seconds" && value <= 0) return "now";
    return show_plan_value(unit, value);
}

std::string show_planned(const Advice& plan, std::string_view name) {
    return show_planned(name, planned_value(plan, name));
}

std::string shortened_origin(const std::string& text) {
    return text.size() <= from_columns_max ? text : "..." + text.substr(text.size() - from_columns_max + 3);
}

// Assumptions without an effect are left out.
bool tells_nothing(const Measure& input) {
    if (input.name.starts_with("measured_")) return true;
    if (input.origin != format::MeasureOrigin::assumed) return false;
    return input.value == 0 || input.name == "targets" || input.name == "variables" || input.name == "rendezvous" ||
           input.name == "copy_every_saves" || input.name.ends_with("_ratio");
}

Shown inputs_text(const Advice& plan) {
    Table table({{" input"}, {"value", true}, {"cv", true}, {"n", true}, {"origin"}, {"from"}});
    for (const auto& input : plan.measures) {
        const auto& kinds = advice::input_kinds();
        if (std::ranges::find(kinds, input.name, &advice::InputKind::name) == kinds.end() || tells_nothing(input))
            continue;
        table.row({" " + input.name, show_planned(input.name, input.value),
                   input.cv > 0 ? fmt::format("{:.2f}", input.cv) : "",
                   input.samples > 1 ? fmt::format("{}", input.samples) : "", format::name_of(input.origin),
                   shortened_origin(input.from)});
    }
    return table.text();
}

Shown predictions_text(const Advice& plan) {
    Table table({{" predicted"}, {"closed form", true}, {"simulated", true}, {"p10", true}, {"p90", true}, {"what"}});
    const auto row = [&](const char* label, const char* closed, const char* name, const char* what) {
        const auto* measure = format::find(plan.measures, name);
        if (measure == nullptr) return;
        const bool simulated = measure->samples > 0;
        table.row({fmt::format(" {}", label), closed[0] != '\0' ? show_planned(plan, closed) : "",
                   simulated ? show_planned(name, measure->value) : "",
                   simulated ? show_planned(name, measure->low) : "",
                   simulated ? show_planned(name, measure->high) : "", what});
    };
    row("progress", "forward_progress_closed", "forward_progress", "computing that counts, of all the time");
    row("copy", "save_seconds", "save_seconds", "into the slot, without waits");
    row("visible", "visible_seconds_closed", "visible_seconds", "of a save to the application");
    row("drain", "drain_seconds_closed", "drain_seconds", "from the seal to the commit");
    row("slack", "", "slack", "computing between saves / drain");
    row("hidden", "hidden_ratio", "hidden_ratio", "of copy and drain");
    row("overhead", "overhead_ratio", "overhead_ratio", "visible / computing between saves");
    row("restart", "restart_seconds", "restart_seconds", "of a failure");
    row("failures", "", "failures", "of the whole run");
    row("lost work", "", "lost_work_seconds", "of the whole run");
    row("whole run", "", "wall_seconds", "");
    return table.text();
}

Shown rows_text(const Advice& plan) {
    Table table({{" what if"},
                 {"progress", true},
                 {"p10", true},
                 {"p90", true},
                 {"visible", true},
                 {"drain", true},
                 {"slack", true},
                 {"whole run", true}});
    for (const auto& row : plan.rows) {
        const auto value = [&](const char* name) {
            const auto* measure = format::find(row.measures, name);
            return measure != nullptr ? show_planned(name, measure->value) : "";
        };
        const auto* progress = format::find(row.measures, "forward_progress");
        if (progress == nullptr) continue;
        const auto label = row.setting.empty() ? "as planned" : row.setting[0].first + " = " + row.setting[0].second;
        table.row({" " + label, fmt::format("{:.3f}", progress->value), fmt::format("{:.3f}", progress->low),
                   fmt::format("{:.3f}", progress->high), value("visible_seconds"), value("drain_seconds"),
                   value("slack"), value("wall_seconds")});
    }
    return table.text();
}

// The parts that closed forms ignore.
std::string why_intervals_differ(const Advice& plan) {
    return fmt::format(
        "only the simulator counts{} restarts ({}) and whole steps ({}); a gain below 0.05 % changes nothing",
        planned_value(plan, "slots") >= 1 ? fmt::format(" drains ({}),", show_planned(plan, "drain_seconds_closed"))
                                          : "",
        show_planned(plan, "restart_seconds"), show_planned(plan, "step_seconds"));
}

Shown intervals_text(const Advice& plan) {
    const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
    const double bytes = planned_value(plan, "node_bytes") * planned_value(plan, "nodes");
    Shown text;
    if (planned_value(plan, "mtbf_seconds") > 0) {
        text = lines(" interval  Young {}, Daly {}, simulator {}: every {}\n", show_planned(plan, "young_seconds"),
                     show_planned(plan, "daly_seconds"), show_planned(plan, "best_interval_seconds"),
                     plan.chosen[0].second == "1" ? "step" : plan.chosen[0].second + " steps");
        text += Shown{wrapped("           ", why_intervals_differ(plan))};
    } else {
        text = Shown{" interval  nothing fails: save as rarely as you need results\n"};
    }
    if (format::find(plan.measures, "target_level_seconds") != nullptr)
        text += lines(" levels    staged each {}, at the target each {}\n", show_planned(plan, "staged_level_seconds"),
                      show_planned(plan, "target_level_seconds"));
    text += lines(" storage   {} x {} = {}; all saves write {}\n", whole(planned_value(plan, "kept_snapshots")),
                  show_plan_value(Unit::bytes, bytes), show_planned(plan, "kept_bytes"),
                  show_planned(plan, "written_bytes"));
    if (planned_value(plan, "placement_random_ratio") > 0)
        text += lines(" placement fullest target / mean: {:.3f} at random, {:.3f} in turn\n",
                      planned_value(plan, "placement_random_ratio"), planned_value(plan, "placement_even_ratio"));
    return text;
}

}  // namespace

Shown plan_text(const Advice& plan, const std::string& title) {
    Shown text = lines("forebay plan{}{}\n {} nodes, {} each, a save every {:.6g} x {}\n", title.empty() ? "" : "  ",
                       title, show_planned("nodes", planned_value(plan, "nodes")), show_planned(plan, "node_bytes"),
                       planned_value(plan, "save_every_steps"), show_planned(plan, "step_seconds"));
    text += inputs_text(plan);
    if (format::find(plan.measures, "forward_progress") != nullptr) {
        text += predictions_text(plan);
        text += intervals_text(plan);
        if (plan.rows.size() > 1) text += rows_text(plan);
    }
    for (const auto& finding : plan.findings)
        text += Shown{wrapped(fmt::format(" {:<9} ", format::name_of(finding.severity)), show_text(finding.text))};
    return text;
}

Shown comparison_text(const std::vector<advice::Compared>& rows, const std::string& happened) {
    Table table({{" compared"}, {"predicted", true}, {happened, true}, {"off", true}, {""}});
    for (const auto& row : rows)
        table.row({" " + row.name, show_planned(row.name, row.predicted), show_planned(row.name, row.happened),
                   std::isfinite(row.off) ? fmt::format("{:+.1f} %", row.off * 100) : "all",
                   row.good() ? "" : "off by more than 15 %"});
    return table.text();
}

}  // namespace forebay::cli
