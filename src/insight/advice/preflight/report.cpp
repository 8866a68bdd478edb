#include "insight/advice/preflight/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "core/describe/host_list.hpp"

namespace forebay::advice {

using format::Finding;
using format::Severity;

namespace {

// The most of one check and severity; the rest share a line.
constexpr std::size_t shown_alike_max = 8;
// With fewer nodes the share of bad nodes has no meaning.
constexpr std::uint64_t spares_nodes_min = 8;
constexpr std::size_t subject_width = 16, check_width = 12;

const char* word_of(Severity severity) {
    constexpr std::array words{"note", "WARN", "FAIL"};
    return words[static_cast<std::size_t>(severity)];
}

Severity worst_of(const std::vector<Finding>& findings) {
    Severity worst = Severity::note;
    for (const auto& finding : findings) worst = std::max(worst, finding.severity);
    return worst;
}

std::string show_tally(const char* what, const Tally& tally) {
    return fmt::format("{}  {} pass  {} warn  {} fail", what, tally.pass, tally.warn, tally.fail);
}

// The slowest part, which all nodes wait for.
std::string cost_of(const format::Advice& advice) {
    double ratio = 1;
    for (const auto& finding : advice.findings)
        if (finding.ratio > 0 && finding.ratio < 1 && finding.severity != Severity::note &&
            (finding.check == "target-speed" || (finding.check == "node-speed" && finding.text.starts_with("drain"))))
            ratio = std::min(ratio, finding.ratio);
    if (ratio >= 1) return {};
    return fmt::format("  cost if ignored: a drain on all nodes takes {:.1f} times as long\n", 1 / ratio);
}

std::string measured_line(const format::Advice& advice) {
    std::string text;
    for (const auto& [name, what] : {std::pair{"save_rate_bytes_per_second", "copy {} a node"},
                                     {"drain_rate_bytes_per_second", "drain {} a node"},
                                     {"storage_target_rate_bytes_per_second", "probes {} a storage target"}})
        if (const auto* rate = format::find(advice.measures, name))
            text += fmt::format("{}{} (n {})", text.empty() ? "" : ", ",
                                fmt::format(fmt::runtime(what), show_rate(rate->value)), rate->samples);
    return text.empty() ? text : fmt::format("  medians: {}\n", text);
}

}  // namespace

std::vector<std::string> lines_to_paste(const PreflightOutcome& outcome, const PreflightRequest& request,
                                        const Pasting& pasting) {
    std::vector<std::string> lines;
    const auto& nodes = outcome.advice.excluded_nodes;
    if (!nodes.empty()) {
        if (pasting.slurm || !pasting.pbs) lines.push_back("#SBATCH --exclude=" + describe::show_hosts(nodes));
        if (pasting.pbs && !pasting.good_hosts)
            lines.push_back(
                fmt::format("grep -vxFf {}/exclude.nodes $PBS_NODEFILE > {}/nodes.good", pasting.out, pasting.out));
        if (pasting.pbs || pasting.good_hosts)
            lines.push_back(fmt::format("mpiexec --hostfile {}/nodes.good", pasting.out));
        lines.push_back(fmt::format("exclude_nodes = \"@{}/exclude.nodes\"  # [agent] of forebay.toml", pasting.out));
    }
    if (!outcome.excluded_osts.empty() && !outcome.good_osts.empty()) {
        auto good = outcome.good_osts;
        std::ranges::sort(good);
        lines.push_back(fmt::format("lfs setstripe -o {} -c {} -S 64M {}", describe::show_numbers(good), good.size(),
                                    pasting.target));
        lines.push_back(
            fmt::format("exclude_targets = \"@{}/exclude.targets\"  # [agent] of forebay.toml", pasting.out));
    }
    const auto all = outcome.nodes.pass + outcome.nodes.warn + outcome.nodes.fail;
    const auto wanted = request.nodes_wanted > 0 ? request.nodes_wanted : all;
    if (all >= spares_nodes_min && (outcome.nodes.fail > 0 || all < wanted)) {
        const auto spares = spares_for(wanted, all, outcome.nodes.fail);
        lines.push_back(fmt::format("# for {} good nodes ask for {}: {} spares are enough 99 times of 100", wanted,
                                    wanted + spares, spares));
    }
    return lines;
}

std::string screen_of(const PreflightOutcome& outcome, const PreflightRequest& request,
                      const std::vector<Finding>& findings) {
    const auto& advice = outcome.advice;
    const auto nodes = outcome.nodes.pass + outcome.nodes.warn + outcome.nodes.fail;
    const auto targets = outcome.targets.pass + outcome.targets.warn + outcome.targets.fail;
    const auto worst = worst_of(findings);
    auto text = "forebay preflight  " + show_count(nodes, "node");
    if (targets > 0) text += "  " + show_count(targets, "storage target");
    text += fmt::format("  {}  {}\n", show_seconds(outcome.seconds), worst == Severity::note ? "PASS" : word_of(worst));
    text += "  " + show_tally("nodes", outcome.nodes);
    if (targets > 0) text += "    " + show_tally("targets", outcome.targets);
    text += "\n";
    std::map<std::pair<std::string, Severity>, std::vector<std::string>> more;
    std::map<std::pair<std::string, Severity>, std::size_t> shown;
    for (const auto& finding : findings) {
        const std::pair alike(finding.check, finding.severity);
        // A note is shown once, for interested readers.
        if (++shown[alike] > (finding.severity == Severity::note ? 1 : shown_alike_max)) {
            more[alike].push_back(finding.subject);
            continue;
        }
        text += fmt::format("  {} {:{}} {:{}} {}\n", word_of(finding.severity), show_text(finding.subject),
                            subject_width, finding.check, check_width, show_text(finding.text));
    }
    for (const auto& [alike, subjects] : more)
        text += fmt::format("  {} {} more {}: {}\n", word_of(alike.second), subjects.size(), alike.first,
                            show_text(describe::show_hosts(subjects)));
    text += cost_of(advice) + measured_line(advice);
    if (request.needs.target.empty() && request.targets.empty())
        text += "  storage was not checked: give --target DIR, the directory for runs\n";
    for (const auto& line : advice.lines) text += "  " + show_text(line) + "\n";
    return text;
}

}  // namespace forebay::advice
