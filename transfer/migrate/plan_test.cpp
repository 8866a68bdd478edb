// Goal: a plan has all values for a migration. A harmful plan is refused with its line.
// Method: texts.

#include <doctest/doctest.h>

#include "transfer/migrate/plan.hpp"

using namespace forebay;

namespace {

const std::string common = "state = \"/m/state\"\nreports = \"/m/reports\"\nfreeze = \"true\"\n";

std::string project(const std::string& name, const std::string& source, const std::string& target,
                    const std::string& more = "") {
    return "[[project]]\nname = \"" + name + "\"\nsource = \"" + source + "\"\ntarget = \"" + target + "\"\n" + more;
}

std::string refusal(const std::string& text) {
    const auto plan = migrate::read_plan(text, "plan.toml");
    REQUIRE_FALSE(plan);
    CHECK(plan.error().kind == ErrorKind::refused);
    return plan.error().what;
}

}  // namespace

TEST_CASE("what stands for all projects, and what a project has instead") {
    const auto plan = migrate::read_plan(
                          "threads = 8\nrate = \"500M\"\nhosts = [\"dm1\", \"dm2\"]\nat_once = 2\n"
                          "exclude = [\"*.o\"]\nverify = true\nwait_days = 3\nsync_turns = 0\n" +
                              common + "[batch]\nqueue = \"dm\"\nnodes = 2\n" +
                              project("a", "/old/a", "/new/a", "wait_days = 14\ncompare = \"no-bytes\"\n") +
                              project("b", "/old/b", "s3://bucket/b", "exclude = [\"tmp\"]\n"),
                          "plan.toml")
                          .value();
    CHECK(plan.threads == 8);
    CHECK(plan.rate == "500M");
    CHECK(plan.hosts == "dm1,dm2");
    CHECK(plan.at_once == 2);
    CHECK(plan.sync_turns == 0);
    CHECK(plan.batch.queue == "dm");
    CHECK(plan.batch.nodes == 2);
    REQUIRE(plan.projects.size() == 2);
    const auto &a = plan.projects[0], &b = plan.projects[1];
    CHECK(a.wait_days == 14);
    CHECK(b.wait_days == 3);
    CHECK_FALSE(a.compares_bytes);
    CHECK(b.compares_bytes);
    CHECK(a.verify);
    CHECK(a.exclude == std::vector<std::string>{"*.o"});
    CHECK(b.exclude == std::vector<std::string>{"*.o", "tmp"});
    CHECK(migrate::chosen_from(plan, {"b"}).value().projects[0].name == "b");
    CHECK(migrate::chosen_from(plan, {"c"}).error().kind == ErrorKind::refused);
}

TEST_CASE("places in each other are refused, and neighbours are not") {
    const auto with = [](const std::string& a, const std::string& b) {
        return common + project("a", a, "/new/a") + project("b", b, "/new/b");
    };
    CHECK(migrate::read_plan(with("/old/a", "/old/a-b"), "plan.toml"));
    CHECK(migrate::read_plan(with("/old/a", "/old/ab"), "plan.toml"));
    for (const auto* other : {"/old/a", "/old/a/b", "/old", "/new/a/b", "/new", "/old/x/../a/b", "/old//a/"})
        CHECK(refusal(with("/old/a", other)).find("lies in") != std::string::npos);
    CHECK(refusal(common + project("a", "/m", "/new/a")).find("must not lie in") != std::string::npos);
}

TEST_CASE("places in buckets are apart, too, and a batch job uses all of its nodes") {
    const auto with = [](const std::string& target) {
        return common + project("a", "/old/a", "s3://b/a/") + project("b", "/old/b", target);
    };
    CHECK(migrate::read_plan(with("s3://b/ab"), "plan.toml").value().names == std::vector<std::string>{"a", "b"});
    for (const auto* other : {"s3://b/a", "s3://b/a/b"})
        CHECK(refusal(with(other)).find("lies in the target of a, s3://b/a/") != std::string::npos);
    const auto nodes = "[batch]\nnodes = 2\n" + project("a", "/o", "/n");
    CHECK(refusal(common + nodes).find("'batch.nodes' is 2, but") != std::string::npos);
    CHECK(migrate::read_plan("hosts = [\"slurm\"]\n" + common + nodes, "plan.toml"));
}

TEST_CASE("what is no plan") {
    CHECK(refusal("treads = 8\n" + common + project("a", "/o", "/n")) ==
          "plan.toml, line 1: 'treads' is not known. Nearest: 'threads'.");
    CHECK(refusal(common).find("[[project]]") != std::string::npos);
    CHECK(refusal(common + project("a b", "/o", "/n")).find("'project.name'") != std::string::npos);
    CHECK(refusal(common + project("a", "o", "/n")) ==
          "plan.toml, line 6: 'project.source' of a is \"o\", and must be an absolute path, as in source = "
          "\"/old/projects/climate\".");
    CHECK(refusal(common + "[[project]]\nname = \"a\"\nsorce = \"/o\"\ntarget = \"/n\"\n") ==
          "plan.toml, line 6: 'project.sorce' is not known. Nearest: 'project.source'.");
    CHECK(refusal(common + "[[project]]\nname = \"a\"\nsource = \"/o\"\n") ==
          "plan.toml, line 4: 'project.target' of a is missing, as in target = \"/new/projects/climate\".");
    CHECK(refusal(common + "[[project]]\nsource = \"/o\"\n").find("'project.name' is missing, as in name = ") !=
          std::string::npos);
    CHECK(refusal("state = \"/m/s\"\nreport = \"/m/r\"\n").find("'report' is not known. Nearest: 'reports'") !=
          std::string::npos);
    CHECK(refusal("state = \"/m/s\"\n" + project("a", "/o", "/n")).find("'reports' is missing, as in reports = ") !=
          std::string::npos);
    CHECK(refusal("state = \"/m/s\"\nreports = \"/m/r\"\n" + project("a", "/o", "/n"))
              .find("'project.freeze' of a is missing: the command") != std::string::npos);
    CHECK(refusal(common + project("a", "/o", "/n", "delete = true\nexclude = [\"x\"]\n")).find("delete_excluded") !=
          std::string::npos);
    CHECK(refusal(common + project("a", "/o", "/n", "wait_days = -1\n")).find("wait_days") != std::string::npos);
    CHECK(refusal(common + project("a", "/o", "/n", "compare = \"some\"\n")).find("compare") != std::string::npos);
    CHECK(refusal("a = ").find("plan.toml, line 1") == 0);
}
