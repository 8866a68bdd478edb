// Log entries, parts that a target cannot store, and results of a walk, as messages to the coordinator.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/team/team_message.hpp"
#include "transfer/team/team_port.hpp"
#include "transfer/walk/walk.hpp"

namespace forebay::tree {

TeamMessage message_of(const LogEntry& log_entry);
/// In a worker: sends each log entry to the coordinator.
EntryLog::Taker log_to_first(TeamPort& port);
/// Adds the entry if the message is a log entry.
void add_log_entry(const TeamMessage& message, EntryLog& entry_log);

TeamMessage message_of(const Unkept& unkept);
Unkept unkept_of(const TeamMessage& message);

TeamMessage message_of(std::span<const WalkedEntry> entries);
std::vector<WalkedEntry> walked_of(const TeamMessage& message);

TeamMessage message_of(const FileSum& sum);
FileSum sum_from(const TeamMessage& message);

TeamMessage message_of(const Error& error);
Error error_of(const TeamMessage& message);

}  // namespace forebay::tree
