// Goal: every key of the configuration file sets its option, and an error is refused with its line.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bindings/api/state.hpp"
#include "core/sys/machine.hpp"

using namespace forebay;

namespace {

Result<Options> load(const std::string& text) {
    const auto path =
        std::filesystem::temp_directory_path() / ("forebay-" + std::to_string(sys::random_u64()) + ".toml");
    std::ofstream(path) << text;
    auto options = load_options(path.string());
    std::filesystem::remove(path);
    return options;
}

}  // namespace

TEST_CASE("load_options: every setting") {
    const auto options = load(R"(
run = "/scratch/run7"
staging = "/local"
virtual_nodes = 2
huge_pages = false
profile = "auto"
open_wait_seconds = 2.5
close_wait_seconds = 1.5
stall_wait_seconds = 3.5
restart_window_bytes = 1048576
copy_threads = 6
log = "stderr"
[agent]
mode = "dedicated"
cores = 3
program = "/opt/forebay"
cpus = "0-1"
block_bytes = 4096
in_flight = 3
rate_bytes_per_second = 1000000
slowdown_percent_max = 7.5
direct = false
retries = 9
retry_pause_seconds = 0.5
environment = { LD_PRELOAD = "/usr/lib64/libpil4dfs.so" }
[job]
wall_time_seconds = 7200
reserve_seconds = 60.5
)")
                             .value();
    CHECK(options.run == "/scratch/run7");
    CHECK(options.run_in_file == "/scratch/run7");
    CHECK(options.log_to_stderr);
    CHECK(options.staging == "/local");
    CHECK(options.virtual_nodes == 2);
    CHECK(!options.huge_pages);
    CHECK(options.profile == "auto");
    CHECK(std::ranges::find(options.in_file, "huge_pages") != options.in_file.end());
    CHECK(std::ranges::find(options.in_file, "agent.block_bytes") != options.in_file.end());
    CHECK(std::ranges::find(options.in_file, "agent") == options.in_file.end());
    CHECK(options.open_wait.count() == 2500);
    CHECK(options.close_wait.count() == 1500);
    CHECK(options.stall_wait.count() == 3500);
    CHECK(options.restart_window_bytes == 1048576);
    CHECK(options.copy_threads == 6);
    const auto& agent = options.agent;
    CHECK(agent.mode == AgentMode::dedicated);
    CHECK(agent.cores == 3);
    CHECK(agent.program == "/opt/forebay");
    CHECK(agent.cpus == "0-1");
    CHECK(agent.block_bytes == 4096);
    CHECK(agent.in_flight == 3);
    CHECK(agent.rate_bytes_per_second == 1000000);
    CHECK(agent.slowdown_percent_max == 7.5);
    CHECK(agent.direct == Direct::no);
    CHECK(agent.retries == 9);
    CHECK(agent.retry_pause.count() == 500);
    CHECK(options.job.wall_time == std::chrono::hours(2));
    CHECK(options.job.reserve.count() == 60500);
    REQUIRE(agent.environment.size() == 1);
    CHECK(agent.environment[0].first == "LD_PRELOAD");
}

TEST_CASE("load_options: a log goes to standard error or is left out") {
    CHECK_FALSE(load("huge_pages = true\n").value().log_to_stderr);
    const auto other = load("huge_pages = true\nlog = \"stdout\"\n");
    REQUIRE(!other);
    CHECK(other.error().text().find("line 2: 'log' is \"stdout\": \"stderr\", or leave it out.") != std::string::npos);
}

