// Things that every rank must give alike in one save: the stream, the step, the time and the replicated values. The
// numbers that tell ride in maxima which a save makes anyway; who differs is looked for only where they do.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "core/comm/group.hpp"
#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"

namespace forebay::stage {

/// The subject of a collective call of a stream.
struct Call {
    static constexpr std::int64_t preparing = std::numeric_limits<std::int64_t>::min();

    const std::string& stream;
    std::int64_t step = preparing;
    double time = 0;
};

/// The call as numbers, each of them and its inverse; ranks that differ in any differ in what they call.
inline constexpr std::size_t call_numbers = 6;
void put_call(const Call& call, std::span<std::int64_t, call_numbers> to);
bool is_alike(std::span<const std::int64_t, call_numbers> largest);
/// `refused`, with both calls and their ranks, on every rank. Collective, where the calls differ.
Error refuse_calls(comm::Group& world, const Call& call);

/// A checksum of this rank's values that must be equal on every rank: those of replicated variables that are neither
/// the first rank's alone nor marked in `direct`, which the application writes itself. Neither allocates nor waits.
std::uint32_t sum_values(const Schema& schema, const describe::Binding& binding, std::span<const char> direct);
/// `refused`, with variable, values and ranks, on every rank, where a value differs. Nothing where only what is marked
/// in `direct` does. Collective, where the sums differ.
Result<> check_values(comm::Group& world, const Schema& schema, const describe::Binding& binding,
                      std::span<const char> direct);

}  // namespace forebay::stage
