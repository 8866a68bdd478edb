// What preflight asks a node and what the node answers, each a line of JSON: over MPI, ssh or a queue between threads.
// An answer has at most 1,024 bytes, so that those of 8,000 nodes are 8 MB: findings are cut to fit, the mildest first.
//
// Both ends are of one version of Forebay; what comes over ssh may still be anything, so both decoders are fuzzed.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"
#include "insight/advice/preflight/rules.hpp"

namespace forebay::advice {

inline constexpr std::size_t answer_bytes_max = 1024;

/// What a run needs of each node.
struct Needs {
    std::string staging = "/dev/shm";
    std::string target;  // where node files go; "": nothing is drained
    std::uint64_t application_bytes = 0, slot_bytes = 0, slots = 1, agent_bytes = 0;
    std::string binary;  // the application's, to be the same everywhere; "": not asked

    std::uint64_t memory_bytes() const { return application_bytes + slots * slot_bytes + agent_bytes; }
};

enum class Task : std::uint8_t {
    check,     // memory, staging, mounts, limits; numbers: free memory, need, hash of programs, hash of the binary
    metadata,  // in `path`; numbers: median and p99 of creating, looking and removing, in seconds
    speed,     // of the node; numbers: bytes a second of staging, checksums and draining to needs.target
    target,    // of `path`; numbers: bytes a second
    clock,     // numbers: seconds and nanoseconds since 1970
    meet,      // with `ranks`, over MPI; numbers: bytes a second round the ring
    end,       // of the work: no answer
};

struct Question {
    std::uint64_t number = 0;  // the answer has it too
    Task task = Task::check;
    std::string path = {};
    std::uint64_t bytes = 0;        // of a probe
    std::uint64_t deadline_ms = 0;  // then the node answers that the work hangs
    std::string ranks = {};         // "0-6,8"
    Needs needs = {};               // of a check, and of a speed
    Rules rules = {};               // of a check
};
std::string encode(const Question& question);
Result<Question> decode_question(std::string_view line);

struct NodeAnswer {
    std::uint64_t number = 0;
    std::string host;
    std::vector<double> numbers = {};
    std::vector<format::Finding> findings = {};  // without subjects: this node is
    /// Why the work could not be done; "" where it was.
    std::string failed = {};
    bool hangs = false;  // it has not ended within its deadline
};
std::string encode(NodeAnswer answer);
Result<NodeAnswer> decode_answer(std::string_view line);

}  // namespace forebay::advice
