// Checks that every rank of a save gives the same stream, step, time and replicated values. The numbers for this travel
// in maxima that a save makes anyway. Only if they differ are the differing ranks searched.

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "core/comm/group.hpp"
#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"

namespace forebay::stage {

/// The subject of a collective call on a stream.
struct Call {
    static constexpr std::int64_t preparing = std::numeric_limits<std::int64_t>::min();

    const std::string& stream;
    std::int64_t step = preparing;
    double time = 0;
};

/// The call as numbers, each with its inverse. Two calls differ if any number differs.
inline constexpr std::size_t call_numbers = 6;
void put_call(const Call& call, std::span<std::int64_t, call_numbers> to);
bool is_alike(std::span<const std::int64_t, call_numbers> largest);
/// `refused` on every rank, with both calls and their ranks. Collective; call it only if the calls differ.
Error refuse_calls(comm::Group& world, const Call& call);

/// A checksum of this rank's values that must be equal on every rank: replicated variables, except the first rank's
/// variables and variables marked in `direct`, which the application writes itself. Allocates nothing and does not
/// wait.
std::uint32_t sum_values(const Schema& schema, const describe::Binding& binding, std::span<const char> direct);
/// `refused` on every rank, with variable, values and ranks, if a value differs. Succeeds if only variables marked in
/// `direct` differ. Collective; call it only if the sums differ.
Result<> check_values(comm::Group& world, const Schema& schema, const describe::Binding& binding,
                      std::span<const char> direct);

}  // namespace forebay::stage
