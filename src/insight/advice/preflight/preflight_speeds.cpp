#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "core/base/splitmix.hpp"
#include "core/base/units.hpp"
#include "core/describe/host_list.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "insight/advice/preflight/leader.hpp"
#include "insight/advice/preflight/preflight.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

namespace {

using telemetry::median_of;

constexpr double spares_chance = 0.99;
// A rate after the run below this share of the rate before counts as worse.
constexpr double worse_ratio = 0.8;
constexpr std::uint64_t spares_max = 100'000;

const std::array speed_names{"staging", "checksums", "drain"};
const std::array speed_measures{"save_rate_bytes_per_second", "checksum_rate_bytes_per_second",
                                "drain_rate_bytes_per_second"};

std::string show_ratio(const SlowTest::Verdict& verdict, double median) {
    return fmt::format("{}, {:.2f} of the median {} ({} probes)", show_rate(verdict.rate), verdict.ratio,
                       show_rate(median), verdict.probes);
}

std::vector<double> rates_of(const std::vector<SlowTest::Verdict>& verdicts) {
    std::vector<double> rates;
    for (const auto& verdict : verdicts)
        if (verdict.probes > 0 && verdict.standing != Decision::open) rates.push_back(verdict.rate);
    return rates;
}

Measure one_number(std::string name, double value, std::uint64_t samples, std::string from,
                   format::MeasureOrigin origin = format::MeasureOrigin::measured) {
    return {.name = std::move(name), .value = value, .samples = samples, .origin = origin, .from = std::move(from)};
}

}  // namespace

void Preflight::judge_rates(const SlowTest& walk, std::size_t which, const char* what,
                            const std::vector<std::size_t>& whom) {
    const auto verdicts = walk.verdicts(which);
    const auto& limits = rule(CheckKind::node_speed);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const auto& verdict = verdicts[i];
        Finding finding{.subject = names_[whom[i]], .ratio = verdict.ratio, .z = verdict.z, .samples = verdict.probes};
        if (verdict.standing == Decision::unclear) {
            finding.severity = Severity::warn;
            finding.text =
                fmt::format("{}: unclear after {} probes ({:.2f} of the median)", what, verdict.probes, verdict.ratio);
        } else if (verdict.standing == Decision::slow && verdict.ratio < limits.warn) {
            finding.severity = verdict.ratio < limits.fail ? Severity::fail : Severity::warn;
            finding.text = fmt::format("{}: {}", what, show_ratio(verdict, walk.median(which)));
        } else {
            continue;
        }
        add(CheckKind::node_speed, std::move(finding));
    }
}

void Preflight::measure_nodes() {
    if (request_.probe_bytes == 0 || !rule(CheckKind::node_speed).on) return;
    const auto whom = alive();
    // Draining two nodes of one host at once measures neither, so a host counts as their server.
    std::vector<std::string> hosts;
    hosts.reserve(whom.size());
    for (const auto node : whom) hosts.push_back(answers_[node]->host);
    const std::size_t rates = request_.needs.target.empty() ? 2 : 3;
    SlowTest walk(std::move(hosts), rates, request_.seed);
    const auto unprobed = survey(
        talk_, walk,
        {.node_for = [&](std::size_t i) { return talk_.is_silent(whom[i]) ? std::nullopt : std::optional(whom[i]); },
         .question =
             [&](std::size_t) {
                 return Question{.task = Task::speed, .bytes = request_.probe_bytes, .needs = request_.needs};
             },
         .at_most = rule(CheckKind::node_speed).deadline,
         .at_once = request_.at_once,
         .node_is_subject = true,
         .progress = [&](std::uint64_t probes) { tell("speed of nodes", probes, 3 * whom.size()); }});
    for (const auto& [i, why] : unprobed)
        add(CheckKind::node_speed, {.subject = names_[whom[i]], .severity = Severity::fail, .text = why});
    double slow = 0;
    std::vector<double> ratios;
    for (std::size_t which = 0; which < rates; ++which) {
        judge_rates(walk, which, speed_names[which], whom);
        const auto verdicts = walk.verdicts(which);
        const auto all = rates_of(verdicts);
        if (!all.empty())
            measures_.push_back(
                spread_of(speed_measures[which], all, walk.probes(),
                          fmt::format("{} probes of {}", walk.probes(), show_bytes(request_.probe_bytes))));
        // The last rate decides about slow nodes: the drain, if there is a target.
        if (which + 1 < rates) continue;
        for (const auto& verdict : verdicts)
            if (verdict.standing == Decision::slow) ratios.push_back(verdict.ratio);
        slow = static_cast<double>(ratios.size()) / std::max<double>(1, static_cast<double>(verdicts.size()));
    }
    if (whom.empty()) return;
    measures_.push_back(one_number("slow_node_share", slow, whom.size(), "the sequential test"));
    if (!ratios.empty())
        measures_.push_back(spread_of("slow_node_ratio", ratios, ratios.size(), "slow nodes to the median"));
}

