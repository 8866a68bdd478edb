#include "insight/advice/preflight/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/units.hpp"
#include "core/describe/host_list.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/thread.hpp"
#include "insight/advice/preflight/leader.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

namespace {

using telemetry::median_of;
using telemetry::quantile_of;

// Nodes that time file creation: 100 files on each of 8,000 nodes would be a metadata storm.
constexpr std::size_t metadata_nodes_max = 64;
// Shorter times are not reported, however far from the median: no user would notice.
constexpr double metadata_seconds_min = 0.02;
// The shortest of so many round trips gives a clock's offset.
constexpr std::size_t clock_tries = 8;
constexpr std::chrono::seconds clocks_max{10};
constexpr std::size_t numbers_of_check = 5;

std::string without_numbers(const Finding& finding) {
    auto text = fmt::format("{} {} {}", finding.check, static_cast<int>(finding.severity), finding.text);
    std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    return text;
}

enum CheckNumber : std::size_t { usable_number, need_number, programs_number, binary_number, place_number };

}  // namespace

Measure spread_of(std::string name, const std::vector<double>& values, std::uint64_t samples, std::string from) {
    Measure measure{.name = std::move(name),
                    .value = median_of(values),
                    .low = quantile_of(values, 0.1),
                    .high = quantile_of(values, 0.9),
                    .samples = samples,
                    .origin = format::MeasureOrigin::measured,
                    .from = std::move(from)};
    double mean = 0, square = 0;
    for (const auto value : values) mean += value / static_cast<double>(values.size());
    for (const auto value : values) square += (value - mean) * (value - mean) / static_cast<double>(values.size());
    if (mean > 0) measure.cv = std::sqrt(square) / mean;
    return measure;
}

PreflightOutcome Preflight::run(const RunProgram& run) {
    // The site's programs may take as long as all other checks, so they run beside them.
    std::vector<Finding> of_site;
    const auto ask_site = [&] { check_site(request_.site, request_.rules, run, of_site); };
    auto beside = sys::Thread::start(ask_site);
    check_nodes();
    compare_nodes();
    time_metadata();
    compare_clocks();
    meet();
    measure_nodes();
    judge_osts(request_.osts, request_.rules, findings_);
    measure_targets();
    if (beside) beside->join();
    else ask_site();
    findings_.insert(findings_.end(), of_site.begin(), of_site.end());
    return finish();
}

void Preflight::check_nodes() {
    std::vector<std::size_t> all(nodes_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const Question question{.task = Task::check, .needs = request_.needs, .rules = request_.rules};
    std::map<std::size_t, std::string> silent;
    ask_each(all, "nodes", question, rule(CheckKind::answer).deadline, [&](const Talk::Reply& reply) {
        if (reply.answer && !reply.answer->hangs && reply.answer->failed.empty()) answers_[reply.node] = reply.answer;
        else if (!reply.answer) silent.emplace(reply.node, reply.why);
        else silent.emplace(reply.node, reply.answer->hangs ? "its checks hang" : reply.answer->failed);
    });
    name_nodes();
    for (const auto node : unheard_) silent.emplace(node, "was not checked in time");
    for (const auto& [node, why] : silent)
        add(CheckKind::answer, {.subject = names_[node], .severity = Severity::fail, .text = why});
    // Ranks on one machine report the same, except for changing numbers. It is reported once.
    std::map<std::string, std::set<std::string>> answers;  // by host
    for (std::size_t i = 0; i < answers_.size(); ++i) {
        if (!answers_[i]) continue;
        // A damaged answer may have fewer numbers.
        answers_[i]->numbers.resize(numbers_of_check);
        auto& before = answers[answers_[i]->host];
        std::set<std::string> own;
        for (auto finding : answers_[i]->findings) {
            const auto key = without_numbers(finding);
            own.insert(key);
            if (before.contains(key)) continue;
            finding.subject = names_[i];
            findings_.push_back(std::move(finding));
        }
        before.merge(own);
    }
}

// Nodes with equal host names also get the names by which we reach them.
void Preflight::name_nodes() {
    std::map<std::string, std::size_t> hosts;
    for (const auto& answer : answers_)
        if (answer) ++hosts[answer->host];
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (!answers_[i]) names_[i] = nodes_.name(i);
        else if (hosts[answers_[i]->host] == 1) names_[i] = answers_[i]->host;
        else names_[i] = fmt::format("{} ({})", answers_[i]->host, nodes_.name(i));
    }
}

