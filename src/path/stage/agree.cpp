// What all ranks agree on in a save beside its slot: that they make the same call, describe the same, and have the same
// replicated values.

#include <array>

#include "core/base/try.hpp"
#include "core/comm/alike.hpp"
#include "path/stage/stager.hpp"
#include "path/stage/together.hpp"

namespace forebay::stage {

Result<> Stager::plan_together(const Call& call, const Schema& schema, const describe::Binding& binding, bool changed,
                               Values values, const Result<>& mine) {
    auto& world = *context_.topology->world;
    const std::int64_t sum = values == Values::final ? sum_values(schema, binding, {}) : 0;
    std::array<std::int64_t, 4 + call_numbers> flags{mine ? 0 : 1, changed || version_ == 0 ? 1 : 0, sum, ~sum};
    const auto numbers = std::span(flags).last<call_numbers>();
    put_call(call, numbers);
    clock_.lap(format::TimingKind::plan);
    world.max(flags);
    clock_.lap(format::TimingKind::agree);
    if (flags[0] != 0) return comm::agree(world, mine);
    if (!is_alike(numbers)) return refuse_calls(world, call);
    if (flags[1] != 0) {
        FB_TRY(check_together(world, schema, binding));
        FB_TRY(comm::agree(world, [&]() -> Result<> {
            if (options_.file.as_h5part) FB_TRY(check_h5part(schema));
            FB_TRY(parts_.exchange(*context_.topology, schema, binding));
            if (places_) places_->describe(schema);
            return {};
        }));
        ++version_;
        clock_.lap(format::TimingKind::plan);
    }
    return comm::is_alike(flags[2], flags[3]) ? Result<>() : check_values(world, schema, binding, {});
}

Result<> Stager::check_final(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                             const Result<>& mine) {
    auto& world = *context_.topology->world;
    const std::int64_t sum = sum_values(schema, binding, direct);
    std::int64_t flags[] = {mine ? 0 : 1, sum, ~sum};
    clock_.lap(format::TimingKind::copy);  // until now the application has written into the slot
    world.max(flags);
    clock_.lap(format::TimingKind::agree);
    if (flags[0] != 0) return comm::agree(world, mine);
    return comm::is_alike(flags[1], flags[2]) ? Result<>() : check_values(world, schema, binding, direct);
}

}  // namespace forebay::stage