void Preflight::name_server(const SlowTest& walk, const std::string& server) {
    const auto verdicts = walk.verdicts(0);
    std::vector<std::uint64_t> osts;
    std::vector<std::string> names;
    double low = 1e9, high = 0;
    std::uint64_t all = 0, probes = 0;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const auto& target = request_.targets[i];
        if (target.server != server) continue;
        ++all;
        if (verdicts[i].standing != Decision::slow) continue;
        if (target.ost >= 0) osts.push_back(static_cast<std::uint64_t>(target.ost));
        names.push_back(target.name);
        low = std::min(low, verdicts[i].ratio);
        high = std::max(high, verdicts[i].ratio);
        probes += verdicts[i].probes;
    }
    std::ranges::sort(osts);
    const auto shown =
        osts.size() == names.size() ? describe::show_numbers(osts) : fmt::format("{}", fmt::join(names, ", "));
    add(CheckKind::target_speed,
        {.subject = server,
         .severity = Severity::fail,
         .text =
             fmt::format("targets {}: {:.2f}-{:.2f} of the median {}, {} of the {} of this server: the server is slow",
                         shown, low, high, show_rate(walk.median(0)), names.size(), all),
         .ratio = low,
         .samples = probes});
}

void Preflight::judge_targets(const SlowTest& walk, const Unprobed& unprobed) {
    const auto servers = walk.slow_servers(0);
    for (const auto& server : servers) name_server(walk, server);
    const auto verdicts = walk.verdicts(0);
    const auto& limits = rule(CheckKind::target_speed);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const auto& verdict = verdicts[i];
        const auto& target = request_.targets[i];
        Finding finding{.subject = target.name, .ratio = verdict.ratio, .z = verdict.z, .samples = verdict.probes};
        if (const auto why = unprobed.find(i); why != unprobed.end()) {
            finding.severity = Severity::fail;
            finding.text = why->second;
        } else if (verdict.standing == Decision::unclear || verdict.standing == Decision::open) {
            finding.severity = Severity::warn;
            finding.text = fmt::format("unclear after {} probes ({:.2f} of the median)", verdict.probes, verdict.ratio);
        } else if (verdict.standing == Decision::slow && verdict.ratio < limits.warn) {
            finding.severity = verdict.ratio < limits.fail ? Severity::fail : Severity::warn;
            finding.text = show_ratio(verdict, walk.median(0));
        } else {
            continue;
        }
        if (std::min(finding.severity, limits.most) == Severity::fail && limits.on) bad_targets_.insert(target.name);
        // Reported with its server.
        if (verdict.standing == Decision::slow && std::ranges::find(servers, target.server) != servers.end()) continue;
        add(CheckKind::target_speed, std::move(finding));
    }
}

void Preflight::measure_targets() {
    if (request_.targets.empty() || request_.probe_bytes == 0 || !rule(CheckKind::target_speed).on) return;
    std::vector<std::string> servers;
    for (std::size_t i = 0; i < request_.targets.size(); ++i)
        // A unique name for each target without a known server.
        servers.push_back(request_.targets[i].server.empty() ? fmt::format("\n{}", i) : request_.targets[i].server);
    SlowTest walk(std::move(servers), 1, splitmix(request_.seed, 1));
    const auto probers = alive();
    std::size_t turn = 0;
    const auto node_for = [&](std::size_t) -> std::optional<std::size_t> {
        // The least busy node, and among equals the next, so that probes spread over the nodes.
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < probers.size(); ++i) {
            const auto node = probers[(turn + i) % probers.size()];
            if (talk_.is_silent(node) || talk_.out_at(node) >= request_.probes_a_node) continue;
            if (!best || talk_.out_at(node) < talk_.out_at(*best)) best = node;
            // No node is less busy than an idle node.
            if (talk_.out_at(*best) == 0) break;
        }
        ++turn;
        return best;
    };
    const auto unprobed = survey(
        talk_, walk,
        {.node_for = node_for,
         .question =
             [&](std::size_t i) {
                 return Question{
                     .task = Task::target, .path = request_.targets[i].directory, .bytes = request_.probe_bytes};
             },
         .at_most = rule(CheckKind::target_speed).deadline,
         .at_once = request_.at_once,
         .progress = [&](std::uint64_t probes) { tell("storage targets", probes, 3 * request_.targets.size()); }});
    judge_targets(walk, unprobed);
    const auto verdicts = walk.verdicts(0);
    const auto rates = rates_of(verdicts);
    if (rates.empty()) return;
    const auto from = fmt::format("{} probes of {}", walk.probes(), show_bytes(request_.probe_bytes));
    measures_.push_back(spread_of("storage_target_rate_bytes_per_second", rates, walk.probes(), from));
    double sum = 0;
    std::vector<double> slow;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        // Bad targets will be excluded, so a plan must not count them.
        if (!bad_targets_.contains(request_.targets[i].name)) sum += verdicts[i].rate;
        if (verdicts[i].standing == Decision::slow) slow.push_back(verdicts[i].ratio);
    }
    measures_.push_back(one_number("target_rate_bytes_per_second", sum, walk.probes(),
                                   "the sum over good storage targets, each probed alone"));
    measures_.push_back(one_number("slow_target_share",
                                   static_cast<double>(slow.size()) / static_cast<double>(verdicts.size()),
                                   verdicts.size(), "the sequential test"));
    if (!slow.empty())
        measures_.push_back(spread_of("slow_target_ratio", slow, slow.size(), "slow storage targets to the median"));
}

