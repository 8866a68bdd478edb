// The credentials of a client: found once, and looked for anew before they expire, or when the server does not take
// them any more. Where they come from says S3Settings: keys of the environment or of a file, the output of a program
// (credential_process), or the machine's own role (IMDSv2).
//
// Threads: any, at once; one of them looks, the others wait for what it finds.

#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/s3/http.hpp"
#include "core/s3/settings.hpp"

namespace forebay::s3 {

class KeyKeeper {
public:
    /// `http` must outlive it.
    KeyKeeper(const S3Settings& settings, Http& http) : http_(http), settings_(settings) {}

    struct Keys {
        Credentials credentials;
        std::uint64_t version = 0;
    };
    Result<Keys> current();
    /// The server does not take keys of this version any more. Whether there are others by now.
    Result<bool> renew(std::uint64_t version);

private:
    using Clock = std::chrono::system_clock;  // by which keys expire
    Result<> find();
    Result<ExpiringCredentials> ask_program() const;
    Result<ExpiringCredentials> ask_machine() const;

    Http& http_;
    std::mutex mutex_;  // guards what follows
    S3Settings settings_;
    Keys keys_;  // of version 0: none yet
    Clock::time_point expire_, find_again_;
    std::optional<std::chrono::steady_clock::time_point> same_found_;  // others were looked for, and there were none
};

}  // namespace forebay::s3