TEST_CASE("load_options: copy_threads is \"auto\" or a number, in code too") {
    CHECK(load("").value().copy_threads == 0);
    CHECK(load("copy_threads = \"auto\"\n").value().copy_threads == 0);
    CHECK(load("copy_threads = 1\n").value().copy_threads == 1);
    CHECK(load("copy_threads = 256\n").value().copy_threads == 256);
    for (const auto* wrong : {"0", "-1", "257", "4294967297", "\"all\"", "2.0", "true"}) {
        CAPTURE(wrong);
        const auto refused = load(std::string("huge_pages = true\ncopy_threads = ") + wrong + "\n");
        REQUIRE(!refused);
        const auto text = refused.error().text();
        CHECK_MESSAGE(
            (text.find("line 2: 'copy_threads' must be \"auto\" or a whole number.") != text.npos ||
             text.find(fmt::format("line 2: 'copy_threads' is {}, out of range: from 1 to 256.", wrong)) != text.npos),
            text);
    }
    for (const int wrong : {-1, 257})
        CHECK(check(Options{.run = "run", .copy_threads = wrong})
                  .error()
                  .text()
                  .find("copy_threads is " + std::to_string(wrong) + ": from 0, which is \"auto\", to 256.") !=
              std::string::npos);
}

TEST_CASE("load_options: a file that is not there is named") {
    const auto missing = load_options("/nowhere/forebay.toml");
    REQUIRE(!missing);
    CHECK(missing.error().kind == ErrorKind::missing);
    CHECK(
        missing.error().text().starts_with("forebay: the configuration file '/nowhere/forebay.toml' cannot be read: "));
}

TEST_CASE("a run in code that is another than the one in the file is refused; another spelling of it is not") {
    auto options = load("run = \"/scratch/run7\"\n").value();
    for (const auto* same : {"/scratch/run7", "/scratch/run7/", "/scratch/./run7"}) {
        options.run = same;
        CHECK(check(options));
    }
    options.run = "/scratch/run8";
    const auto refused = check(options);
    REQUIRE(!refused);
    CHECK(refused.error().text().find(
              "the run is /scratch/run8 in the program, but /scratch/run7 in its configuration") != std::string::npos);
    options.run_in_file.clear();
    CHECK(check(options));
}

TEST_CASE("load_options: every setting of a stream") {
    const auto options = load(R"(
[streams.restart]
slots = 2
policy = "newest_only"
wait_max_seconds = 2
keep = 5
view = false
file = "combined:16"
priority = -2
deadline_seconds = 90.5
rate_bytes_per_second = 2000000
)")
                             .value();
    REQUIRE(options.streams.size() == 1);
    const auto& [name, stream] = options.streams[0];
    CHECK(name == "restart");
    CHECK(stream.slots == 2);
    CHECK(stream.policy == Policy::newest_only);
    CHECK(stream.wait_max.count() == 2000);
    CHECK(stream.keep == 5);
    CHECK(!stream.view);
    CHECK(stream.file == TargetFile::combined(16));
    CHECK(stream.priority == -2);
    CHECK(stream.deadline.count() == 90500);
    CHECK(stream.rate_bytes_per_second == 2000000);
}

TEST_CASE("load_options: a file at the target is one of four words, and of several nodes it is not compressed") {
    const auto file = [](const std::string& word) {
        return load("[streams.restart]\nslots = 1\nfile = \"" + word + "\"\n");
    };
    CHECK(file("own").value().streams[0].second.file == TargetFile::own());
    CHECK(file("combined:2").value().streams[0].second.file == TargetFile::combined(2));
    CHECK(file("combined:256").value().streams[0].second.file == TargetFile::combined(256));
    CHECK(file("shared").value().streams[0].second.file == TargetFile::shared());
    CHECK(file("shared-h5part").value().streams[0].second.file == TargetFile::shared_h5part());
    for (const auto* wrong :
         {"all", "", "combined", "combined:", "combined:1", "combined:257", "combined:2x", "Shared"}) {
        CAPTURE(wrong);
        const auto refused = file(wrong);
        REQUIRE(!refused);
        CHECK(refused.error().text().find("line 3: 'streams.restart.file' is \"" + std::string(wrong) +
                                          "\": one of own, combined:N with N from 2 to 256, shared, shared-h5part.") !=
              std::string::npos);
    }
    for (const auto* form : {"combined:2", "shared", "shared-h5part"}) {
        const auto both = load("[streams.restart]\nfile = \"" + std::string(form) + "\"\ncompression = \"lz4\"\n");
        REQUIRE(!both);
        CHECK(both.error().text().find("file = \"" + std::string(form) + "\" and compression exclude each other") !=
              std::string::npos);
    }
    CHECK(load("[streams.restart]\nfile = \"own\"\ncompression = \"lz4\"\n"));
}

