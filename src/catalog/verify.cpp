#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/names.hpp"
#include "catalog/node_reader.hpp"
#include "catalog/plain_bytes.hpp"
#include "format/segments.hpp"
#include "format/shared.hpp"

namespace forebay::catalog {

namespace {

/// The first and the last byte of a segment in its file, of which the node file begins at `base`. In a shared file
/// there may be bytes of others between them.
std::pair<std::uint64_t, std::uint64_t> bounds_of(const format::NodeFile& head, const format::Segment& segment,
                                                  std::uint64_t base) {
    if (!head.is_shared) return {base + segment.offset, base + segment.offset + segment.bytes - 1};
    std::uint64_t first = UINT64_MAX, last = 0;
    format::for_each_stretch(head, segment.offset, segment.bytes, [&](const format::Stretch& stretch) {
        first = std::min(first, stretch.offset);
        last = std::max(last, stretch.offset + stretch.bytes - 1);
        return true;
    });
    return {first, last};
}

class Verifier {
public:
    Verifier(sys::Store& store, const std::string& directory, const format::Manifest& manifest,
             const std::function<void(std::uint64_t, std::uint64_t)>& progress)
        : store_(store), directory_(directory), manifest_(manifest), progress_(progress) {
        for (const auto& line : manifest.nodes) total_ += line.data_bytes;
    }

    /// An error is a check that could not be made; what the check found wrong is damage.
    Result<Verified> run() {
        for (const auto& line : manifest_.nodes) {
            const auto before = found_.bytes;
            FB_TRY(file(line));
            skipped_ += line.data_bytes - std::min(line.data_bytes, found_.bytes - before);
            report();
        }
        return std::move(found_);
    }

private:
    Result<> file(const format::NodeLine& line);
    Result<> blocks(NodeReader& reader, const format::NodeFile& head);
    Result<> window(NodeReader& reader, const format::NodeFile& head);
    Result<> shown_head(const format::NodeLine& line, const format::NodeFile& head);
    Result<> shown_datasets(const format::NodeLine& line, const format::NodeFile& head);
    Result<> compare_head(const std::vector<std::byte>& expected, std::uint64_t file_bytes);
    std::string differs(const format::NodeLine& line, const format::NodeFile& head) const;

    void add_damage(Damage damage) { found_.damage.push_back(std::move(damage)); }
    void report() const {
        if (progress_) progress_(found_.bytes + skipped_, total_);
    }

