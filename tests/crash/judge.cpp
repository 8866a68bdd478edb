// What is found at the target, against the ledger.

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/crc32c.hpp"
#include "catalog/names.hpp"
#include "crash/world.hpp"
#include "format/shared.hpp"

namespace forebay::crash {

namespace {

using test::SmallSnapshot;

/// Whether a shared file has the region of a staged file, and its bytes where that says.
bool holds_shared(std::string_view stored, std::span<const std::byte> image) {
    const auto staged = format::open_head(image, "staged").value();
    const auto region = format::encode_region(staged, image);
    const auto at = staged.record.group.offset_of(staged.record.node);
    if (stored.size() != staged.record.group.file_bytes() || stored.substr(at, region.size()) != text_of(region))
        return false;
    bool same = true;
    format::for_each_stretch(format::open_head(region, "region").value(), 0, staged.file_bytes,
                             [&](const format::Stretch& stretch) {
                                 same = stored.substr(stretch.offset, stretch.bytes) ==
                                        text_of(image.subspan(stretch.plain_offset, stretch.bytes));
                                 return same;
                             });
    return same;
}

bool is_earlier(const SmallSnapshot& a, const SmallSnapshot& b) { return a.sealed_unix_ns < b.sealed_unix_ns; }

}  // namespace

// Whether it is whole to the last byte, by our tools and by the bytes that the save gave; empty when it is.
std::string World::judge_snapshot(const catalog::Snapshot& found) const {
    const auto manifest = catalog::load_manifest(*disk_, found.directory);
    if (!manifest) return fmt::format("{} is listed without a manifest: {}", found.directory, manifest.error().text);
    const auto* save = save_of(manifest->snapshot_id);
    if (save == nullptr || save->step != found.step) return found.directory + " is nobody's save";
    if (ledger_.removed.contains(save->id)) return found.directory + " was removed, and came back";
    const auto verified = catalog::verify(*disk_, found, {});
    if (!verified) return fmt::format("{} cannot be verified: {}", found.directory, verified.error().text);
    if (!verified->damage.empty())
        return fmt::format("{} is committed and damaged: {}", found.directory, verified->damage.front().text);
    for (std::uint32_t node = 0; node < save->nodes; ++node) {
        const auto path = found.directory + "/" + format::node_path(node, save->nodes, save->nodes_per_file);
        const auto& image = image_of(*save, node);
        const auto offset = test::small_group(*save, node).offset_of(node);
        const auto stored = disk_->peek(path).value_or("");
        if (save->nodes_per_file == format::in_shared_file) {
            if (!holds_shared(stored, image)) return path + " verifies and is not what was saved";
            continue;
        }
        // A file of its own has nothing else; in a combined one the others have their own turn.
        const auto own = offset == 0 ? std::string_view(stored)
                                     : std::string_view(stored).substr(std::min(offset, stored.size()), image.size());
        if (own != text_of(image)) return path + " verifies and is not what was saved";
    }
    const auto view = disk_->peek(found.directory + ".h5");
    if (view && *view != view_text(*save)) return found.directory + ".h5 shows another save";
    return {};
}

std::string World::judge_promise(const SmallSnapshot& promised, bool recovered) const {
    const auto* found = committed_at(promised.step);
    if (found != nullptr && !is_earlier(*found, promised)) return {};
    for (const auto& save : ledger_.saves) {
        const auto aside = catalog::leftover_name({save.step, save.id, catalog::Leftover::Kind::old});
        if (!recovered && save.step == promised.step && !is_earlier(save, promised) && save_in(aside) != nullptr)
            return {};
    }
    if (ledger_.may_vanish.contains(promised.step)) return {};  // and an earlier save may come again from memory
    auto text =
        fmt::format("step {} ({}) was committed and is lost; there is", promised.step, catalog::id_text(promised.id));
    const auto entries = disk_->list(run + "/restart");
    if (!entries) return text + " not even its stream";
    for (const auto& entry : *entries) {
        const auto* save = save_in(entry.name);
        text += fmt::format(" {} ({})", entry.name, save == nullptr ? "" : catalog::id_text(save->id));
    }
    return text;
}

std::vector<std::string> World::judge(bool recovered) const {
    std::vector<std::string> wrong;
    const auto add = [&](std::string text) {
        if (!text.empty()) wrong.push_back(std::move(text));
    };
    const auto listed = catalog::snapshots(*disk_, run, "restart");
    if (listed)
        for (const auto& snapshot : *listed) add(judge_snapshot(snapshot));
    else if (listed.error().kind != ErrorKind::missing) add(listed.error().text);
    for (const auto& [step, promised] : ledger_.durable) add(judge_promise(promised, recovered));
    for (const auto& path : disk_->paths()) {
        if (!path.ends_with(".h5") || path.find("/step-") == std::string::npos) continue;
        const auto directory = path.substr(0, path.size() - 3);
        const auto step = catalog::step_of(directory.substr(directory.rfind('/') + 1));
        if (step && committed_at(*step) == nullptr) wrong.push_back(path + " is a view of nothing");
    }
    return wrong;
}

std::vector<std::string> World::leftovers(bool stale) const {
    std::vector<std::string> found;
    for (const auto& path : disk_->paths()) {
        if (path.find("/.") == std::string::npos) continue;
        if (!stale && (path.find(".part/") != std::string::npos || path.ends_with(".tmp"))) continue;
        found.push_back(path);
    }
    return found;
}

std::vector<std::string> World::contents() const {
    std::vector<std::string> all;
    for (const auto& path : disk_->paths()) {
        const auto bytes = disk_->peek(path).value_or("");
        all.push_back(fmt::format("{} {} {:x}", path, bytes.size(), crc32c(std::as_bytes(std::span(bytes)))));
    }
    std::ranges::sort(all);
    return all;
}

}  // namespace forebay::crash