TEST_CASE("load_options: keys of earlier versions are refused with what to write now") {
    const std::vector<std::pair<std::string, std::string>> former{{"nodes_per_file = 16", "file = \"combined:16\""},
                                                                  {"nodes_per_file = 1", "file = \"own\""},
                                                                  {"shared = true", "file = \"shared\""},
                                                                  {"shared = false", "file = \"own\""},
                                                                  {"shared = \"h5part\"", "file = \"shared-h5part\""}};
    for (const auto& [before, now] : former) {
        const auto refused = load("[streams.restart]\nslots = 2\n" + before + "\n");
        REQUIRE(!refused);
        CHECK_MESSAGE(refused.error().text().find("line 3: 'streams.restart.") != std::string::npos,
                      refused.error().text());
        CHECK_MESSAGE(refused.error().text().find(": " + before + " is now " + now + ".") != std::string::npos,
                      refused.error().text());
    }
}

TEST_CASE("parse_stream_options: the text of one stream, as its table has it") {
    const auto options = parse_stream_options(
                             "slots = 2\npolicy = \"skip\"\nview = [\"plain\", \"netcdf\"]\n"
                             "compression = { codec = \"zfp\", error = 1e-3 }")
                             .value();
    CHECK(options.slots == 2);
    CHECK(options.policy == Policy::skip);
    CHECK(options.conventions == std::vector{Convention::plain, Convention::netcdf});
    CHECK(options.compression.codec == Codec::zfp);
    CHECK(options.compression.error == 1e-3);
    CHECK(options.keep == StreamOptions().keep);
    CHECK(parse_stream_options(""));
    const auto refusal = [](const std::string& text) { return parse_stream_options(text).error().text(); };
    CHECK(refusal("slots = 2\nslot = 1")
              .find("the options of the stream, line 2: 'slot' is not known. Nearest: "
                    "'slots'.") != std::string::npos);
    CHECK(refusal("compression = { codecs = \"lz4\" }").find("'compression.codecs' is not known") != std::string::npos);
    CHECK(refusal("slots = 3").find("'slots' is 3, out of range: 1 or 2.") != std::string::npos);
    CHECK(refusal(std::string(17u << 10, ' ')).find("17408 bytes of text") != std::string::npos);
}

TEST_CASE("load_options: views by true or false, by a convention, or by a list of them") {
    const auto stream = [](const std::string& value) {
        const auto options = load("[streams.s]\nview = " + value + "\n");
        return options ? options->streams[0].second : StreamOptions{.conventions = {}};
    };
    CHECK(stream("true").view);
    CHECK(stream("true").conventions == std::vector{Convention::plain});
    CHECK(stream("\"openpmd\"").conventions == std::vector{Convention::openpmd});
    const auto two = stream("[\"netcdf\", \"h5part\"]");
    CHECK(two.view);
    CHECK(two.conventions == std::vector{Convention::netcdf, Convention::h5part});
    CHECK_FALSE(stream("[]").view);
    for (const auto* wrong : {"\"hdf\"", "[\"plain\", 1]", "3"}) {
        const auto refused = load(std::string("[streams.s]\nview = ") + wrong + "\n");
        REQUIRE_FALSE(refused);
        CHECK(refused.error().text().find("line 2: 'streams.s.view' must be") != std::string::npos);
    }
}

