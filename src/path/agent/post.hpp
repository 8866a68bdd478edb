// The post box of a machine: memory shared by its ranks. In it they leave messages for a dedicated agent (a rank that
// only drains). The agent sleeps until a rank rings, and looks by itself twice a second.
//
// Life: the ranks of the machine create it together
//       -> ask(), once a session, by the session's first rank on the machine
//       -> leave(), by each computing rank when it ends
//       -> serve() returns in the agent, after the last leave()

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "path/agent/view_maker.hpp"
#include "path/node/control.hpp"
#include "path/node/long_wait.hpp"

namespace forebay::agent {

// The most sessions of one application on one agent at once.
inline constexpr std::size_t post_sessions_max = 16;

enum class PostState : std::uint32_t {
    empty,
    writing,   // owned by the ranks, until the directory is written
    asked,     // for the agent to take
    starting,  // owned by the agent
    served,    // until the session ends; then empty
    refused,   // owned by the ranks again: they read the error
};

struct PostEntry {
    std::atomic<PostState> state{PostState::empty};
    std::uint32_t error_kind = 0;
    std::array<char, 1024> directory{};  // staging directory of the session
    node::ErrorText error_text{};
};

struct Post {
    explicit Post(std::uint32_t computing) : ranks(computing) {}

    const std::uint32_t ranks;           // computing ranks of this machine
    std::atomic<std::uint32_t> left{0};  // ranks that have left
    std::atomic<std::uint32_t> bell{0};  // rung by the ranks
    std::atomic<std::uint32_t> news{0};  // rung by the agent
    std::array<PostEntry, post_sessions_max> entries;
};

static_assert(std::atomic<PostState>::is_always_lock_free, "the post is shared between processes");

/// Asks the agent to serve a staging directory. Returns when it does. `retry` if it does not answer within `timeout`,
/// `full` if it has too many sessions. Reports a long wait to `say`.
Result<> ask(Post& post, const std::string& directory, std::chrono::milliseconds timeout, const node::Say& say = {});

/// Call it when this rank stops computing.
void leave(Post& post);

/// The life of a dedicated agent: a thread for each session that asks. Returns when all ranks have left and every
/// session is served to its end. `make_view` as in run_agent().
void serve(Post& post, const ViewMaker& make_view);

}  // namespace forebay::agent
