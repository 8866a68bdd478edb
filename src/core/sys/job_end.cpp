#include "core/sys/job_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

namespace forebay::sys {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Finds a line "    NAME = VALUE" of `qstat -f`.
std::string_view attribute(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto equals = line.find(" = ");
        if (equals != std::string_view::npos && trimmed(line.substr(0, equals)) == name)
            return trimmed(line.substr(equals + 3));
    }
    return {};
}

// Reads "Sun Nov 22 10:00:00 2026" in the machine's time zone.
std::optional<std::int64_t> unix_seconds_of(std::string_view date) {
    std::tm fields{};
    const std::string text(date);
    const char* end = ::strptime(text.c_str(), "%a %b %e %H:%M:%S %Y", &fields);
    if (end == nullptr || *end != '\0') return std::nullopt;
    fields.tm_isdst = -1;  // mktime() finds out
    const auto seconds = std::mktime(&fields);
    if (seconds == -1) return std::nullopt;
    return seconds;
}

JobEnd known(std::int64_t unix_seconds, std::string source) { return {unix_seconds, std::move(source)}; }

}  // namespace

std::optional<std::int64_t> seconds_of(std::string_view clock) {
    std::int64_t seconds = 0;
    clock = trimmed(clock);
    if (const auto dash = clock.find('-'); dash != std::string_view::npos) {
        const auto days = whole_number(clock.substr(0, dash));
        if (!days || *days > 100'000) return std::nullopt;
        seconds = *days * 24;
        clock.remove_prefix(dash + 1);
        // The hours come next, as in "1-02:03:04".
        const auto hours = whole_number(clock.substr(0, clock.find(':')));
        if (!hours || clock.find(':') == std::string_view::npos) return std::nullopt;
        seconds = (seconds + *hours) * 60;
        clock.remove_prefix(clock.find(':') + 1);
    }
    while (true) {
        const auto colon = clock.find(':');
        const auto part = whole_number(clock.substr(0, colon));
        // No clock has so many parts that the sum grows beyond the years.
        if (!part || *part > 100'000'000 || seconds > 1'000'000'000'000) return std::nullopt;
        seconds += *part;
        if (colon == std::string_view::npos) return seconds;
        seconds *= 60;
        clock.remove_prefix(colon + 1);
    }
}

std::optional<std::int64_t> end_told_by_qstat(const std::string& text, std::int64_t now) {
    const auto left = whole_number(attribute(text, "Walltime.Remaining"));  // Torque
    if (left && *left <= job_end_max) return now + *left;
    const auto limit = seconds_of(attribute(text, "Resource_List.walltime"));
    if (!limit) return std::nullopt;
    for (const char* name : {"stime", "start_time"})  // PBS Pro and OpenPBS; Torque
        if (const auto start = unix_seconds_of(attribute(text, name))) return *start + *limit;
    // The used time lags by some minutes, so it is the last resort.
    if (const auto used = seconds_of(attribute(text, "resources_used.walltime"))) return now + *limit - *used;
    return std::nullopt;
}

namespace {

bool is_end_of_job(const std::optional<std::int64_t>& seconds) {
    return seconds && *seconds >= job_end_min && *seconds <= job_end_max;
}

// Seconds that this machine's clock is ahead of the controller's. sdiag prints the controller's clock: "sdiag output at
// Sun Nov 29 07:00:00 2026 (1795935600)". 0 if sdiag does not answer: some sites hide it.
std::int64_t ahead_of_controller(const Ask& ask, std::int64_t now) {
    constexpr std::int64_t noise = 2;  // both clocks are read in whole seconds
    const auto answer = ask({"sdiag"});
    if (!answer) return 0;
    const std::string_view text = *answer, head = "sdiag output at ";
    const auto at = text.find(head);
    if (at == std::string_view::npos) return 0;
    const auto line = text.substr(at, text.find('\n', at) - at);
    const auto open = line.rfind('('), close = line.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return 0;
    const auto there = whole_number(line.substr(open + 1, close - open - 1));
    if (!is_end_of_job(there)) return 0;
    return std::abs(now - *there) <= noise ? 0 : now - *there;
}

// The end by this machine's clock, from lines of `squeue -o "%A %L %e"`: "165 2:57 2026-11-29T07:02:57". Job arrays and
// heterogeneous jobs have several lines.
std::optional<std::int64_t> end_told_by_squeue(std::string_view text, const Environment& environment,
                                               std::int64_t ahead, std::int64_t now) {
    const auto job = environment("SLURM_JOB_ID");
    // All parts of a heterogeneous job end with the first part. An element of an array ends alone.
    const bool all_count = !environment("SLURM_HET_SIZE").empty();
    std::optional<std::int64_t> own, earliest;
    while (!text.empty()) {
        auto line = trimmed(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), text.find('\n') == text.npos ? text.size() : text.find('\n') + 1));
        const auto id = line.substr(0, line.find(' '));
        line.remove_prefix(id.size());
        line = trimmed(line);
        const auto left = line.substr(0, line.find(' '));
        // squeue takes this machine's clock for the controller's. It says INVALID if the job should have ended by now.
        auto end = seconds_of(left);
        if (end) {
            end = now + *end + ahead;
        } else if (left == "INVALID") {
            std::tm fields{};
            const std::string date(trimmed(line.substr(left.size())));
            const char* rest = ::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
            fields.tm_isdst = -1;
            const auto seconds = rest != nullptr && *rest == '\0' ? std::mktime(&fields) : std::time_t{-1};
            end = ahead != 0 && is_end_of_job(seconds) ? seconds + ahead : now;
        }
        if (!end) continue;
        if (id == job) own = end;
        earliest = std::min(earliest.value_or(*end), *end);
    }
    return all_count || !own ? earliest : own;
}

