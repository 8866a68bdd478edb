// The limit of reading a snapshot: its node files read raw by the same ranks, in turns of 32 MiB.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/raw.hpp"

namespace forebay::bench {

std::span<const RawWay> read_ways();

/// The node files of a stream's newest snapshot, as rank 0 sees them. Collective.
Result<std::vector<std::string>> node_files(Ranks& ranks, const std::string& run, const std::string& stream);

/// Lets the kernel forget what it has of the files. Collective.
Result<> forget(Ranks& ranks, const std::vector<std::string>& files);

/// Seconds in which all ranks together read the files, blocks dealt out in turn. Collective.
Result<double> timed_raw_read(Ranks& ranks, const std::vector<std::string>& files, const RawWay& way);

}  // namespace forebay::bench
