#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/segments.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/catalog/plain_bytes.hpp"

namespace forebay::catalog {

namespace {

class Verifier {
public:
    Verifier(sys::Store& store, const std::string& directory, const format::Manifest& manifest,
             const std::function<void(std::uint64_t, std::uint64_t)>& progress)
        : store_(store), directory_(directory), manifest_(manifest), progress_(progress) {
        verified_.snapshot_id = manifest.snapshot_id;
        for (const auto& line : manifest.nodes) total_ += line.data_bytes;
    }

    /// Returns an error only if the check could not run. Findings are damage.
    Result<Verified> run() {
        for (const auto& line : manifest_.nodes) {
            const auto before = verified_.bytes;
            FB_TRY(file(line));
            skipped_ += line.data_bytes - std::min(line.data_bytes, verified_.bytes - before);
            report();
        }
        return std::move(verified_);
    }

private:
    Result<> file(const format::NodeLine& line);
    struct Node {
        NodeReader reader;
        format::NodeFile head;
    };
    Result<Node> open(const format::NodeLine& line, sys::Access access) const;
    Result<> blocks(Node& node, const format::NodeLine& line);
    Result<> window(Node& node, const format::NodeLine& line);
    bool heal(const Node& node, const format::NodeLine& line, const format::Segment& segment,
              std::span<std::byte> bytes);
    Result<> compare_head(const ShownHead& shown);
    Result<> compare_stored_head(const ShownHead& shown, sys::Access access) const;
    std::string differs(const format::NodeLine& line, const format::NodeFile& head) const;
    void count_healed(bool healed) { verified_.healed += healed ? 1 : 0; }

    void add_damage(Damage damage) { verified_.damage.push_back(std::move(damage)); }
    void report() const {
        if (progress_) progress_(verified_.bytes + skipped_, total_);
    }

