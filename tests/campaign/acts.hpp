// The acts of a random program and the checks of their results, for program.cpp and between.cpp.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "campaign/model.hpp"
#include "campaign/program.hpp"
#include "forebay/forebay.hpp"
#include "path/node/staging.hpp"
#include "support/temp_directory.hpp"

#include <fmt/format.h>
#include <filesystem>

namespace forebay::campaign {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

inline const std::string stream_name = "state";
// Slots of a node. With more staged snapshots there is no free slot for a save.
inline constexpr int slots = 2;
inline constexpr std::int64_t hour = 3600;

class Program {
public:
    explicit Program(std::uint64_t seed, Fault fault)
        : fault_(fault), random_(seed), base_("/dev/shm"), run_(base_ / "run") {
        keep_ = chance(2) ? 0 : 2;
        model_ = Model(keep_);
        fs::create_directory(base_ / "memory");
    }

    std::vector<std::string> play() {
        const int sessions = 2 + below(3);
        for (int i = 0; i < sessions && problems_.empty(); ++i) {
            if (i > 0) between();
            if (problems_.empty()) session();
            if (fault_ == Fault::removes_left) remove_left();
            if (problems_.empty()) check_target();
        }
        if (problems_.empty()) finish();
        shift_clock(0);
        return problems_;
    }

private:
    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
    bool chance(int one_in) { return below(one_in) == 0; }
    void act(const std::string& text) { acts_ += (acts_.empty() ? "" : "; ") + text; }
    void problem(const std::string& text) { problems_.push_back(fmt::format("{}  [{}]", text, acts_)); }
    void expect(const Result<>& done, const std::string& what) {
        if (!done) problem(what + ": " + done.error().text());
    }

    Options options(const std::string& staging = "memory") const {
        Options options{.run = run_, .staging = base_ / staging};
        options.log = [](const std::string&) {};  // skipped directories are expected here
        options.agent.mode = AgentMode::thread;
        options.agent.retry_pause = 1ms;
        options.takeover_wait = 0ms;
        return options;
    }
    std::vector<std::string> staged() const { return node::staging_directories(base_ / "memory").value(); }

    void session();
    void choose(Stream& stream, const double& value);
    void check_refusal(Stream& stream, const Error& error, std::int64_t below, const char* what);
    void check_choice(const std::optional<Restart>& restart, std::int64_t below, bool reads, const double& value);
    void save(Stream& stream, double& value, bool slow);
    void second_writer();
    void spool(const Session& session);
    void between();
    void remove();
    void move();
    void mount_away();
    void copy();
    void unreadable();
    void mark_all();
    void misplace();
    void copy_over();
    void remove_left();
    std::string newest_needed() const;
    void recover();
    void prune_above();
    void prune_line();
    void check_target();
    void check_files();
    void finish();

    const Fault fault_;
    std::mt19937_64 random_;
    test::TempDirectory base_;
    std::string run_;
    int keep_ = 0;
    Model model_;
    std::int64_t next_value_ = 1, last_step_ = 0;
    int number_ = 0;  // makes names unique
    // The next save of the session under way goes on from here.
    bool has_line_ = false;
    bool has_misplaced_ = false;  // a step directory was copied to the name of another step
    std::optional<std::int64_t> chosen_;
    bool pending_ = false;  // a crashed session may have left staged snapshots that nobody has drained
    std::string acts_;
    std::vector<std::string> problems_;
};

}  // namespace forebay::campaign