std::string Preflight::machine_of(std::size_t node) const {
    return answers_[node] ? answers_[node]->host : nodes_.name(node);
}

std::size_t Preflight::machines(const std::vector<std::size_t>& nodes) const {
    std::set<std::string> hosts;
    for (const auto node : nodes) hosts.insert(machine_of(node));
    return hosts.size();
}

void Preflight::tally(PreflightOutcome& outcome) const {
    std::map<std::string, Severity> worst;
    for (const auto& finding : findings_) worst[finding.subject] = std::max(worst[finding.subject], finding.severity);
    const auto count = [&](Tally& tally, const std::string& name, bool fails) {
        const auto match = worst.find(name);
        const auto severity = fails ? Severity::fail : match == worst.end() ? Severity::note : match->second;
        ++(severity == Severity::fail ? tally.fail : severity == Severity::warn ? tally.warn : tally.pass);
    };
    // A machine with several ranks is as bad as its worst rank.
    std::map<std::string, std::string> worst_names;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const auto [known, is_new] = worst_names.emplace(machine_of(i), names_[i]);
        if (!is_new && worst[names_[i]] > worst[known->second]) known->second = names_[i];
    }
    for (const auto& [machine, name] : worst_names) count(outcome.nodes, name, false);
    std::set<std::string> targets;
    for (const auto& target : request_.targets) targets.insert(target.name);
    for (const auto& ost : request_.osts) targets.insert(ost.state.name);
    for (const auto& name : targets) count(outcome.targets, name, bad_targets_.contains(name));
}

void Preflight::exclude(PreflightOutcome& outcome) {
    auto& advice = outcome.advice;
    std::set<std::string> bad_nodes;
    for (const auto& finding : findings_)
        if (finding.severity == Severity::fail && finding.check == "targets") bad_targets_.insert(finding.subject);
    for (std::size_t i = 0; i < names_.size(); ++i)
        for (const auto& finding : findings_)
            if (finding.severity == Severity::fail && finding.subject == names_[i])
                // Schedulers exclude hosts, not ranks.
                bad_nodes.insert(answers_[i] ? answers_[i]->host : names_[i]);
    advice.excluded_nodes.assign(bad_nodes.begin(), bad_nodes.end());
    for (const auto& target : request_.targets) {
        const bool bad = bad_targets_.contains(target.name);
        if (bad) advice.excluded_targets.push_back(target.name);
        if (target.ost >= 0)
            (bad ? outcome.excluded_osts : outcome.good_osts).push_back(static_cast<std::uint64_t>(target.ost));
    }
    for (const auto& ost : request_.osts) {
        // Probed targets are handled above.
        const bool probed =
            std::ranges::find(request_.targets, ost.state.name, &StorageTarget::name) != request_.targets.end();
        if (probed || !bad_targets_.contains(ost.state.name)) continue;
        advice.excluded_targets.push_back(ost.state.name);
        outcome.excluded_osts.push_back(ost.state.index);
    }
    const auto& targets = outcome.targets;
    outcome.all_nodes_fail = outcome.nodes.pass + outcome.nodes.warn == 0 && !bad_nodes.empty();
    outcome.all_targets_fail = advice.excluded_targets.size() == targets.pass + targets.warn + targets.fail &&
                               !advice.excluded_targets.empty();
    // A script that obeys the lists would exclude everything, so they are emptied.
    if (outcome.all_nodes_fail) {
        advice.excluded_nodes.clear();
        findings_.push_back({.check = "exclude", .severity = Severity::warn, .text = std::string(all_nodes_fail_text)});
    }
    if (outcome.all_targets_fail) {
        advice.excluded_targets.clear();
        outcome.excluded_osts.clear();
        findings_.push_back(
            {.check = "exclude", .severity = Severity::warn, .text = std::string(all_targets_fail_text)});
    }
}

