// A staging directory for readers only: tools, monitors, and a session that finds another session's directory. Its
// control page is mapped read-only, so a reader cannot disturb ranks and agent.

#pragma once

#include <string>
#include <utility>

#include "path/node/staging.hpp"

namespace forebay::node {

class Watch {
public:
    /// As Staging::join(), also its errors `unsupported` and `corrupt`.
    static Result<Watch> open(const std::string& directory);

    const Staging& staging() const { return staging_; }
    const Control& page() const { return staging_.control(); }

private:
    explicit Watch(Staging staging) : staging_(std::move(staging)) {}

    Staging staging_;  // never returned for writing
};

/// True if a slot of the directory is neither empty nor committed, or if its control page cannot be read.
bool may_hold_uncommitted(const std::string& directory);

}  // namespace forebay::node
