#include "transfer/archive/maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/copy/settled.hpp"

namespace forebay::archive {

namespace {

// Bytes of a packet are still in a core's cache when they are written.
constexpr std::size_t packet_bytes = 512u << 10;
// A larger file is copied in pieces, never as a whole in memory.
constexpr std::uint64_t packed_file_bytes_max = 4u << 20;
// A reader takes 16 MiB of records, and ACLs appear in them twice.
constexpr std::uint64_t attributes_bytes_max = 12u << 20;
// Most symbolic links deferred behind their directory's entry: they share a packet with it.
constexpr std::size_t deferred_max = 256;

// GNU tar makes such a link at the very end, and sets its directory's times again if the directory's entry comes right
// before. libarchive sets times at the directory's entry, so another entry of the directory follows the links.
bool leads_away(std::string_view text) {
    if (text.starts_with('/')) return true;
    while (!text.empty()) {
        const auto name = text.substr(0, text.find('/'));
        if (name == "..") return true;
        text.remove_prefix(std::min(text.size(), name.size() + 1));
    }
    return false;
}

Result<> take_attributes(const tree::AttributeSource& attributes, Member& member) {
    std::uint64_t bytes = 0;
    for (const auto& name : attributes.names) {
        auto value = attributes.value(name);
        if (!value && value.error().kind == ErrorKind::missing) continue;  // removed since; the status shows it
        if (!value) return value.error();
        bytes += name.size() + value->size();
        if (bytes > attributes_bytes_max)
            return Error{
                ErrorKind::unsupported,
                fmt::format("its extended attributes are larger than the {} that an archive holds for one entry",
                            show_bytes(attributes_bytes_max))};
        member.attributes.push_back({name, std::move(*value)});
    }
    return {};
}

}  // namespace

void Maker::add(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder, sys::EntryKind kind,
                std::uint64_t listed_number) {
    if (auto added = try_add(worker, place, folder, kind, listed_number); !added)
        parts.failures.report(path_of(*place.dir_node, place.name), added.error());
    settle(worker, false);
}

// True, and reported, if a read would recall the file's bytes and recall is not requested.
Result<bool> Maker::leaves(const tree::EntryPlace& place, sys::Folder& folder) {
    return parts.stored.leaves(*place.dir_node, &folder, nullptr, place.name, parts.entry_log);
}

Result<tree::CopyStep> Maker::try_add(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder,
                                      sys::EntryKind kind, std::uint64_t listed_number) {
    std::unique_ptr<sys::OpenFile> file;
    if (kind == sys::EntryKind::file && output != nullptr && !parts.links.knows(listed_number)) {
        FB_TRY_ASSIGN(is_left, leaves(place, folder));
        if (is_left) return tree::CopyStep::reported;
        FB_TRY_ASSIGN(opened, folder.open_file(place.name));
        file = std::move(opened);
    }
    FB_TRY_ASSIGN(status, file ? file->status() : folder.status_of(place.name));
    const auto path = [&] { return path_of(*place.dir_node, place.name); };
    if (status.kind == sys::EntryKind::folder || (file && status.kind != sys::EntryKind::file))
        return tree::report_changes(parts.entry_log, path());
    if (output != nullptr && output->is(status.id)) {
        parts.entry_log.add(tree::EntryEvent::skipped, path(), "it is the archive itself");
        return tree::CopyStep::done;
    }
    const bool has_names = status.names > 1 && parts.options.preserve.hard_links;
    if (has_names) {
        tree::EntryPlace first;
        ++place.dir_node->pending;  // for a name that waits; counted as done when its packet is written
        const auto turn = parts.links.take(status, {}, place, first);
        if (!turn) {
            --place.dir_node->pending;
            return turn.error();
        }
        if (*turn == tree::HardLinks::Turn::waits) {
            // The packet with their first name is written before much more comes into it.
            if (parts.links.waiting() % tree::waiting_names_max == 0) settle(worker, true);
            return tree::CopyStep::later;
        }
        if (*turn == tree::HardLinks::Turn::ready) {
            put_link(worker, {.own = place, .first = first, .kind = status.kind});
            return tree::CopyStep::done;
        }
        --place.dir_node->pending;  // never the last: this batch of names keeps the node pending
    }
    const auto done = put(worker, place, folder, status, std::move(file));
    const bool comes_in_pieces = done && *done == tree::CopyStep::later;
    if (status.kind == sys::EntryKind::file && !comes_in_pieces) parts.counts.passed_bytes += status.bytes;
    if (!has_names || comes_in_pieces) return done;
    if (!done || *done == tree::CopyStep::reported) give_up(worker, parts.links.id_of(status));
    else if (output != nullptr) packets_[worker.index].stored.push_back({status, place});
    else stored(worker, status, place);
    return done;
}

// `later`: a large file, which handles its further names itself.
Result<tree::CopyStep> Maker::put(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder,
                                  const sys::EntryStatus& status, std::unique_ptr<sys::OpenFile> file) {
    tree::tell_flags(parts.entry_log, *place.dir_node, place.name, status);
    if (output == nullptr) {
        const bool is_file = status.kind == sys::EntryKind::file;
        if (is_file) {
            FB_TRY_ASSIGN(is_left, leaves(place, folder));
            if (is_left) return tree::CopyStep::reported;
        }
        parts.counts.would_copy.add(is_file ? status.bytes : 0);
        parts.entry_log.add(tree::EntryEvent::would_copy, path_of(*place.dir_node, place.name), "");
        return tree::CopyStep::done;
    }
    if (status.kind == sys::EntryKind::file) {
        auto before = status;
        if (!file) {
            FB_TRY_ASSIGN(is_left, leaves(place, folder));
            if (is_left) return tree::CopyStep::reported;
            FB_TRY_ASSIGN(opened, folder.open_file(place.name));
            file = std::move(opened);
            FB_TRY_ASSIGN(looked, file->status());
            const bool is_other = status.names > 1 && parts.links.id_of(looked) != parts.links.id_of(status);
            if (looked.kind != sys::EntryKind::file || looked.id != status.id || is_other)
                return tree::report_changes(parts.entry_log, path_of(*place.dir_node, place.name));
            before = looked;
        }
        FB_TRY_ASSIGN(step, put_file(worker, place, *file, before));
        if (step != tree::CopyStep::later) return step;
        ++place.dir_node->pending;
        start_large_member(*this, worker, place, std::move(file), before);
        return step;
    }
    if (status.kind == sys::EntryKind::link && status.names == 1) {
        FB_TRY_ASSIGN(text, folder.link_text(place.name));
        if (leads_away(text) && deferred(place)) return tree::CopyStep::done;
    }
    FB_TRY(put_other(worker, place, folder, status));
    return tree::CopyStep::done;
}

bool Maker::deferred(const tree::EntryPlace& place) {
    const std::lock_guard lock(mutex_);
    auto& names = deferred_[place.dir_node.get()];
    if (names.size() < deferred_max) names.push_back(place.name);
    return names.back() == place.name;
}

std::vector<std::string> Maker::take_deferred(const tree::DirNode& dir_node) {
    const std::lock_guard lock(mutex_);
    const auto node = deferred_.extract(&dir_node);
    return node ? std::move(node.mapped()) : std::vector<std::string>();
}

Result<> Maker::put_other(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder,
                          const sys::EntryStatus& status) {
    if (status.kind == sys::EntryKind::unknown)
        return Error{ErrorKind::unsupported, "this program does not know its kind"};
    Member member{.path = path_of(*place.dir_node, place.name), .status = status};
    if (status.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(text, folder.link_text(place.name));
        member.link_text = std::move(text);
    }
    if (parts.options.preserve.attributes) {
        FB_TRY_ASSIGN(attributes, tree::attributes_of(folder, place.name));
        FB_TRY(take_attributes(attributes, member));
    }
    put_head(packets_[worker.index], member);
    ++parts.counts.copied;
    return {};
}

Result<Member> Maker::describe(sys::OpenEntry& entry, const sys::EntryStatus& status) const {
    Member member;
    member.status = status;
    if (!parts.options.preserve.attributes) return member;
    FB_TRY_ASSIGN(attributes, tree::attributes_of(entry));
    FB_TRY(take_attributes(attributes, member));
    return member;
}

Result<tree::CopyStep> Maker::put_file(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::OpenFile& file,
                                       sys::EntryStatus before) {
    auto& packet = packets_[worker.index];
    for (int tries = 0; tries < tree::copy_tries_max; ++tries) {
        FB_TRY_ASSIGN(settled, tree::settled_status(file, before));
        if (!settled) break;
        before = *settled;
        FB_TRY_ASSIGN(member, describe(file, before));
        member.path = path_of(*place.dir_node, place.name);
        FB_TRY(find_stored(file, member));
        if (member.stored_bytes > packed_file_bytes_max) return tree::CopyStep::later;
        const auto way = parts.flow.way();
        if (!way.pace->wait_turn(member.stored_bytes, way.stop)) return Error{ErrorKind::retry, "stopped"};
        Head head;
        FB_TRY_ASSIGN(is_formed, form_file(packet, member, file, head));
        FB_TRY_ASSIGN(after, file.status());
        // If the file changed while it was read, the next try forms it again in the same room.
        if (is_formed && tree::is_unchanged(before, after)) {
            packet.commit(head.bytes.size() + round_up(member.stored_bytes, block_bytes), head);
            ++parts.counts.copied;
            way.moved(member.stored_bytes);
            return tree::CopyStep::done;
        }
        before = after;
    }
    return tree::report_changes(parts.entry_log, path_of(*place.dir_node, place.name));
}

// Forms the entry in the next room of the packet. Returns false if the file is shorter than its size.
Result<bool> Maker::form_file(Packet& packet, const Member& member, sys::OpenFile& file, Head& head) {
    head = encode_head(member);
    const auto map = map_of(member);
    const auto room = packet.room(head.bytes.size() + round_up(member.stored_bytes, block_bytes));
    const auto stored = room.subspan(head.bytes.size());
    std::ranges::copy(bytes_of(head.bytes), room.begin());
    std::ranges::copy(bytes_of(map), stored.begin());
    for (const auto& part : member.stored) {
        const auto to = stored.subspan(map.size() + part.stored, part.end - part.begin);
        FB_TRY_ASSIGN(got, file.read(part.begin, to));
        if (got < to.size()) return false;
    }
    std::ranges::fill(stored.subspan(member.stored_bytes), std::byte{0});
    set_stored_sum(room, head.sums_at, crc32c(stored.first(member.stored_bytes)));
    return true;
}

void Maker::begin(sys::Folder& root, const sys::EntryStatus& status) {
    auto member = describe(root, status);
    if (member) root_ = std::move(*member);
    else parts.failures.report(".", member.error());
    root_.status = status;
    root_.path = ".";
    root_head = encode_head(root_);
    set_stored_sum(std::as_writable_bytes(std::span(root_head.bytes)), root_head.sums_at, 0);
}

Result<> Maker::end() { return output != nullptr ? output->end_with(root_) : Result<>(); }

void Maker::put_head(Packet& packet, const Member& member) {
    const auto head = encode_head(member);
    const auto room = packet.room(head.bytes.size());
    std::ranges::copy(bytes_of(head.bytes), room.begin());
    set_stored_sum(room, head.sums_at, 0);
    packet.commit(room.size(), head);
}

void Maker::put_link(tree::TreeWorker& worker, const Packet::Link& link) {
    auto& packet = packets_[worker.index];
    packet.holds.push_back(link.own.dir_node);
    Member member{.path = path_of(*link.own.dir_node, link.own.name)};
    if (output == nullptr) {
        parts.counts.would_copy.add(0);
        return parts.entry_log.add(tree::EntryEvent::would_copy, member.path, "");
    }
    member.status.kind = link.kind;
    member.same_as = path_of(*link.first.dir_node, link.first.name);
    put_head(packet, member);
    ++parts.counts.linked;
}

void Maker::hold(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node) {
    ++dir_node->pending;
    packets_[worker.index].holds.push_back(dir_node);
}

void Maker::count_done(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node) {
    tree::count_done(dir_node, parts.folders, [&](const tree::DirNodeRef& done) { finish(worker, done); });
}

// All entries of the directory have their place in the archive.
void Maker::finish(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node) {
    if (!dir_node->was_entered || parts.share.is_stopped() || output == nullptr) return;
    const auto links = take_deferred(*dir_node);
    const bool is_root = !dir_node->parent;  // end() writes the root
    if (is_root && links.empty()) return;
    const auto put = [&]() -> Result<> {
        FB_TRY_ASSIGN(folder, parts.folders.get(dir_node, tree::TreeSide::source));
        FB_TRY_ASSIGN(member, describe(*folder, dir_node->status(tree::TreeSide::source)));
        member.path = path_of(*dir_node);
        put_head(packets_[worker.index], member);
        for (const auto& name : links) {
            const auto status = folder->status_of(name);
            const auto linked = status ? put_other(worker, {dir_node, name}, *folder, *status) : status.error();
            if (!linked) parts.failures.report(path_of(*dir_node, name), linked.error());
        }
        if (!links.empty() && !is_root) put_head(packets_[worker.index], member);
        return {};
    }();
    if (!put) parts.failures.report(path_of(*dir_node), put.error());
    if (dir_node->parent) hold(worker, dir_node->parent);
}

void Maker::stored(tree::TreeWorker& worker, const sys::EntryStatus& status, const tree::EntryPlace& first) {
    for (auto& waiting : parts.links.published(parts.links.id_of(status), first))
        packets_[worker.index].links.push_back({.own = std::move(waiting), .first = first, .kind = status.kind});
}

void Maker::give_up(tree::TreeWorker& worker, const sys::EntryId& id) {
    for (auto& waiting : parts.links.failed(id))
        parts.share.add(worker, [this, waiting](tree::TreeWorker& other) {
            const auto folder = parts.folders.get(waiting.dir_node, tree::TreeSide::source);
            if (folder) add(other, waiting, **folder, sys::EntryKind::unknown, 0);
            else parts.failures.report(path_of(*waiting.dir_node, waiting.name), folder.error());
            hold(other, waiting.dir_node);
            count_done(other, waiting.dir_node);
        });
}

void Maker::write_out(Packet& packet) {
    if (packet.used > 0 && output != nullptr) {
        const auto offset = output->reserve(packet.used);
        // The place is known only now. Each head contains its place, and its checksum covers that.
        for (const auto& [at, bytes, sums_at] : packet.heads)
            output->count(offset + at, set_place({packet.bytes.get() + at, bytes}, sums_at, offset + at));
        if (const auto written = output->write(offset, {packet.bytes.get(), packet.used}); !written)
            parts.failures.end_by(written.error());
    }
    packet.used = 0;
    packet.heads.clear();
    packet.written.insert(packet.written.end(), packet.holds.begin(), packet.holds.end());
    packet.holds.clear();
}

void Maker::settle(tree::TreeWorker& worker, bool all) {
    auto& packet = packets_[worker.index];
    // Each step may add work for another: a written packet frees links and directories, and their entries go into
    // packets.
    while (true) {
        const bool has_work = !packet.links.empty() || !packet.written.empty();
        if (packet.used >= packet_bytes || (all && !has_work && !packet.is_empty())) {
            write_out(packet);
            for (const auto& [status, first] : std::exchange(packet.stored, {})) stored(worker, status, first);
        } else if (!packet.links.empty()) {
            const auto link = std::move(packet.links.front());
            packet.links.pop_front();
            put_link(worker, link);
        } else if (!packet.written.empty()) {
            const auto dir_node = std::move(packet.written.front());
            packet.written.pop_front();
            count_done(worker, dir_node);
        } else {
            break;
        }
    }
    parts.flow.tick();
}

void Maker::write_rest() {
    for (std::size_t left = 1; left > 0;) {
        left = 0;
        for (std::size_t index = 0; index < packets_.size(); ++index) {
            tree::TreeWorker worker{.share = &parts.share, .index = index};
            left += packets_[index].is_empty() ? 0 : 1;
            settle(worker, true);
        }
    }
}

}  // namespace forebay::archive
