// The credentials of a client. They are found once, and again before they expire or when the server rejects them.
// S3Settings says the source: environment, file, a program (credential_process), or the machine's role (IMDSv2).
//
// Threads: any, concurrently; one thread looks for keys, and the others wait for its result.

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
    /// `http` must outlive this object.
    KeyKeeper(const S3Settings& settings, Http& http) : http_(http), settings_(settings) {}

    struct Keys {
        Credentials credentials;
        std::uint64_t version = 0;
    };
    Result<Keys> current();
    /// Call it when the server rejects the keys of `version`. Returns true if there are other keys now.
    Result<bool> renew(std::uint64_t version);

private:
    using Clock = std::chrono::system_clock;  // for expiry times
    Result<> find();
    Result<ExpiringCredentials> ask_program() const;
    Result<ExpiringCredentials> ask_machine() const;

    Http& http_;
    std::mutex mutex_;  // guards the members below
    S3Settings settings_;
    Keys keys_;  // version 0: no keys yet
    Clock::time_point expire_, find_again_;
    std::optional<std::chrono::steady_clock::time_point> same_found_;  // when a search found no other keys
};

}  // namespace forebay::s3