void Preflight::compare_one(std::size_t number, CheckKind check, const char* what) {
    std::map<double, std::size_t> counts;
    for (const auto& answer : answers_)
        if (answer) ++counts[answer->numbers[number]];
    if (counts.size() < 2) return;
    // The majority counts as right.
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    for (std::size_t i = 0; i < answers_.size(); ++i)
        if (answers_[i] && answers_[i]->numbers[number] != most->first)
            add(check, {.subject = names_[i],
                        .severity = check == CheckKind::mounts ? Severity::fail : Severity::warn,
                        .text = fmt::format("{} than on {} others", what, most->second)});
}

void Preflight::compare_nodes() {
    compare_one(programs_number, CheckKind::mpi, "other programs and libraries");
    if (!request_.needs.binary.empty()) compare_one(binary_number, CheckKind::mpi, "another file of the application");
    if (!request_.needs.target.empty())
        compare_one(place_number, CheckKind::mounts, "the target is another file system");
    std::map<std::string, std::uint64_t> ranks;
    for (const auto& answer : answers_)
        if (answer) ++ranks[answer->host];
    std::map<std::uint64_t, std::size_t> counts;
    for (const auto& [host, count] : ranks) ++counts[count];
    if (counts.size() > 1)
        add(CheckKind::mpi, {.severity = Severity::warn, .text = "hosts have different numbers of ranks"});
    Numbers usable;
    for (const auto& answer : answers_)
        if (answer) usable.push_back(answer->numbers[usable_number]);
    if (!usable.empty())
        measures_.push_back(spread_of("usable_memory_bytes", usable, usable.size(), "MemAvailable, buddyinfo, cgroup"));
}

void Preflight::time_metadata() {
    if (request_.needs.target.empty() || !rule(CheckKind::metadata).on) return;
    auto whom = alive();
    // The chosen nodes are spread over all nodes.
    const auto step = std::max<std::size_t>(1, whom.size() / metadata_nodes_max);
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < whom.size() && some.size() < metadata_nodes_max; i += step) some.push_back(whom[i]);
    struct FileSeconds {
        double median = 0, worst = 0;
    };
    std::map<std::size_t, FileSeconds> times;
    ask_each(some, "metadata", {.task = Task::metadata, .path = request_.needs.target},
             rule(CheckKind::metadata).deadline, [&](const Talk::Reply& reply) {
                 if (reply.answer && reply.answer->failed.empty() && reply.answer->numbers.size() == 2)
                     times[reply.node] = {reply.answer->numbers.front(), reply.answer->numbers.back()};
                 else
                     add(CheckKind::metadata, {.subject = names_[reply.node],
                                               .severity = Severity::fail,
                                               .text = !reply.answer         ? reply.why
                                                       : reply.answer->hangs ? "creating and removing files hangs"
                                                                             : reply.answer->failed});
             });
    Numbers medians;
    for (const auto& [node, seconds] : times) medians.push_back(seconds.median);
    const double median = median_of(medians);
    for (const auto& [node, seconds] : times)
        if (seconds.worst > std::max(rule(CheckKind::metadata).warn * median, metadata_seconds_min))
            add(CheckKind::metadata,
                {.subject = names_[node],
                 .severity = seconds.worst > rule(CheckKind::metadata).fail * median ? Severity::fail : Severity::warn,
                 .text = fmt::format("to make and remove a file takes up to {}, and the median is {}",
                                     show_seconds(seconds.worst), show_seconds(median)),
                 .ratio = seconds.worst / median,
                 .samples = 100});
    if (!medians.empty())
        measures_.push_back(spread_of("metadata_seconds", medians, 100 * medians.size(), "create, look, remove"));
}

