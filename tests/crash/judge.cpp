// Compares the content of the target with the ledger.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "core/base/crc32c.hpp"
#include "core/format/shared.hpp"
#include "crash/world.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"

namespace forebay::crash {

namespace {

using test::SmallSnapshot;

/// True if a shared file holds the region of a staged file and its bytes at the right places.
bool holds_shared(std::string_view stored, std::span<const std::byte> image) {
    const auto staged = format::open_head(image, "staged").value();
    const auto region = format::encode_region(staged, image);
    const auto at = format::region_offset(staged.record.form, staged.record.node);
    if (stored.size() != format::length_of(staged.record.form) || stored.substr(at, region.size()) != text_of(region))
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

std::string bytes_below(const test::SimStore& disk, const std::string& directory) {
    std::string all;
    for (const auto& path : disk.paths())
        if (path.starts_with(directory + "/"))
            all += path.substr(directory.size()) + "\n" + disk.peek(path).value_or("");
    return all;
}

}  // namespace

// Checks every byte, with verify and against the bytes of the save. Returns the fault; empty if all is right.
std::string World::judge_snapshot(const catalog::Snapshot& snapshot) const {
    const auto id = id_in(snapshot.directory);
    if (!id) return snapshot.directory + " is listed without a manifest";
    const auto* save = ledger_.save_of(*id);
    if (save == nullptr || save->step != snapshot.step) return snapshot.directory + " is nobody's save";
    if (save->lineage.run_id != run_id_) return snapshot.directory + " is of another run";
    if (ledger_.removed.contains(save->id)) return snapshot.directory + " was removed, and came back";
    if (auto wrong = judge_marks(snapshot, *save); !wrong.empty()) return wrong;
    const auto view = disk_->peek(snapshot.directory + ".h5");
    if (view && *view != view_text(*save)) return snapshot.directory + ".h5 shows another save";
    // The same bytes recur after many cuts, so the verdict is cached.
    static std::map<std::pair<std::string, std::size_t>, std::string> verdicts;
    const auto bytes = std::hash<std::string>{}(bytes_below(*disk_, snapshot.directory));
    const auto [verdict, is_new] = verdicts.try_emplace({key_of(recorded(*save)), bytes});
    if (is_new) verdict->second = judge_files(snapshot, *save);
    return verdict->second;
}

// A marked snapshot must show its mark. An unmarked one may show only a mark that a program had begun.
std::string World::judge_marks(const catalog::Snapshot& snapshot, const SmallSnapshot& save) const {
    const auto manifest = catalog::load_manifest(*disk_, snapshot.directory);
    if (!manifest) return fmt::format("{}: {}", snapshot.directory, manifest.error().text());
    const auto marks = catalog::marks_of(*disk_, snapshot.directory, *manifest);
    if (!marks) return fmt::format("{}: {}", snapshot.directory, marks.error().text());
    if (marks->empty() && ledger_.marks.contains(save.id)) return snapshot.directory + " was marked, and is not";
    if (!marks->empty() && !ledger_.begun_marks.contains(save.id)) return snapshot.directory + " is marked by nobody";
    return {};
}

std::string World::judge_files(const catalog::Snapshot& snapshot, const SmallSnapshot& save) const {
    const auto verified = catalog::verify(*disk_, snapshot, {});
    if (!verified) return fmt::format("{} cannot be verified: {}", snapshot.directory, verified.error().text());
    if (!verified->damage.empty())
        return fmt::format("{} is committed and damaged: {}", snapshot.directory, verified->damage.front().text);
    return judge_bytes(snapshot, save);
}

std::string World::judge_bytes(const catalog::Snapshot& snapshot, const SmallSnapshot& save) const {
    for (std::uint32_t node = 0; node < save.nodes; ++node) {
        const auto form = test::small_form(save, node);
        const auto path = snapshot.directory + "/" + format::node_path(node, save.nodes, form);
        const auto& image = image_of(recorded(save), node);
        const auto offset = format::region_offset(form, node);
        const auto stored = disk_->peek(path).value_or("");
        if (save.nodes_per_file == test::all_in_one) {
            if (!holds_shared(stored, image)) return path + " verifies and is not what was saved";
            continue;
        }
        // A node file of its own holds nothing else. The rest of a combined file is compared for its other nodes.
        const auto own = offset == 0 ? std::string_view(stored)
                                     : std::string_view(stored).substr(std::min(offset, stored.size()), image.size());
        if (own != text_of(image)) return path + " verifies and is not what was saved";
    }
    return {};
}

std::optional<std::uint64_t> World::id_in(const std::string& directory) const {
    static std::map<std::string, std::optional<std::uint64_t>> ids;
    const auto text = disk_->peek(directory + "/" + catalog::manifest_name);
    if (!text) return {};
    const auto [id, is_new] = ids.try_emplace(*text);
    if (!is_new) return id->second;
    if (const auto manifest = format::decode_manifest(*text, directory); manifest) id->second = manifest->snapshot_id;
    return id->second;
}

const SmallSnapshot* World::save_in(const std::string& name) const {
    const auto id = id_in(stream_directory + "/" + name);
    return id ? ledger_.save_of(*id) : nullptr;
}

const SmallSnapshot* World::committed_like(const SmallSnapshot& save) const {
    const SmallSnapshot* latest = nullptr;
    for (const auto& name : {catalog::step_name(save.step), catalog::aside_name(save.lineage.line(), save.step)}) {
        const auto* saved = save_in(name);
        if (saved == nullptr || saved->lineage.line() != save.lineage.line()) continue;
        if (latest == nullptr || format::is_later(which_save(*saved), which_save(*latest))) latest = saved;
    }
    return latest;
}

bool World::is_being_replaced(const SmallSnapshot& save) const {
    return save_in(catalog::leftover_name({save.step, save.id, catalog::Leftover::Kind::old})) != nullptr;
}

std::string World::judge_promise(const SmallSnapshot& promised, bool recovered) const {
    const auto holds = [&](const SmallSnapshot* snapshot) {
        return snapshot != nullptr && !format::is_later(which_save(promised), which_save(*snapshot));
    };
    if (holds(committed_like(promised))) return {};
    for (const auto& save : ledger_.saves) {
        const bool is_like = save.step == promised.step && save.lineage.line() == promised.lineage.line();
        if (!recovered && is_like && holds(&save) && is_being_replaced(save)) return {};
    }
    auto text = fmt::format("step {} of line {} ({}) was committed and is lost; there is", promised.step,
                            format::name_of(promised.lineage.line()), catalog::id_text(promised.id));
    const auto entries = disk_->list(stream_directory);
    if (!entries) return text + " not even its stream";
    for (const auto& entry : *entries) {
        const auto* save = save_in(entry.name);
        text += fmt::format(" {} ({})", entry.name, save == nullptr ? "" : catalog::id_text(save->id));
    }
    return text;
}

std::vector<std::string> World::judge(bool recovered) const {
    auto wrong = ledger_.wrong;
    const auto add = [&](std::string text) {
        if (!text.empty()) wrong.push_back(std::move(text));
    };
    const auto add_all = [&](const std::vector<std::string>& texts) {
        wrong.insert(wrong.end(), texts.begin(), texts.end());
    };
    const auto history = catalog::history(*disk_, run, stream);
    if (history) {
        for (const auto* list : {&history->living, &history->abandoned, &history->foreign})
            for (const auto& version : *list) add(judge_snapshot(version.snapshot));
        add_all(judge_lines(*history));
        add(judge_choice(*history, recovered));
    } else if (history.error().kind != ErrorKind::missing) {
        add(history.error().text());
    }
    for (const auto& promised : ledger_.promised()) add(judge_promise(promised, recovered));
    add_all(judge_batches());
    for (const auto& path : disk_->paths()) {
        if (!path.ends_with(".h5") || !path.starts_with(stream_directory + "/step-")) continue;
        const auto directory = path.substr(0, path.size() - 3);
        const auto step = catalog::step_of(directory.substr(directory.rfind('/') + 1));
        if (step && save_in(catalog::step_name(*step)) == nullptr) wrong.push_back(path + " is a view of nothing");
    }
    return wrong;
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
