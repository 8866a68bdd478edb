// The limit for reading a snapshot: the same ranks read its node files raw, in turns of 32 MiB.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/raw.hpp"

namespace forebay::bench {

std::span<const RawWay> read_ways();

/// The node files of a stream's newest snapshot, as seen by rank 0. Collective.
Result<std::vector<std::string>> node_files(Ranks& ranks, const std::string& run, const std::string& stream);

/// Drops the files from the page cache. Collective.
Result<> forget(Ranks& ranks, const std::vector<std::string>& files);

/// Seconds in which all ranks together read the files, with blocks dealt in turn. Collective.
Result<double> timed_raw_read(Ranks& ranks, const std::vector<std::string>& files, const RawWay& way);

}  // namespace forebay::bench
