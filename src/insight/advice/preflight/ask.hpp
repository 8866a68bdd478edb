// Preflight's questions to a node and its answers, one line of JSON each: over MPI, ssh or a queue between threads. An
// answer has at most 1,024 bytes, so the answers of 8,000 nodes are 8 MB. Findings are cut to fit, the mildest first.
//
// Both ends have the same version of Forebay. But ssh may print anything, so both decoders are fuzzed.

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

/// The needs of a run on each node.
struct Needs {
    std::string staging = "/dev/shm";
    std::string target;  // for node files; "": no drain
    std::uint64_t application_bytes = 0, slot_bytes = 0, slots = 1, agent_bytes = 0;
    std::string binary;  // the application's program, to be equal on all nodes; "": not checked

    std::uint64_t memory_bytes() const { return application_bytes + slots * slot_bytes + agent_bytes; }
};

enum class Task : std::uint8_t {
    check,     // memory, staging, mounts, limits; numbers: free memory, need, hash of programs, hash of the binary
    metadata,  // in `path`; numbers: median and p99 seconds to create, look up and remove a file
    speed,     // of the node; numbers: bytes a second of staging, checksums and draining to needs.target
    target,    // of `path`; numbers: bytes a second
    clock,     // numbers: seconds and nanoseconds since 1970
    meet,      // with `ranks`, over MPI; numbers: bytes a second around the ring
    end,       // no more work; it has no answer
};

struct Question {
    std::uint64_t number = 0;  // repeated in the answer
    Task task = Task::check;
    std::string path = {};
    std::uint64_t bytes = 0;        // of a probe
    std::uint64_t deadline_ms = 0;  // then the node answers that the work hangs
    std::string ranks = {};         // "0-6,8"
    Needs needs = {};               // for check and speed
    Rules rules = {};               // for check
};
std::string encode(const Question& question);
Result<Question> decode_question(std::string_view line);

struct NodeAnswer {
    std::uint64_t number = 0;
    std::string host;
    std::vector<double> numbers = {};
    std::vector<format::Finding> findings = {};  // without subjects: this node is the subject
    /// Why the work failed; "" on success.
    std::string failed = {};
    bool hangs = false;  // the work did not end within its deadline
};
std::string encode(NodeAnswer answer);
Result<NodeAnswer> decode_answer(std::string_view line);

}  // namespace forebay::advice
