// Goal: the end of a job is read from the words of each batch system, and is empty if the batch system gives none.
// Method: answers in the form of SLURM 23.11, OpenPBS 23.06 and Torque 6.1.

#include "core/sys/job_end.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <map>

using namespace forebay;
using namespace forebay::sys;

namespace {

constexpr std::int64_t now = 1'790'000'000;

struct Machine {
    std::map<std::string, std::string> variables;
    std::map<std::string, std::string> answers;  // by command
    std::vector<std::string> asked;

    Result<JobEnd> find() {
        return find_job_end(
            [&](const char* name) {
                const auto at = variables.find(name);
                return at == variables.end() ? std::string() : at->second;
            },
            [&](const std::vector<std::string>& command) -> Result<std::string> {
                std::string line;
                for (const auto& word : command) line += (line.empty() ? "" : " ") + word;
                asked.push_back(line);
                const auto at = answers.find(line);
                if (at == answers.end()) return Error{ErrorKind::missing, "no such program"};
                return at->second;
            },
            now);
    }
};

// In the form of `date` on this machine, so that the test does not depend on its time zone.
std::string date(std::int64_t unix_seconds) {
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    char text[64];
    std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", std::localtime(&seconds));
    return text;
}

}  // namespace

TEST_CASE("clocks of batch systems") {
    CHECK(seconds_of("59") == 59);
    CHECK(seconds_of("01:02") == 62);
    CHECK(seconds_of("1:02:03\n") == 3723);
    CHECK(seconds_of("2-03:04:05") == ((2 * 24 + 3) * 60 + 4) * 60 + 5);
    CHECK(seconds_of("120:00:00") == 432'000);
    for (const char* none : {"", "UNLIMITED", "NOT_SET", "INVALID", "1-", "1-2", "1:", ":1", "1:-2", "1:2:x",
                             "9999999999", "1:1:1:1:1:1:1:1:1:1:1:1:1:1"})
        CHECK_MESSAGE(!seconds_of(none), none);
}

TEST_CASE("what is given stands above what the batch system says, its environment above its commands") {
    Machine machine;
    CHECK_FALSE(machine.find().value().unix_seconds);
    machine.variables = {
        {"FOREBAY_JOB_END", "1790000100"}, {"SLURM_JOB_END_TIME", "1790000200"}, {"SLURM_JOB_ID", "77"}};
    CHECK(machine.find().value().unix_seconds == 1'790'000'100);
    machine.variables.erase("FOREBAY_JOB_END");
    CHECK(machine.find().value().unix_seconds == 1'790'000'200);
    CHECK(machine.asked == std::vector<std::string>{"sdiag"});
    machine.variables.erase("SLURM_JOB_END_TIME");
    machine.answers["squeue -h -j 77 -o %A %L %e"] = "77 5:00 2026-11-29T07:00:00\n";
    CHECK(machine.find().value().unix_seconds == now + 300);
    CHECK(machine.find().value().source == "squeue");
}

TEST_CASE("squeue: the line of the job's own element of an array, the earliest line of a heterogeneous job") {
    // As Slurm 22.05 prints them. The last element of an array has the id of the whole array.
    Machine machine{.variables = {{"SLURM_JOB_ID", "165"}}, .answers = {}, .asked = {}};
    auto& answer = machine.answers["squeue -h -j 165 -o %A %L %e"];
    answer = "166 1:57 2026-11-22T10:00:00\n165 2:57 2026-11-22T10:01:00\n167 UNLIMITED N/A\n";
    CHECK(machine.find().value().unix_seconds == now + 177);
    machine.variables["SLURM_HET_SIZE"] = "3";
    CHECK(machine.find().value().unix_seconds == now + 117);
    answer = "171 0:57 2026-11-22T10:00:00";
    machine.variables.erase("SLURM_HET_SIZE");
    CHECK(machine.find().value().unix_seconds == now + 57);
}

TEST_CASE("Slurm ends a job by the controller's clock, whatever this machine's clock says") {
    const auto iso = [](std::int64_t unix_seconds) {
        const auto seconds = static_cast<std::time_t>(unix_seconds);
        char text[64];
        std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", std::localtime(&seconds));
        return std::string(text);
    };
    Machine machine{.variables = {{"SLURM_JOB_ID", "9"}}, .answers = {}, .asked = {}};
    auto& answer = machine.answers["squeue -h -j 9 -o %A %L %e"];
    auto& clock = machine.answers["sdiag"];
    const auto sdiag = [](std::int64_t there) {
        return "*******************************************************\nsdiag output at Sun Nov 22 10:00:00 2026 (" +
               std::to_string(there) + ")\nData since      Sun Nov 22 00:00:00 2026 (1700000000)\n";
    };
    for (const std::int64_t ahead : {-120, 0, 120}) {
        // The controller ends the job 60 s from now. squeue subtracts this machine's time.
        clock = sdiag(now - ahead);
        const auto ends_there = now - ahead + 60, left = ends_there - now;
        answer = "9 " + (left < 0 ? "INVALID" : std::to_string(left / 60) + ":" + std::to_string(left % 60)) + " " +
                 iso(ends_there) + "\n";
        CHECK(machine.find().value().unix_seconds == now + 60);
        machine.variables["SLURM_JOB_END_TIME"] = std::to_string(ends_there);
        CHECK(machine.find().value().unix_seconds == now + 60);
        machine.variables.erase("SLURM_JOB_END_TIME");
    }
    clock = "slurm_load_ctl_conf: nothing";
    answer = "9 INVALID " + iso(now - 5) + "\n";
    CHECK(machine.find().value().unix_seconds == now);  // past its limit: no time is left
}

TEST_CASE("whether a batch system runs the job, so that a missing limit is worth a warning") {
    Machine machine;
    CHECK_FALSE(machine.find().value().in_job);
    machine.variables = {{"SLURM_JOB_ID", "9"}};
    CHECK(machine.find().value().in_job);
    machine.answers["squeue -h -j 9 -o %A %L %e"] = "9 UNLIMITED N/A\n";
    CHECK_FALSE(machine.find().value().in_job);  // the job has no limit
    machine.variables = {{"PBS_JOBID", "12"}};
    CHECK(machine.find().value().in_job);
}

TEST_CASE("a limit that nobody can tell is none, and the reason is kept") {
    Machine machine{.variables = {{"SLURM_JOB_ID", "77"}}, .answers = {}, .asked = {}};
    CHECK_FALSE(machine.find().value().unix_seconds);
    CHECK(machine.find().value().source == "no such program");
    machine.answers["squeue -h -j 77 -o %A %L %e"] = "77 UNLIMITED N/A\n";
    CHECK_FALSE(machine.find().value().unix_seconds);
    CHECK(machine.find().value().source == "squeue says \"77 UNLIMITED N/A\"");
    machine.variables = {{"PBS_JOBID", "12.server"}};
    machine.answers["qstat -f 12.server"] = "Job Id: 12.server\n    Job_Name = les\n";
    CHECK_FALSE(machine.find().value().unix_seconds);
    CHECK(machine.find().value().source == "qstat -f 12.server prints no walltime");
}

TEST_CASE("a FOREBAY_JOB_END that is no end of a job is refused, with the value") {
    for (const char* wrong : {"soon", "12:00:00", "-5", "1e9", " 1790000100", "3600", "1790000000000",
                              "9223372036854775807", "18446744073709551615", "99999999999999999999"}) {
        Machine machine{.variables = {{"FOREBAY_JOB_END", wrong}}, .answers = {}, .asked = {}};
        const auto end = machine.find();
        REQUIRE_FALSE(end);
        CHECK(end.error().kind == ErrorKind::refused);
        CHECK(end.error().text().find(wrong) != std::string::npos);
    }
}

TEST_CASE("an end of 0 is not known, nor is what SLURM says that is no end of a job") {
    Machine machine{.variables = {{"FOREBAY_JOB_END", "0"}, {"SLURM_JOB_END_TIME", "0"}}, .answers = {}, .asked = {}};
    CHECK_FALSE(machine.find().value().unix_seconds);
    machine.variables["SLURM_JOB_END_TIME"] = "1790000200";
    CHECK(machine.find().value().unix_seconds == 1'790'000'200);
    machine.variables["SLURM_JOB_ID"] = "77";
    machine.answers["squeue -h -j 77 -o %A %L %e"] = "77 5:00 2026-11-29T07:00:00\n";
    for (const char* wrong : {"99999999999999999999", "9223372036854775807", "-5", "abc", "1790000000000"}) {
        machine.variables["SLURM_JOB_END_TIME"] = wrong;
        const auto end = machine.find().value();
        CHECK(end.unix_seconds == now + 300);
        CHECK(end.source.find("SLURM_JOB_END_TIME is \"" + std::string(wrong)) != std::string::npos);
    }
    machine.answers.clear();
    CHECK_FALSE(machine.find().value().unix_seconds);
}

TEST_CASE("qstat: what is left, else start and limit, else what was used") {
    const std::string head = "Job Id: 12.server\n    Job_Name = les\n    Resource_List.walltime = 02:00:00\n";
    Machine machine{.variables = {{"PBS_JOBID", "12.server"}}, .answers = {}, .asked = {}};
    auto& answer = machine.answers["qstat -f 12.server"];
    answer = head + "    resources_used.walltime = 00:10:00\n";
    CHECK(machine.find().value().unix_seconds == now + 6600);
    answer += "    stime = " + date(now - 660) + "\n";
    CHECK(machine.find().value().unix_seconds == now - 660 + 7200);
    answer = head + "    start_time = " + date(now - 60) + "\n";
    CHECK(machine.find().value().unix_seconds == now - 60 + 7200);
    answer += "    Walltime.Remaining = 7000\n";
    CHECK(machine.find().value().unix_seconds == now + 7000);
    answer = head + "    Walltime.Remaining = 9223372036854775807\n";
    CHECK_FALSE(machine.find().value().unix_seconds);
    answer = head + "    stime = yesterday\n";
    CHECK_FALSE(machine.find().value().unix_seconds);
}