    sys::Store& store_;
    const std::string& directory_;
    const format::Manifest& manifest_;
    const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
    Verified verified_;
    std::uint64_t total_ = 0;
    std::uint64_t skipped_ = 0;            // bytes of unreadable node files
    std::string path_, name_;              // the current file, and its node file's name in texts
    std::uint64_t base_ = 0;               // begin of the node file in the file
    std::vector<format::Region> regions_;  // regions of the current file; its form fills them
    std::vector<format::Segment> window_;
    std::vector<std::byte> buffer_;
    PlainBytes::Scratch scratch_;
};

// The first difference between the manifest's line and the file; empty if there is none.
std::string Verifier::differs(const format::NodeLine& line, const format::NodeFile& head) const {
    if (head.record.snapshot_id != manifest_.snapshot_id || head.record.step != manifest_.step)
        return fmt::format("it holds step {} of snapshot {}, the manifest step {} of snapshot {}", head.record.step,
                           id_text(head.record.snapshot_id), manifest_.step, id_text(manifest_.snapshot_id));
    if (head.record_crc32c != line.record_crc32c)
        return fmt::format("its record has checksum {:08x}, the manifest {:08x}", head.record_crc32c,
                           line.record_crc32c);
    if (head.schema != manifest_.schema) return "its variables differ from the manifest";
    auto expected = format::line_of(head, line.path);
    expected.changed_unix_ns = line.changed_unix_ns;  // no head has it
    if (expected != line) return "its ranks, rows or boxes differ from the manifest";
    return {};
}

Result<Verifier::Node> Verifier::open(const format::NodeLine& line, sys::Access access) const {
    FB_TRY_ASSIGN(reader, NodeReader::open(store_, directory_, line, access));
    FB_TRY_ASSIGN(head, reader.head());
    if (const auto difference = differs(line, head); !difference.empty())
        return Error{ErrorKind::corrupt, fmt::format("{} is not the committed file: {}.", name_, difference)};
    return Node{std::move(reader), std::move(head)};
}

Result<> Verifier::file(const format::NodeLine& line) {
    name_ = catalog::name_of(directory_, line);
    path_ = directory_ + "/" + line.path;
    base_ = line.offset_bytes;
    bool healed = false;
    auto node = read_healing([&](sys::Access access) { return open(line, access); }, &healed);
    count_healed(healed);
    if (!node) {
        const auto& error = node.error();
        // The file cannot be read now, so it may be good: the check could not run.
        if (error.kind != ErrorKind::corrupt && error.kind != ErrorKind::missing) return error;
        add_damage({path_, "", 0, base_, base_ + std::max<std::uint64_t>(line.file_bytes, 1) - 1,
                    error.kind == ErrorKind::missing ? fmt::format("{} is missing.", path_) : error.line()});
        return {};
    }
    FB_TRY(blocks(*node, line));
    const auto shown = form_of(line.form).shown(manifest_, line, node->head, regions_);
    return shown ? compare_head(*shown) : Result<>{};
}

Result<> Verifier::blocks(Node& node, const format::NodeLine& line) {
    window_.clear();
    for (const auto& next : format::segments_by_offset(node.head)) {
        if (!window_.empty()) {
            const auto& last = window_.back();
            // Bytes of a small gap are read too: one read costs less than two.
            const bool far = next.offset > last.offset + last.bytes + limits::verify_gap_bytes;
            const bool long_enough = next.offset + next.bytes - window_.front().offset > limits::verify_window_bytes;
            if (far || long_enough) FB_TRY(window(node, line));
        }
        window_.push_back(next);
    }
    return window_.empty() ? Result<>{} : window(node, line);
}

// The head of a file of several nodes follows from its nodes. After the last node it is encoded again and compared.
Result<> Verifier::compare_head(const ShownHead& shown) {
    bool healed = false;
    const auto compared = read_healing([&](sys::Access access) { return compare_stored_head(shown, access); }, &healed);
    count_healed(healed);
    if (!compared && compared.error().kind != ErrorKind::corrupt) return compared;
    if (!compared) add_damage({path_, "", 0, 0, shown.bytes.size() - 1, compared.error().line()});
    return {};
}

Result<> Verifier::compare_stored_head(const ShownHead& shown, sys::Access access) const {
    const auto& expected = shown.bytes;
    FB_TRY_ASSIGN(file, store_.open(path_, access));
    FB_TRY_ASSIGN(size, file->size());
    std::vector<std::byte> bytes(expected.size());
    FB_TRY(file->read(0, bytes));
    const auto [wrong, right] = std::ranges::mismatch(bytes, expected);
    if (wrong == bytes.end() && size == shown.file_bytes) return {};
    return Error{ErrorKind::corrupt,
                 wrong == bytes.end()
                     ? fmt::format("{} has {} bytes, {} expected.", path_, size, shown.file_bytes)
                     : fmt::format("{} differs at byte {} of its head, which only other HDF5 programs read.", path_,
                                   wrong - bytes.begin())};
}

// Reads the collected segments at once and checks each. If a chunk of a compressed file is damaged, it reads them one
// by one, so that each segment is reported.
Result<> Verifier::window(Node& node, const format::NodeLine& line) {
    const auto& head = node.head;
    const auto first = window_.front().offset;
    buffer_.resize(window_.back().offset + window_.back().bytes - first);
    const PlainBytes plain(node.reader.file(), head, name_);
    const auto all = plain.read(first, buffer_, scratch_);
    const auto chunk_damaged = [&](const Result<>& read) {
        return !read && read.error().kind == ErrorKind::corrupt && head.storage == format::Storage::compressed;
    };
    if (!all && !chunk_damaged(all)) return all;
    for (const auto& segment : window_) {
        ++verified_.segments;
        verified_.bytes += segment.bytes;
        const auto bytes = std::span(buffer_).subspan(segment.offset - first, segment.bytes);
        const auto again = all ? Result<>() : plain.read(segment.offset, bytes, scratch_);
        if (!again && !chunk_damaged(again)) return again;
        const auto checked = again ? format::check_segment(head, segment, bytes, name_) : again;
        if (checked || heal(node, line, segment, bytes)) continue;
        const auto& block = head.blocks[segment.block];
        const auto [first_byte, last_byte] = form_of(head.record.form).bounds_of(head, segment, base_);
        add_damage({path_, head.schema.variables[block.variable].name, block.rank, first_byte, last_byte,
                    checked.error().line()});
    }
    window_.clear();
    report();
    return {};
}

// True if the segment is right in storage. If storage cannot be read now, the first result stays.
bool Verifier::heal(const Node& node, const format::NodeLine& line, const format::Segment& segment,
                    std::span<std::byte> bytes) {
    const auto stored = open_line(store_, directory_, line, sys::Access::read_direct);
    const bool healed = stored && PlainBytes(**stored, node.head, name_).read(segment.offset, bytes, scratch_) &&
                        format::check_segment(node.head, segment, bytes, name_);
    count_healed(healed);
    return healed;
}

}  // namespace

Result<Verified> verify(sys::Store& store, const Snapshot& snapshot,
                        const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    FB_TRY_ASSIGN(manifest, load_manifest(store, snapshot.directory));
    FB_TRY(check_place(manifest, snapshot));
    FB_TRY_ASSIGN(marks, marks_of(store, snapshot.directory, manifest));
    auto verified = Verifier(store, snapshot.directory, manifest, progress).run();
    if (verified) verified->marks = std::move(marks);
    return verified;
}

}  // namespace forebay::catalog