JobEnd ask_batch_system(const Environment& environment, const Ask& ask, std::int64_t now) {
    if (const auto job = environment("SLURM_JOB_ID"); !job.empty()) {
        const auto answer = ask({"squeue", "-h", "-j", job, "-o", "%A %L %e"});
        if (!answer) return JobEnd{{}, answer.error().line(), true};
        const auto ahead = ahead_of_controller(ask, now);
        if (const auto end = end_told_by_squeue(*answer, environment, ahead, now)) return known(*end, "squeue");
        return JobEnd{
            {}, fmt::format("squeue says \"{}\"", trimmed(*answer)), answer->find("UNLIMITED") == answer->npos};
    }
    if (const auto job = environment("PBS_JOBID"); !job.empty()) {
        const auto answer = ask({"qstat", "-f", job});
        if (!answer) return JobEnd{{}, answer.error().line(), true};
        if (const auto end = end_told_by_qstat(*answer, now)) return known(*end, "qstat");
        return JobEnd{{}, fmt::format("qstat -f {} prints no walltime", job), true};
    }
    return JobEnd{{}, "this is not a job of SLURM or PBS, and FOREBAY_JOB_END is not set"};
}

}  // namespace

Result<JobEnd> find_job_end(const Environment& environment, const Ask& ask, std::int64_t now) {
    const auto given = environment("FOREBAY_JOB_END");
    const auto end = whole_number(given);
    if (is_end_of_job(end)) return known(*end, "FOREBAY_JOB_END");
    // 0 means "not known".
    if (!given.empty() && end != 0)
        return Error{ErrorKind::refused,
                     fmt::format("FOREBAY_JOB_END is \"{}\", and must be seconds since 1970, from {} to {}", given,
                                 job_end_min, job_end_max),
                     "", "export FOREBAY_JOB_END=$(($(date +%s) + 3600)) for a job of an hour, or unset it"};
    const auto of_slurm = environment("SLURM_JOB_END_TIME");
    const auto slurm_end = whole_number(of_slurm);
    if (is_end_of_job(slurm_end)) return known(*slurm_end + ahead_of_controller(ask, now), "SLURM_JOB_END_TIME");
    auto answer = ask_batch_system(environment, ask, now);
    if (!of_slurm.empty() && slurm_end != 0)
        answer.source += fmt::format("; SLURM_JOB_END_TIME is \"{}\", which is not the end of a job", of_slurm);
    return answer;
}

}  // namespace forebay::sys