TEST_CASE("load_options: compression by a word or by a table, for a stream and for its variables in their order") {
    const auto options = load(R"(
[streams.restart]
compression = "auto"
[streams.fields.compression]
codec = "zstd"
shuffle = "bits"
level = 4
variables = { "z*" = { codec = "zfp", error = 1e-3, shuffle = "none" }, "a*" = "lz4", "*" = "none" }
)")
                             .value();
    REQUIRE(options.streams.size() == 2);
    const auto stream = [&](const std::string& wanted) {
        return std::ranges::find(options.streams, wanted, [](const auto& entry) { return entry.first; })->second;
    };
    CHECK(stream("restart").compression.codec == Codec::automatic);
    CHECK(stream("restart").variable_compression.empty());
    const auto fields = stream("fields");
    CHECK(fields.compression.codec == Codec::zstd);
    CHECK(fields.compression.shuffle == Shuffle::bits);
    CHECK(fields.compression.level == 4);
    REQUIRE(fields.variable_compression.size() == 3);
    CHECK(fields.variable_compression[0].first == "z*");
    CHECK(fields.variable_compression[0].second.codec == Codec::zfp);
    CHECK(fields.variable_compression[0].second.error == 1e-3);
    CHECK(fields.variable_compression[0].second.shuffle == Shuffle::none);
    CHECK(fields.variable_compression[1].first == "a*");
    CHECK(fields.variable_compression[1].second.codec == Codec::lz4);
    CHECK(fields.variable_compression[2].second.codec == Codec::none);
}

TEST_CASE("load_options: forwarders") {
    const auto agent = load(R"([agent]
forward_to = ["host7:4711", "host8:4711"]
forward_token_file = "/home/me/run7.token"
)")
                           .value()
                           .agent;
    CHECK(agent.forward_to == std::vector<std::string>{"host7:4711", "host8:4711"});
    CHECK(agent.forward_token_file == "/home/me/run7.token");
    CHECK(agent.forwarders == 0);
    const auto other = load("[agent]\nforwarders = 3\nforward_address = \"ib0\"").value().agent;
    CHECK(other.forwarders == 3);
    CHECK(other.forward_address == "ib0");
}

TEST_CASE("load_options: an empty file gives the defaults") {
    const auto options = load("").value();
    CHECK(options.agent.mode == AgentMode::process);
    CHECK(options.streams.empty());
}

