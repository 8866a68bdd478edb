// How messages come to other processes of a team and from them: over pipes (team_pipes) or MPI (room bench).
//
// Threads: send() any; hear() one; drop() by the thread of hear().

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/sys/clock.hpp"
#include "transfer/team/team_message.hpp"

namespace forebay::tree {

class TeamPort {
public:
    TeamPort() = default;
    TeamPort(const TeamPort&) = delete;
    TeamPort& operator=(const TeamPort&) = delete;
    virtual ~TeamPort() = default;

    /// Of the first process: how many members there are beside it, numbered from 1. Of a member: 0.
    virtual std::size_t members() const = 0;
    /// For people: the host, or the rank.
    virtual std::string name(std::size_t process) const = 0;
    /// Never waits. What is for a process that is gone is dropped.
    virtual void send(std::size_t process, const TeamMessage& message) = 0;

    struct Heard {
        std::size_t process = 0;
        Result<TeamMessage> message;  // an error: nothing more will come from it
    };
    /// The next message; nothing when none came by then. What was sent goes out meanwhile.
    virtual std::optional<Heard> hear(sys::Clock::time_point until) = 0;
    /// Whether something that was sent has not gone out yet.
    virtual bool has_unsent() = 0;
    /// Lets hear() return early. Any thread.
    virtual void wake() = 0;
    /// It is lost, or not needed: what runs for it here is ended.
    virtual void drop(std::size_t process) = 0;
    /// A member that ends before the first process would end all others, which that does itself.
    virtual bool first_ends_all() const { return false; }
};

}  // namespace forebay::tree
