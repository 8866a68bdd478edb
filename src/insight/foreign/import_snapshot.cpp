#include "insight/foreign/import_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/try.hpp"

namespace forebay::foreign {

namespace {

class SourceBlocks final : public commit::Blocks {
public:
    SourceBlocks(sys::Store& store, const ForeignContents& contents, const format::Layout& layout)
        : store_(store), contents_(contents), layout_(layout) {}

    // Sorted by source file, so that each file is opened once for all its variables.
    void sort(std::vector<std::size_t>& blocks) const override {
        std::ranges::stable_sort(blocks, {}, [&](std::size_t i) { return contents_.origins[i].file; });
    }

    Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to) override {
        const auto& origin = contents_.origins[block];
        if (in_ == nullptr || opened_ != origin.file) {
            FB_TRY_ASSIGN(file, store_.open(contents_.files[origin.file], sys::Access::read));
            in_ = std::move(file);
            opened_ = origin.file;
        }
        // An empty block may have a checksum to check.
        if (to.empty() && !origin.sealed) return {};
        if (const auto done = reader_.read(*in_, origin, at, to); !done) return damage(block, done.error());
        if (contents_.big_endian) swap_numbers(layout_.schema.variables[layout_.blocks[block].variable].type, to);
        return {};
    }

private:
    Error damage(std::size_t block, const Error& why) const {
        const auto& origin = contents_.origins[block];
        if (!origin.sealed || why.kind != ErrorKind::corrupt) return why;
        const auto& place = layout_.blocks[block];
        const auto& stored = origin.sealed->stored;
        return {ErrorKind::corrupt,
                fmt::format("{} is damaged: '{}' of rank {}, bytes {}-{}: {}. Nothing was imported",
                            contents_.files[origin.file], layout_.schema.variables[place.variable].name, place.rank,
                            stored.offset, stored.end() + 7, why.what),
                "", "copy the file again, or use an older file"};
    }

    sys::Store& store_;
    const ForeignContents& contents_;
    const format::Layout& layout_;
    std::unique_ptr<sys::File> in_;
    std::uint32_t opened_ = 0;
    OriginReader reader_;
};

}  // namespace

Result<std::string> import_snapshot(sys::Store& store, const ForeignContents& contents, commit::Destination to,
                                    const commit::Progress& progress) {
    FB_TRY_ASSIGN(layout, lay_out(contents, to.stream));
    SourceBlocks blocks(store, contents, layout);
    to.time = contents.time;
    return commit::write_snapshot(store, to, layout, blocks, progress);
}

}  // namespace forebay::foreign