    sys::Store& store_;
    const std::string& directory_;
    const format::Manifest& manifest_;
    const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
    Verified found_;
    std::uint64_t total_ = 0;
    std::uint64_t skipped_ = 0;            // bytes of files that could not be read as node files
    std::string path_, name_;              // of the file at hand, and of the node file in texts
    std::uint64_t base_ = 0;               // of the node file in the file
    std::vector<format::Region> regions_;  // of the combined file at hand, as far as they are read
    std::vector<format::Segment> window_;
    std::vector<std::byte> buffer_;
    PlainBytes::Scratch scratch_;
};

// What of the manifest's line is not true of the file, or nothing.
std::string Verifier::differs(const format::NodeLine& line, const format::NodeFile& head) const {
    if (head.record.snapshot_id != manifest_.snapshot_id || head.record.step != manifest_.step)
        return fmt::format("it holds step {} of snapshot {}, the manifest says step {} of snapshot {}",
                           head.record.step, id_text(head.record.snapshot_id), manifest_.step,
                           id_text(manifest_.snapshot_id));
    if (head.record_crc32c != line.record_crc32c)
        return fmt::format("its record has checksum {:08x}, the manifest says {:08x}", head.record_crc32c,
                           line.record_crc32c);
    if (head.schema != manifest_.schema) return "its variables are not those of the manifest";
    if (format::line_of(head, line.path) != line) return "its ranks, rows or boxes are not those of the manifest";
    return {};
}

Result<> Verifier::file(const format::NodeLine& line) {
    name_ = catalog::name_of(directory_, line);
    path_ = directory_ + "/" + line.path;
    base_ = line.offset_bytes;
    const auto whole_file = [&](const std::string& text) {
        add_damage({path_, "", 0, base_, base_ + std::max<std::uint64_t>(line.file_bytes, 1) - 1, text});
    };
    auto reader = NodeReader::open(store_, directory_, line);
    auto head = reader ? reader->head() : Result<format::NodeFile>(reader.error());
    if (!head) {
        const auto& error = head.error();
        if (error.kind == ErrorKind::retry || error.kind == ErrorKind::unsupported) return error;
        whole_file(error.kind == ErrorKind::missing ? fmt::format("{} is missing.", path_) : error.line());
        return {};
    }
    if (const auto difference = differs(line, *head); !difference.empty()) {
        whole_file(fmt::format("{} is not the file that was committed: {}.", name_, difference));
        return {};
    }
    FB_TRY(blocks(*reader, *head));
    if (head->is_shared) return shown_datasets(line, *head);
    return head->record.group.is_combined() ? shown_head(line, *head) : Result<>{};
}

Result<> Verifier::blocks(NodeReader& reader, const format::NodeFile& head) {
    window_.clear();
    for (const auto& next : format::segments_by_offset(head)) {
        if (!window_.empty()) {
            const auto& last = window_.back();
            const bool far = next.offset > last.offset + last.bytes + limits::verify_gap_bytes;
            const bool long_enough = next.offset + next.bytes - window_.front().offset > limits::verify_window_bytes;
            if (far || long_enough) FB_TRY(window(reader, head));
        }
        window_.push_back(next);
    }
    return window_.empty() ? Result<>{} : window(reader, head);
}

// What a combined file shows to HDF5 programs follows from its regions: after the last of them it is made anew and
// compared.
Result<> Verifier::shown_head(const format::NodeLine& line, const format::NodeFile& head) {
    const auto& group = head.record.group;
    if (line.node == group.first_node) regions_.clear();
    regions_.push_back(format::region_of(head));
    if (line.node + 1 != group.first_node + group.nodes() || regions_.size() != group.nodes()) return {};
    return compare_head(format::encode_combined_head(format::page_of(head.record), head.schema, regions_),
                        group.file_bytes());
}

// That of a shared file follows from the rows that the manifest counts.
Result<> Verifier::shown_datasets(const format::NodeLine& line, const format::NodeFile& head) {
    if (line.node + 1 != head.record.nodes) return {};
    std::vector<std::uint64_t> rows(head.schema.tables.size(), 0);
    for (const auto& each : manifest_.nodes)
        for (std::size_t table = 0; table < rows.size(); ++table) rows[table] += each.rows[table];
    return compare_head(format::encode_shared_head(format::page_of(head.record), head.schema, rows),
                        head.record.group.file_bytes());
}

Result<> Verifier::compare_head(const std::vector<std::byte>& expected, std::uint64_t file_bytes) {
    FB_TRY_ASSIGN(file, store_.open(path_, sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    std::vector<std::byte> found(expected.size());
    FB_TRY(file->read(0, found));
    const auto [wrong, right] = std::ranges::mismatch(found, expected);
    if (wrong != found.end() || size != file_bytes)
        add_damage({path_, "", 0, 0, expected.size() - 1,
                    wrong == found.end()
                        ? fmt::format("{} has {} bytes, {} expected.", path_, size, file_bytes)
                        : fmt::format("{} differs at byte {} of its head, by which HDF5 programs find what is in it; "
                                      "forebay reads it without.",
                                      path_, wrong - found.begin())});
    return {};
}

// Reads the segments gathered in one go, and checks each. Where a chunk of a compressed file is damaged, they are read
// one by one, so that each tells.
Result<> Verifier::window(NodeReader& reader, const format::NodeFile& head) {
    const auto first = window_.front().offset;
    buffer_.resize(window_.back().offset + window_.back().bytes - first);
    const PlainBytes plain(reader.file(), head, name_);
    const auto all = plain.read(first, buffer_, scratch_);
    const auto chunk_damaged = [&](const Result<>& read) {
        return !read && read.error().kind == ErrorKind::corrupt && head.chunk_table.compressed();
    };
    if (!all && !chunk_damaged(all)) return all;
    for (const auto& segment : window_) {
        ++found_.segments;
        found_.bytes += segment.bytes;
        const auto bytes = std::span(buffer_).subspan(segment.offset - first, segment.bytes);
        const auto again = all ? Result<>() : plain.read(segment.offset, bytes, scratch_);
        if (!again && !chunk_damaged(again)) return again;
        const auto checked = again ? format::check_segment(head, segment, bytes, name_) : again;
        if (checked) continue;
        const auto& block = head.blocks[segment.block];
        const auto [first_byte, last_byte] = bounds_of(head, segment, base_);
        add_damage({path_, head.schema.variables[block.variable].name, block.rank, first_byte, last_byte,
                    checked.error().line()});
    }
    window_.clear();
    report();
    return {};
}

}  // namespace

Result<Verified> verify(sys::Store& store, const Snapshot& snapshot,
                        const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    FB_TRY_ASSIGN(manifest, load_manifest(store, snapshot.directory));
    if (manifest.step != snapshot.step)
        return Error{ErrorKind::corrupt, fmt::format("{} holds the manifest of step {}, not of step {}.",
                                                     snapshot.directory, manifest.step, snapshot.step)};
    return Verifier(store, snapshot.directory, manifest, progress).run();
}

}  // namespace forebay::catalog