void Preflight::compare_clocks() {
    if (!rule(CheckKind::clock).on) return;
    // The seconds that a clock is ahead of this clock. It was read between question and answer, so the delays bound it.
    struct Clocked {
        double low = -1e9, high = 1e9;
    };
    std::map<std::size_t, Clocked> clocks;
    const Question question{.task = Task::clock};
    const auto whom = alive();
    const auto end = nodes_.now() + clocks_max;
    for (const auto node : whom) {
        if (nodes_.size() == 1 || nodes_.now() > end) break;
        for (std::size_t i = 0; i < clock_tries && !talk_.over(); ++i) {
            const auto asked = sys::unix_ns();
            talk_.ask(node, question, rule(CheckKind::clock).deadline, node);
            const auto reply = talk_.next();
            const auto heard = sys::unix_ns();
            if (!reply || !reply->answer || reply->answer->numbers.size() != 2) break;
            const auto seconds = reply->answer->numbers.front(), nanoseconds = reply->answer->numbers.back();
            const auto there =
                static_cast<std::int64_t>(seconds) * 1'000'000'000 + static_cast<std::int64_t>(nanoseconds);
            auto& known = clocks[node];
            // The shortest round trip gives the narrowest bounds.
            if (static_cast<double>(heard - asked) * 1e-9 < known.high - known.low)
                known = {static_cast<double>(there - heard) * 1e-9, static_cast<double>(there - asked) * 1e-9};
        }
    }
    // The first node's clock may be wrong, so the median counts. With two clocks the wrong one is unknown, so the
    // first counts.
    Numbers lows, highs;
    for (const auto& [node, clock] : clocks) {
        lows.push_back(clock.low);
        highs.push_back(clock.high);
    }
    const Clocked all{lows.size() == 2 ? lows.front() : median_of(lows),
                      highs.size() == 2 ? highs.front() : median_of(highs)};
    double largest = 0;
    for (const auto& [node, clock] : clocks) {
        const double off = (clock.low + clock.high - all.low - all.high) / 2;
        const double open = (clock.high - clock.low + all.high - all.low) / 2, sure = std::abs(off) - open;
        largest = std::max(largest, std::abs(off));
        if (sure > rule(CheckKind::clock).warn)
            add(CheckKind::clock,
                {.subject = names_[node],
                 .severity = sure > rule(CheckKind::clock).fail ? Severity::fail : Severity::warn,
                 .text = fmt::format("its clock is {} {} the median (error {})", show_seconds(std::abs(off)),
                                     off > 0 ? "ahead of" : "behind", show_seconds(open)),
                 .samples = clock_tries});
    }
    if (nodes_.size() > 1 && clocks.size() < whom.size())
        add(CheckKind::clock,
            {.severity = Severity::note,
             .text = fmt::format("only {} of {} clocks were compared in time", whom.size(), clocks.size())});
    if (!clocks.empty())
        measures_.push_back({.name = "clock_offset_seconds",
                             .value = largest,
                             .samples = clocks.size(),
                             .origin = format::MeasureOrigin::measured,
                             .from = "the largest, against the median of the nodes"});
}

void Preflight::meet() {
    if (!nodes_.can_meet() || !rule(CheckKind::mpi).on) return;
    const auto whom = alive();
    if (whom.size() < 2) return;
    const std::vector<std::uint64_t> ranks(whom.begin(), whom.end());
    Numbers rates;
    ask_each(whom, "MPI", {.task = Task::meet, .ranks = describe::show_numbers(ranks)}, rule(CheckKind::mpi).deadline,
             [&](const Talk::Reply& reply) {
                 if (reply.answer && reply.answer->failed.empty() && !reply.answer->hangs) {
                     if (!reply.answer->numbers.empty()) rates.push_back(reply.answer->numbers.front());
                     return;
                 }
                 add(CheckKind::mpi, {.subject = names_[reply.node],
                                      .severity = Severity::fail,
                                      .text = !reply.answer         ? "collective operations: " + reply.why
                                              : reply.answer->hangs ? "collective operations hang"
                                                                    : reply.answer->failed});
             });
    if (!rates.empty())
        measures_.push_back(spread_of("ring_rate_bytes_per_second", rates, rates.size(), "1 MiB to the next rank"));
}

PreflightOutcome run_preflight(Nodes& nodes, const PreflightRequest& request, const RunProgram& run) {
    return Preflight(nodes, request).run(run);
}

}  // namespace forebay::advice
