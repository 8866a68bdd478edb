// Remarks, parts that a target cannot keep, and what a walk has found, as messages to the first process.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/team/team_message.hpp"
#include "transfer/team/team_port.hpp"
#include "transfer/walk/walk.hpp"

namespace forebay::tree {

TeamMessage message_of(const LogEntry& log_entry);
/// Of a member: the first process gets each of its remarks.
EntryLog::Taker log_to_first(TeamPort& port);
/// Adds it, where the message is one.
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