PreflightOutcome Preflight::finish() {
    PreflightOutcome outcome;
    auto& advice = outcome.advice;
    if (talk_.over())
        add(CheckKind::answer,
            {.severity = Severity::warn,
             .text = fmt::format("the time of {} was not enough for all checks", show_seconds(request_.seconds_max))});
    tally(outcome);
    exclude(outcome);
    // The worst first, then by check and ratio.
    std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
        return std::tuple(b.severity, a.check, a.ratio, a.subject) <
               std::tuple(a.severity, b.check, b.ratio, b.subject);
    });
    advice.kind = "preflight";
    advice.made_unix_ns = sys::unix_ns();
    advice.made_by = fmt::format("forebay {} on {}", FOREBAY_VERSION, sys::host_name());
    std::vector<std::size_t> all(nodes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    advice.key = {{"nodes", std::to_string(machines(all))}, {"targets", std::to_string(request_.targets.size())}};
    const auto given = format::MeasureOrigin::given;
    measures_.push_back(one_number("nodes", static_cast<double>(machines(all)), 1, "preflight"));
    measures_.push_back(one_number("measured_nodes", static_cast<double>(machines(alive())), 1, "preflight"));
    if (!request_.targets.empty())
        measures_.push_back(one_number("targets", static_cast<double>(request_.targets.size()), 1, "preflight"));
    if (request_.needs.slot_bytes > 0) {
        measures_.push_back(
            one_number("node_bytes", static_cast<double>(request_.needs.slot_bytes), 1, "--bytes-per-node", given));
        measures_.push_back(one_number("slots", static_cast<double>(request_.needs.slots), 1, "--slots", given));
    }
    outcome.seconds = std::chrono::duration<double>(nodes_.now() - start_).count();
    measures_.push_back(one_number("preflight_seconds", outcome.seconds, 1, "preflight"));
    advice.measures = std::move(measures_);
    advice.findings = std::move(findings_);
    for (std::size_t i = 0; i < names_.size(); ++i)
        outcome.all_answered = outcome.all_answered && answers_[i] && !talk_.is_silent(i);
    return outcome;
}

// Binomial, with logarithms of factorials: 8,000 nodes with 1 % bad nodes need some 106 spares.
std::uint64_t spares_for(std::uint64_t wanted, std::uint64_t nodes, std::uint64_t bad) {
    if (wanted == 0) return 0;
    const double share = std::min(0.99, (static_cast<double>(bad) + 1) / (static_cast<double>(nodes) + 2));
    for (std::uint64_t spares = 0; spares < spares_max; ++spares) {
        const auto all = static_cast<double>(wanted + spares);
        double chance = 0;
        for (std::uint64_t k = 0; k <= spares; ++k) {
            const auto broken = static_cast<double>(k);
            chance += std::exp(std::lgamma(all + 1) - std::lgamma(broken + 1) - std::lgamma(all - broken + 1) +
                               broken * std::log(share) + (all - broken) * std::log1p(-share));
        }
        if (chance >= spares_chance) return spares;
        if (spares > 4 * wanted + 100) break;
    }
    return wanted;
}

std::vector<Finding> worse_than_before(const format::Advice& before, const format::Advice& after) {
    std::vector<Finding> worse;
    for (const auto& now : after.findings) {
        const auto same = [&](const Finding& then) {
            return then.check == now.check && then.subject == now.subject && then.severity >= now.severity;
        };
        if (now.severity != Severity::note && std::ranges::none_of(before.findings, same)) worse.push_back(now);
    }
    for (const auto& now : after.measures) {
        const auto* then = format::find(before.measures, now.name);
        if (then == nullptr || !now.name.ends_with("rate_bytes_per_second") || then->value <= 0) continue;
        if (const double ratio = now.value / then->value; ratio < worse_ratio)
            worse.push_back({.check = "after",
                             .severity = Severity::warn,
                             .text = fmt::format("{} is {}, before the run {}", now.name, show_rate(now.value),
                                                 show_rate(then->value)),
                             .ratio = ratio});
    }
    if (const auto* then = format::find(before.measures, "usable_memory_bytes"))
        if (const auto* now = format::find(after.measures, "usable_memory_bytes");
            now && now->low < worse_ratio * then->low)
            worse.push_back({.check = "after",
                             .severity = Severity::warn,
                             .text = fmt::format("the fullest nodes have {} of memory left, before the run {}",
                                                 show_bytes(static_cast<std::uint64_t>(now->low)),
                                                 show_bytes(static_cast<std::uint64_t>(then->low))),
                             .ratio = then->low > 0 ? now->low / then->low : 0});
    return worse;
}

}  // namespace forebay::advice
