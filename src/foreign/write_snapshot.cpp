#include "foreign/write_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/history.hpp"
#include "catalog/run.hpp"
#include "commit/commit.hpp"
#include "foreign/limits.hpp"
#include "sys/machine.hpp"

namespace forebay::foreign {

namespace {

static_assert(limits::window_bytes % forebay::limits::segment_bytes == 0, "a segment lies within one window");

class Writer {
public:
    Writer(sys::Store& store, const Contents& contents, const format::Layout& layout, const Progress& progress)
        : store_(store),
          contents_(contents),
          layout_(layout),
          progress_(progress),
          head_(layout.data_offset_bytes),
          window_(limits::window_bytes),
          bytes_all_(contents.bytes()) {
        format::encode(layout_, head_);
    }

    /// Data first, the head with its seal last.
    Result<> write(sys::File& out, const format::Record& record) {
        // By source file: each is opened once, however many variables it has.
        std::vector<std::size_t> order(layout_.blocks.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return contents_.origins[i].file; });
        std::unique_ptr<sys::File> in;
        std::uint32_t opened = 0;
        for (const auto i : order) {
            const auto& origin = contents_.origins[i];
            if (in == nullptr || opened != origin.file) {
                FB_TRY_ASSIGN(file, store_.open(contents_.files[origin.file], sys::Access::read));
                in = std::move(file);
                opened = origin.file;
            }
            FB_TRY(copy(*in, origin, layout_.blocks[i], out));
        }
        format::seal(layout_, record, head_);
        FB_TRY(out.write(0, head_));
        FB_TRY(out.truncate(layout_.file_bytes));
        FB_TRY(out.sync());
        return out.close();
    }

private:
    // A block without bytes may have a checksum too.
    Result<> read(sys::File& in, const Origin& origin, const format::Block& block, std::uint64_t at,
                  std::span<std::byte> window) {
        const auto done = reader_.read(in, origin, at, window);
        if (done || !origin.sealed || done.error().kind != ErrorKind::corrupt) return done;
        const auto& stored = origin.sealed->stored;
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is damaged: '{}' of rank {}, bytes {}-{}: {}. Nothing was imported",
                                 contents_.files[origin.file], layout_.schema.variables[block.variable].name,
                                 block.rank, stored.offset, stored.end() + 7, done.error().what),
                     "", "copy the file again, or use an older one"};
    }

    Result<> copy(sys::File& in, const Origin& origin, const format::Block& block, sys::File& out) {
        const auto words = format::crc_words(layout_, head_);
        auto word = block.first_segment;
        if (block.size_bytes == 0 && origin.sealed) return read(in, origin, block, 0, {});
        for (std::uint64_t at = 0; at < block.size_bytes; at += window_.size()) {
            const auto now = std::span(window_).first(std::min<std::uint64_t>(window_.size(), block.size_bytes - at));
            FB_TRY(read(in, origin, block, at, now));
            if (contents_.big_endian) swap_numbers(layout_.schema.variables[block.variable].type, now);
            for (std::uint64_t begin = 0; begin < now.size(); begin += forebay::limits::segment_bytes)
                words[word++] = crc32c(
                    now.subspan(begin, std::min<std::uint64_t>(forebay::limits::segment_bytes, now.size() - begin)));
            FB_TRY(out.write(block.offset_bytes + at, now));
            bytes_done_ += now.size();
            if (progress_) progress_(bytes_done_, bytes_all_);
        }
        return {};
    }

    sys::Store& store_;
    const Contents& contents_;
    const format::Layout& layout_;
    const Progress& progress_;
    std::vector<std::byte> head_;
    std::vector<std::byte> window_;
    OriginReader reader_;
    std::uint64_t bytes_done_ = 0, bytes_all_ = 0;
};

Result<> write_and_commit(sys::Store& store, Writer& writer, const Destination& to, const format::Record& record,
                          const std::string& part) {
    FB_TRY(sys::make_directories_below(store, to.run, part));
    const auto path = part + "/" + format::node_path(0, 1);
    FB_TRY_ASSIGN(out, store.open(path + ".tmp", sys::Access::create));
    FB_TRY(writer.write(*out, record));
    FB_TRY(store.rename(path + ".tmp", path));
    FB_TRY(store.sync_directory(part));
    FB_TRY_ASSIGN(outcome,
                  commit::commit_if_complete(store, commit::key_of(to.run, to.stream, record), record.lineage.run_id));
    if (outcome == commit::Commit::committed || outcome == commit::Commit::already) return {};
    return Error{ErrorKind::refused,
                 fmt::format("step {} of {}/{} was saved by somebody else meanwhile, and later; theirs stays", to.step,
                             to.run, to.stream),
                 "", "import under another step"};
}

}  // namespace

Result<Written> write_snapshot(sys::Store& store, const Contents& contents, const Destination& to,
                               const Progress& progress) {
    if (to.step < 0 || to.step > forebay::limits::step_max)
        return Error{ErrorKind::refused,
                     fmt::format("step {} is refused: steps are 0 to {}. Nothing was written", to.step,
                                 forebay::limits::step_max),
                     "", "import under another step"};
    FB_TRY_ASSIGN(layout, lay_out(contents, to.stream));
    FB_TRY(catalog::make_identity(store, to.run));
    FB_TRY_ASSIGN(lineage, catalog::lineage_to_join(store, to.run, to.stream));
    const format::Record record{.snapshot_id = sys::random_u64(),
                                .step = to.step,
                                .time = contents.time,
                                .sealed_unix_ns = sys::unix_ns(),
                                .node = 0,
                                .nodes = 1,
                                .world_ranks = static_cast<std::uint32_t>(contents.parts.size()),
                                .lineage = std::move(lineage)};
    const auto stream = to.run + "/" + to.stream;
    const auto part = stream + "/" + catalog::part_name(to.step, record.snapshot_id);
    Writer writer(store, contents, layout, progress);
    if (auto done = write_and_commit(store, writer, to, record, part); !done) {
        // The first error is the one to tell; a remainder that cannot be removed either is swept by recover.
        static_cast<void>(catalog::discard(store, part, to.step, record.snapshot_id));
        return done.error();
    }
    return Written{stream + "/" + catalog::step_name(to.step), contents.bytes()};
}

}  // namespace forebay::foreign
