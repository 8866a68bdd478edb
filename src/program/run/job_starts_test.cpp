// Goal: each kind of job starts a keeper on each of its nodes, once, with the launcher of its batch system.
// Method: recorded environments and node files. The words of the launchers are compared.

#include "program/run/job_starts.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <set>

#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::cli;

namespace {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

struct Site {
    Environment variables = {};
    std::set<std::string> programs = {};
    std::string hosts = {}, ssh = {};

    StartPlan plan() const {
        const auto environment = [this](const char* name) {
            const auto known = variables.find(name);
            return known == variables.end() ? std::string() : known->second;
        };
        return {hosts, ssh, "n0", environment, [this](const auto& program) { return programs.contains(program); }};
    }
    std::vector<KeeperStart> starts(const Words& keeper = {"forebay", "job"}) const {
        return keeper_starts(plan(), keeper, {"--call", "n0:4711"}).value();
    }
};

// The file of PBS Pro for select=3:mpiprocs=2.
const char* const node_file = "n0.site\nn0.site\nn1.site\nn1.site\nn2.site\nn2.site\n";

struct PbsSite : Site {
    test::TempDirectory folder;
    PbsSite() {
        std::ofstream(folder / "nodes") << node_file;
        variables = {{"PBS_JOBID", "12.server"}, {"PBS_NODEFILE", folder / "nodes"}};
    }
};

bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("Slurm starts all keepers by one step beside the step of the simulation") {
    const Site site{.variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "3"}}};
    const auto starts = site.starts();
    REQUIRE(starts.size() == 1);
    CHECK(starts[0].keepers == 3);
    for (const auto* word : {"--overlap", "--mem=0", "--nodes=3", "--ntasks=3"}) CHECK(has(starts[0].words, word));
    CHECK_FALSE(need_calls(site.plan()));
}

TEST_CASE("each part of a heterogeneous job has a step of keepers") {
    const Site site{.variables = {{"SLURM_JOB_ID", "7"},
                                  {"SLURM_JOB_NUM_NODES", "1"},
                                  {"SLURM_HET_SIZE", "2"},
                                  {"SLURM_JOB_NODELIST_HET_GROUP_0", "n0"},
                                  {"SLURM_JOB_NODELIST_HET_GROUP_1", "n[1-2]"}}};
    const auto starts = site.starts();
    REQUIRE(starts.size() == 2);
    CHECK(has(starts[0].words, "--het-group=0"));
    CHECK(has(starts[0].words, "--nodes=1"));
    CHECK(has(starts[1].words, "--het-group=1"));
    CHECK(has(starts[1].words, "--nodes=2"));
    CHECK(starts[1].keepers == 2);
}

TEST_CASE("PBS starts keepers by its own launchers, once a host, and this host needs none") {
    PbsSite site;
    site.programs = {"pbsdsh"};
    CHECK(need_calls(site.plan()));
    auto starts = site.starts();
    REQUIRE(starts.size() == 3);
    CHECK(starts[0].words == Words{"forebay", "job"});
    CHECK(starts[1].words == Words{"pbsdsh", "-n", "2", "--", "forebay", "job", "--call", "n0:4711"});
    CHECK(starts[2].words == Words{"pbsdsh", "-n", "4", "--", "forebay", "job", "--call", "n0:4711"});
    site.programs = {"pbsdsh", "pbs_tmrsh"};
    starts = site.starts();
    CHECK(starts[1].words == Words{"pbs_tmrsh", "n1.site", "forebay", "job", "--call", "n0:4711"});
}

TEST_CASE("ssh starts keepers where PBS has no launcher, or a person wants it") {
    PbsSite site;
    CHECK_FALSE(need_calls(site.plan()));
    CHECK(site.starts()[1].words == Words{"ssh", "n1.site", "forebay", "job"});
    site.programs = {"pbsdsh"};
    site.ssh = "ssh -p 2222";
    CHECK_FALSE(need_calls(site.plan()));
    CHECK(site.starts()[1].words == Words{"ssh", "-p", "2222", "n1.site", "forebay", "job"});
    site.ssh = "";
    site.hosts = "n[5-6]";
    CHECK(site.starts()[0].words == Words{"ssh", "n5", "forebay", "job"});
}

TEST_CASE("the shell of another host gets quoted words") {
    const Site site{.hosts = "n0,n1"};
    const auto starts = site.starts({"/opt/my tools/forebay", "--staging", "/local/$USER"});
    REQUIRE(starts.size() == 2);
    CHECK(starts[0].words == Words{"/opt/my tools/forebay", "--staging", "/local/$USER"});
    CHECK(starts[1].words == Words{"ssh", "n1", "'/opt/my tools/forebay'", "--staging", "'/local/$USER'"});
}

TEST_CASE("without a batch system there is one keeper, on this host") {
    const auto starts = Site{}.starts();
    REQUIRE(starts.size() == 1);
    CHECK(starts[0].words == Words{"forebay", "job"});
}
