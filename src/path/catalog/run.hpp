// The identity of a run: a number that is made with the run's directory and never changes. What is staged, drained and
// committed names it, so that a directory that was removed, replaced or is not mounted is never taken for the run.
//
//   RUN/forebay/run-00f30000c0ffee9a.json       the identity is in the name; the content is for people
//   RUN/forebay/sessions/                       who writes the run, see run_lock.hpp
//
// The directory has no dot in its name, so that `rm -rf RUN/*` begins anew and `cp -r RUN/* COPY` copies all.

#pragma once

#include <cstdint>
#include <string>

#include "core/format/run_identity.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

using format::own_directory;

/// 0 where the run has none, or does not exist. `corrupt` where it has two.
Result<std::uint64_t> identity_of(sys::Store& store, const std::string& run);

/// Whether `run` holds the directory `forebay` of a run: an identity, a claim, or what agents have recorded there. Any
/// other directory of that name, as the source of this software, makes no run.
Result<bool> has_own_directory(sys::Store& store, const std::string& run);

/// Makes the run's directory, and its identity, unless they are there. A run that lost its identity, or was copied
/// without it, gets the one that its newest snapshots name. Any number of callers at once get the same answer.
Result<std::uint64_t> make_identity(sys::Store& store, const std::string& run);

/// Nothing when `run` is the run of that identity; one look at the target. Else `missing` where the directory is gone
/// or has no identity, `refused` where it is another run's. 0 is every run without identity and asks for nothing.
Result<> check_identity(sys::Store& store, const std::string& run, std::uint64_t run_id);

/// "RUN/.KEY.new", "RUN/forebay/sessions/.KEY.new": what becomes an identity or a claim by a rename.
std::string name_of_new(std::uint64_t key);

/// Removes what those left who were killed before the rename. Nobody may be opening a session meanwhile.
Result<> remove_new(sys::Store& store, const std::string& run);

}  // namespace forebay::catalog
