// The identity of a run: a number that is made with the run's directory and never changes. Staged, drained and
// committed snapshots have it. So a directory that was removed, replaced or is not mounted is never mistaken for the
// run.
//
//   RUN/forebay/run-00f30000c0ffee9a.json    the identity is in the name; the content is for people
//   RUN/forebay/sessions/                    the run locks, see run_lock.hpp
//
// The directory `forebay` has no dot in its name: `rm -rf RUN/*` begins anew, and `cp -r RUN/* COPY` copies everything.

#pragma once

#include <cstdint>
#include <string>

#include "core/format/run_identity.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

using format::own_directory;

/// 0 if the run has no identity or does not exist. `corrupt` if it has two.
Result<std::uint64_t> identity_of(sys::Store& store, const std::string& run);

/// True if `run` has a run's directory `forebay`: with an identity, a run lock, or records of agents. Another directory
/// of this name, such as the source of this software, makes no run.
Result<bool> has_own_directory(sys::Store& store, const std::string& run);

/// Makes the run's directory and its identity, unless they exist. A run that lost its identity, or was copied without
/// it, gets the identity of its newest snapshots. Any number of simultaneous callers get the same answer.
Result<std::uint64_t> make_identity(sys::Store& store, const std::string& run);

/// Succeeds if `run` has this identity; costs one look at the target. `missing` if the directory is gone or has no
/// identity, `refused` if it has another identity. A `run_id` of 0 always succeeds: it is any run without identity.
Result<> check_identity(sys::Store& store, const std::string& run, std::uint64_t run_id);

/// "RUN/.KEY.new", "RUN/forebay/sessions/.KEY.new": a rename turns it into an identity or a run lock.
std::string name_of_new(std::uint64_t key);

/// Removes such directories of processes killed before the rename. Do not call it while a session may be opening.
Result<> remove_new(sys::Store& store, const std::string& run);

}  // namespace forebay::catalog
