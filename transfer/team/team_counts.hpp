// Counts of one process. The coordinator adds the counts of the workers.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "transfer/team/team_message.hpp"

namespace forebay::tree {

/// Threads: any.
class TeamCounts {
public:
    explicit TeamCounts(std::vector<std::atomic<std::uint64_t>*> fields)
        : fields_(std::move(fields)), others_(fields_.size(), 0) {}

    /// Counts only this process's work.
    std::vector<std::uint64_t> own() const {
        const std::lock_guard lock(mutex_);
        std::vector<std::uint64_t> counts;
        for (std::size_t i = 0; i < fields_.size(); ++i) counts.push_back(*fields_[i] - others_[i]);
        return counts;
    }
    /// Adds the work of another process since its last message.
    void take(const TeamMessage& message) {
        if (message.process == 0 || message.numbers.size() != fields_.size()) return;
        const std::lock_guard lock(mutex_);
        auto& before = reported_[message.process];
        before.resize(fields_.size());
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            const auto more = message.numbers[i] - before[i];
            others_[i] += more;
            *fields_[i] += more;
        }
        before = message.numbers;
    }

private:
    const std::vector<std::atomic<std::uint64_t>*> fields_;
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> others_;
    std::map<std::uint64_t, std::vector<std::uint64_t>> reported_;
};

}  // namespace forebay::tree
