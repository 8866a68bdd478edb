// A staging directory as those see it who only look: tools, monitors, and a session that finds another one's. Its
// control page is mapped read-only, so that nothing they do can change what ranks and agent tell each other.

#pragma once

#include <string>
#include <utility>

#include "path/node/staging.hpp"

namespace forebay::node {

class Watch {
public:
    /// As Staging::join(); `unsupported` and `corrupt` alike.
    static Result<Watch> open(const std::string& directory);

    const Staging& staging() const { return staging_; }
    const Control& page() const { return staging_.control(); }

private:
    explicit Watch(Staging staging) : staging_(std::move(staging)) {}

    Staging staging_;  // never handed out for writing
};

/// Whether a slot of the directory is neither empty nor committed; true also where its control page cannot be read.
bool may_hold_uncommitted(const std::string& directory);

}  // namespace forebay::node
