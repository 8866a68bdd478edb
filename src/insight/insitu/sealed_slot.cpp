#include "insight/insitu/sealed_slot.hpp"

#include <fmt/format.h>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "path/node/analysis_rules.hpp"

namespace forebay::insitu {

namespace {

bool is_leased(const node::SlotControl& control, std::uint64_t id, std::uint32_t lease) {
    return (control.holds.load(std::memory_order_acquire) & lease) != 0 &&
           control.snapshot_id.load(std::memory_order_acquire) == id;
}

Error taken() { return {ErrorKind::retry, "a later save needed the slot before the analysis read it"}; }

}  // namespace

bool SealedSlot::has_lease() const { return is_leased(*control_, id_, lease_); }

Error SealedSlot::with_context_of(const Error& error) const { return has_lease() ? error : taken(); }

SeenSnapshot SealedSlot::snapshot() const {
    const auto& record = node_.head().record;
    return {stream_, {record.step, record.time}, id_, record.nodes, record.lineage, record.sealed_unix_ns};
}

Result<SealedSlot> SealedSlot::open(const node::Staging& staging, std::uint32_t slot, std::uint64_t id,
                                    std::uint32_t lease) {
    const auto& page = staging.control();
    if (slot >= page.slot_count.load(std::memory_order_acquire))
        return Error{ErrorKind::broken, fmt::format("a defect of Forebay: there is no slot {}", slot)};
    const auto& control = page.slots[slot];
    const auto& stream = page.streams[control.stream];
    const std::string rules = stream.insitu.data();
    FB_TRY_ASSIGN(analyses, node::decode_analyses(rules));
    const auto path = staging.slot_path(slot);
    FB_TRY_ASSIGN(mapping, sys::Mapping::open(path, false));
    const std::span<const std::byte> image = mapping.bytes();
    // A save that takes the slot overwrites it, so a read error counts only while the lease is there.
    const auto gone = [&](const Error& error) { return is_leased(control, id, lease) ? error : taken(); };
    const auto peek = format::peek(image, path);
    if (!peek) return gone(peek.error());
    // By now the slot holds another save.
    if (peek->record.snapshot_id != id || peek->head_bytes > image.size()) return taken();
    auto head = format::open_head(image.first(peek->head_bytes), path);
    if (!head) return gone(head.error());
    auto node = catalog::BlockReader::over(std::move(*head), image, path);
    SealedSlot sealed(control, id, lease, std::move(mapping), std::move(node));
    sealed.stream_ = stream.name.data();
    sealed.analyses_ = std::move(analyses);
    sealed.rules_crc32c_ = crc32c(std::as_bytes(std::span(rules)));
    return sealed;
}

}  // namespace forebay::insitu
