// Goal: the end of a job is what the batch system says, in the words of each, and nothing where it says nothing.
// Method: answers as SLURM 23.11, OpenPBS 23.06 and Torque 6.1 give them.

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

// As `date` would print it here, so that the test does not depend on where it runs.
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
    for (const char* none :
         {"", "UNLIMITED", "NOT_SET", "INVALID", "1-", "1-2", "1:", ":1", "1:-2", "1:2:x", "9999999999"})
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
    CHECK(machine.asked.empty());
    machine.variables.erase("SLURM_JOB_END_TIME");
    machine.answers["squeue -h -j 77 -o %L"] = "5:00\n";
    CHECK(machine.find().value().unix_seconds == now + 300);
    CHECK(machine.find().value().source == "squeue");
}

TEST_CASE("a limit that nobody can tell is none, and the reason is kept") {
    Machine machine{.variables = {{"SLURM_JOB_ID", "77"}}, .answers = {}, .asked = {}};
    CHECK_FALSE(machine.find().value().unix_seconds);
    CHECK(machine.find().value().source == "no such program");
    machine.answers["squeue -h -j 77 -o %L"] = "UNLIMITED\n";
    CHECK_FALSE(machine.find().value().unix_seconds);
    CHECK(machine.find().value().source == "squeue says \"UNLIMITED\"");
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
    machine.answers["squeue -h -j 77 -o %L"] = "5:00\n";
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
