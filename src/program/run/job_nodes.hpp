// The keepers of a job, as `forebay job` sees them: it starts them on the nodes, reads their lines, and ends them.
//
// Life:    start() -> turn() again and again -> end() -> turn() until are_done() -> the destructor kills what is left
// Threads: one.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/channel.hpp"
#include "core/sys/clock.hpp"
#include "forebay/result.hpp"
#include "program/run/job_calls.hpp"

namespace forebay::cli {

/// One program that starts keepers: srun starts all of them, ssh one.
struct KeeperStart {
    std::vector<std::string> words;
    std::string where;  // for texts: "slurm", or a host
    std::uint64_t keepers = 1;
};

/// A snapshot that a keeper reported as not committed.
struct LeftPart {
    std::string host, run, name, directory, text;
};

class JobNodes {
public:
    /// Errors of a start are in lost(). With `calls`, keepers call back; it must outlive this.
    explicit JobNodes(const std::vector<KeeperStart>& starts, KeeperCalls* calls = nullptr);
    JobNodes(JobNodes&&) = default;
    JobNodes& operator=(JobNodes&&) = delete;
    JobNodes(const JobNodes&) = delete;
    JobNodes& operator=(const JobNodes&) = delete;
    ~JobNodes();

    /// Reads lines of the keepers. Waits at most until `until`.
    void turn(sys::Clock::time_point until);
    /// All keepers that still live take requests.
    bool are_ready() const { return ready_.size() + lost_count() >= keepers(); }
    /// The command has ended: the keepers commit within this time.
    void end(std::chrono::seconds wait);
    /// No keeper works any more.
    bool are_done() const;

    std::uint64_t keepers() const;
    const std::set<std::string>& ready() const { return ready_; }
    /// Hosts that began to work and did not report their end.
    std::set<std::string> silent() const;
    /// Snapshots that were not committed when the command ended: run and STREAM@STEP.
    const std::set<std::pair<std::string, std::string>>& staged() const { return staged_; }
    const std::vector<LeftPart>& left() const { return left_; }
    /// A keeper has started an agent.
    bool have_hosted() const { return hosted_; }
    /// The batch system has sent a signal to a keeper.
    bool are_signalled() const { return signalled_; }
    /// Texts about starts that failed or ended early.
    const std::vector<std::string>& lost() const { return lost_; }

private:
    struct Starter {
        KeeperStart start;
        std::unique_ptr<sys::Channel> channel;  // null: it could not be started, or has ended
        std::string heard = {};
    };
    std::uint64_t lost_count() const;
    void hear(const std::string& line);
    void take(Starter& starter);

    KeeperCalls* calls_;
    std::vector<Starter> starters_;  // and keepers that have called
    std::set<std::string> ready_, done_;
    std::set<std::pair<std::string, std::string>> staged_;
    std::vector<LeftPart> left_;
    std::vector<std::string> lost_;
    bool ending_ = false, hosted_ = false, signalled_ = false;
};

}  // namespace forebay::cli