TEST_CASE("load_options: what is wrong is named with its line") {
    const auto refused = [](const std::string& text, const char* why) {
        const auto options = load(text);
        REQUIRE(!options);
        CAPTURE(options.error().text());
        CHECK(options.error().kind == ErrorKind::refused);
        CHECK(options.error().text().find(why) != std::string::npos);
    };
    refused("run = ", "line 1");
    refused("\nrunn = \"x\"", "line 2: 'runn' is not known. Nearest: 'run'");
    refused("[job]\nwall_time = 1", "Nearest: 'job.wall_time_seconds'");
    refused("[job]\nreserve_seconds = -1", "must be a number of seconds");
    refused("[agent]\nblock_byte = 1", "Nearest: 'agent.block_bytes'");
    refused("[agent]\nblock_bytes = 5", "multiple of 4096");
    refused("[agent]\nmode = \"fibre\"", "one of \"process\", \"thread\", \"dedicated\"");
    refused("[agent]\ncores = 0", "line 2: 'agent.cores' is 0, out of range: from 1 to 64.");
    refused("[agent]\nin_flight = \"2\"", "must be a whole number");
    refused("[agent]\nin_flight = -2", "out of range");
    refused("[agent]\nslowdown_percent_max = 101", "agent.slowdown_percent_max is 101: from 0 (no limit) to 100");
    refused("[agent]\nslowdown_percent_max = nan", "from 0 (no limit)");
    refused("[agent]\nslowdown_percent_max = \"5 %\"", "must be a number");
    refused("[streams.restart]\npriority = 3000000000", "out of range");
    refused("[streams.restart]\ndeadline_seconds = -1", "must be a number of seconds");
    refused("[streams.restart]\nrate_bytes_per_second = -1", "out of range");
    refused("[streams.restart]\nrestart_from = -1", "restart_from' is -1, out of range: 0 or more.");
    refused("[agent]\nenvironment = { A = 1 }", "must be text");
    refused("[agent]\nforwarders = 9999", "line 2: 'agent.forwarders' is 9999, out of range: from 0 to 1024.");
    refused("[agent]\nforward_to = \"a:1\"", "'agent.forward_to' must be a list of texts");
    refused("[agent]\nforward_to = [1]", "must be a list of texts");
    refused("[agent]\nforward_to = [\"a:1\"]", "agent.forward_token_file belong together");
    refused("[agent]\nforward_token_file = \"t\"", "agent.forward_token_file belong together");
    refused("[agent]\nforwarders = 1\nforward_to = [\"a:1\"]\nforward_token_file = \"t\"", "exclude each other");
    refused("[streams]\nrestart = 3", "must be a table");
    refused("[streams.restart]\nslots = 3", "line 2: 'streams.restart.slots' is 3, out of range: 1 or 2.");
    refused("[streams.restart]\nkeep = -1", "line 2: 'streams.restart.keep' is -1, out of range: 0 or more.");
    refused("[streams.restart]\npolicy = \"never\"", "one of \"wait\", \"wait_at_most\", \"skip\", \"newest_only\"");
    refused("[streams.r]\ncompression = \"gzip\"", "one of \"none\", \"auto\", \"lz4\", \"zstd\", \"zfp\"");
    refused("[streams.r.compression]\ncodecs = \"lz4\"", "line 2: 'streams.r.compression.codecs' is not known");
    refused("[streams.r.compression]\ncodec = \"zstd\"\nlevel = 10",
            "line 3: 'streams.r.compression.level' is 10, out of range: from 0 to 9.");
    refused("[streams.r.compression]\ncodec = \"zstd\"\nerror = 0.1", "needs codec zfp");
    refused("[streams.r.compression]\nerror = \"small\"", "must be a number");
    refused("[streams.r.compression]\nvariables = { \"u*\" = { codec = 3 } }", "must be text");
    refused("[streams.r.compression]\nvariables = { \"u*\" = \"best\" }", "'streams.r.compression.variables.u*'");
    refused("close_wait_seconds = \"long\"", "number of seconds");
    CHECK(load_options("/nonexistent/forebay.toml").error().kind == ErrorKind::missing);
}

TEST_CASE("load_options: a file that nests with every byte is refused, and no stack ends") {
    const auto nested = [](std::size_t bytes) {
        std::string text;
        while (text.size() + 4 < bytes) text += "a.";
        return text + "a=1";
    };
    CHECK(load(nested(16u << 10)).error().kind == ErrorKind::refused);
    CHECK(load(nested(1u << 20)).error().kind == ErrorKind::corrupt);
}

TEST_CASE("check: a wait that the clock cannot hold is refused") {
    const auto kind = [](auto change) {
        Options options{.run = "run", .streams = {{"restart", {}}}};
        change(options);
        const auto good = check(options);
        return good ? ErrorKind{} : good.error().kind;
    };
    static constexpr auto endless = std::chrono::milliseconds::max();
    CHECK(kind([](Options&) {}) == ErrorKind{});
    CHECK(kind([](Options& o) { o.close_wait = endless; }) == ErrorKind::refused);
    CHECK(kind([](Options& o) { o.close_wait = std::chrono::milliseconds(-1); }) == ErrorKind::refused);
    CHECK(kind([](Options& o) { o.streams[0].second.wait_max = endless; }) == ErrorKind::refused);
    CHECK(kind([](Options& o) { o.agent.retry_pause = endless; }) == ErrorKind::refused);
    CHECK(kind([](Options& o) { o.streams[0].second.deadline = endless; }) == ErrorKind::refused);
}
