#include "path/stage/agreed_description.hpp"

#include <array>

#include "core/base/try.hpp"
#include "core/comm/alike.hpp"
#include "path/stage/together.hpp"

namespace forebay::stage {

namespace {

// nullptr if each node has its own file. Collective over the first ranks of all nodes.
std::unique_ptr<FilePlaces> places_of(const TargetFile& file, const comm::Topology& topology,
                                      std::uint64_t block_bytes) {
    if (file.kind == TargetFile::Kind::shared) return shared_places(topology, file.as_h5part, block_bytes);
    if (file.kind == TargetFile::Kind::combined && topology.nodes > 1)
        return combined_places(topology, file.nodes, block_bytes);
    return nullptr;
}

}  // namespace

void AgreedDescription::share_files(const TargetFile& file, std::uint64_t block_bytes) {
    as_h5part_ = file.as_h5part;
    if (topology_.leads()) places_ = places_of(file, topology_, block_bytes);
}

Result<> AgreedDescription::agree(const Call& call, const Schema& schema, const describe::Binding& binding,
                                  bool changed, Values values, const Result<>& own_result) {
    auto& world = *topology_.world;
    const std::int64_t sum = values == Values::final ? sum_values(schema, binding, {}) : 0;
    // A maximum of a number and of its inverse shows if all ranks have the same number.
    std::array<std::int64_t, 4 + call_numbers> flags{own_result ? 0 : 1, changed || version_ == 0 ? 1 : 0, sum, ~sum};
    const auto numbers = std::span(flags).last<call_numbers>();
    put_call(call, numbers);
    clock_.lap(format::TimingKind::plan);
    world.max(flags);
    clock_.lap(format::TimingKind::agree);
    if (flags[0] != 0) return comm::agree(world, own_result);
    if (!is_alike(numbers)) return refuse_calls(world, call);
    // A change on any rank makes all ranks compare their descriptions.
    if (flags[1] != 0) {
        FB_TRY(check_together(world, schema, binding));
        FB_TRY(comm::agree(world, [&]() -> Result<> {
            if (as_h5part_) FB_TRY(check_h5part(schema));
            FB_TRY(parts_.exchange(topology_, schema, binding));
            if (places_) places_->describe(schema);
            return {};
        }));
        ++version_;
        clock_.lap(format::TimingKind::plan);
    }
    return comm::is_alike(flags[2], flags[3]) ? Result<>() : check_values(world, schema, binding, {});
}

Result<> AgreedDescription::lay_out(Slot& slot, const std::string& path, const Schema& schema,
                                    std::uint64_t alignment_bytes) const {
    const auto rank = static_cast<std::uint32_t>(topology_.world->rank());
    FB_TRY(slot.plan(schema, parts_.parts(), {.alignment_bytes = alignment_bytes}, rank, version_));
    FB_TRY(topology_.leads() ? slot.create(path) : slot.open(path));
    return slot.prefault();
}

Result<> AgreedDescription::check_final(const Schema& schema, const describe::Binding& binding,
                                        std::span<const char> direct, const Result<>& own_result) {
    auto& world = *topology_.world;
    const std::int64_t sum = sum_values(schema, binding, direct);
    std::int64_t flags[] = {own_result ? 0 : 1, sum, ~sum};
    clock_.lap(format::TimingKind::copy);  // until now the application wrote into the slot
    world.max(flags);
    clock_.lap(format::TimingKind::agree);
    if (flags[0] != 0) return comm::agree(world, own_result);
    return comm::is_alike(flags[1], flags[2]) ? Result<>() : check_values(world, schema, binding, direct);
}

}  // namespace forebay::stage
