// A sealed slot as a worker reads it. A save may take the worker's lease (node::take_leases), so data counts only if
// the lease is still there after reading.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sys/mapping.hpp"
#include "insight/insitu/parts.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/node/staging.hpp"

namespace forebay::insitu {

class SealedSlot {
public:
    /// Maps the slot read-only and checks its head. `lease` is the bit of the worker's station. `retry` if the slot no
    /// longer has the lease, or holds another save than `id`. `staging` must outlive it.
    static Result<SealedSlot> open(const node::Staging& staging, std::uint32_t slot, std::uint64_t id,
                                   std::uint32_t lease);

    const catalog::BlockReader& node() const { return node_; }
    const std::vector<Analysis>& analyses() const { return analyses_; }
    /// Checksum of the options of all analyses of the stream.
    std::uint32_t rules_crc32c() const { return rules_crc32c_; }
    SeenSnapshot snapshot() const;

    bool has_lease() const;
    /// Returns `error` while the lease is there. Otherwise the taken lease is the cause, and the result says so.
    Error with_context_of(const Error& error) const;

private:
    SealedSlot(const node::SlotControl& control, std::uint64_t id, std::uint32_t lease, sys::Mapping mapping,
               catalog::BlockReader node)
        : control_(&control), id_(id), lease_(lease), mapping_(std::move(mapping)), node_(std::move(node)) {}

    const node::SlotControl* control_;
    std::uint64_t id_;
    std::uint32_t lease_;
    std::string stream_;
    std::vector<Analysis> analyses_;
    std::uint32_t rules_crc32c_ = 0;
    sys::Mapping mapping_;
    catalog::BlockReader node_;
};

}  // namespace forebay::insitu
