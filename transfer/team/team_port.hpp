// The connections of a process in a group: over pipes (team_pipes) or MPI (module bench).
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

    /// In the coordinator: the number of workers beside it, numbered from 1. In a worker: 0.
    virtual std::size_t members() const = 0;
    /// For the user: the host, or the rank.
    virtual std::string name(std::size_t process) const = 0;
    /// Never waits. A message to a lost process is dropped.
    virtual void send(std::size_t process, const TeamMessage& message) = 0;

    struct Heard {
        std::size_t process = 0;
        Result<TeamMessage> message;  // an error: no more messages will come from it
    };
    /// The next message, or nothing if none came in time. Meanwhile it sends waiting messages.
    virtual std::optional<Heard> hear(sys::Clock::time_point until) = 0;
    /// True if a message still waits to be sent.
    virtual bool has_unsent() = 0;
    /// Lets hear() return early. Threads: any.
    virtual void wake() = 0;
    /// The process is lost, or not needed: ends its program or connection.
    virtual void drop(std::size_t process) = 0;
    /// True if a worker must not end before the coordinator: with MPI that would end all processes.
    virtual bool first_ends_all() const { return false; }
};

}  // namespace forebay::tree
