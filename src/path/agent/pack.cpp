#include "path/agent/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/base/try.hpp"
#include "core/format/layout.hpp"
#include "core/format/packed.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/write_snapshot.hpp"

namespace forebay::agent {

namespace {

// A file that is written again and again is not finished: a Packer packs at most this many versions of it.
constexpr int versions_max = 3;

void cut_to_batch(std::vector<FinishedFile>& files, const BatchLimits& limits) {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    for (; count < files.size() && count < limits.files_max; ++count) {
        bytes += files[count].seen.bytes;
        // A single larger file is a batch of its own.
        if (count > 0 && bytes > limits.bytes_max) break;
    }
    files.resize(count);
}

Result<format::Layout> lay_out(const std::vector<FinishedFile>& files, const std::string& stream) {
    Schema schema;
    schema.stream = stream;
    format::RankPart part;
    for (std::size_t i = 0; i < files.size(); ++i) {
        schema.variables.push_back(format::packed_variable(files[i].packed(), i));
        part.boxes.push_back({{{0}, schema.variables.back().shape}});
    }
    return format::plan_layout(schema, std::span(&part, 1), {});
}

/// The files of one batch, a block for each.
class FileBlocks final : public commit::Blocks {
public:
    FileBlocks(const std::string& spool, const std::vector<FinishedFile>& files) : spool_(spool), files_(files) {}

    Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to) override {
        const auto done = read_file(files_[block], at, to);
        if (!done) unreadable_ = block;
        return done;
    }

    /// The unreadable file, if it ended the writing.
    std::optional<std::size_t> unreadable() const { return unreadable_; }

private:
    Result<> read_file(const FinishedFile& file, std::uint64_t at, std::span<std::byte> to) {
        if (at == 0) {
            // Fails if the name has another file by now: the layout is planned for this file.
            FB_TRY_ASSIGN(opened, sys::open_seen(spool_ + "/" + file.path, file.seen));
            in_ = std::move(opened);
        }
        if (file.seen.bytes == 0) to[0] = std::byte{0};  // the one byte of an empty file
        else FB_TRY(in_->read(at, to));
        return at + to.size() < file.seen.bytes ? Result<>{} : in_->close();
    }

    const std::string& spool_;
    const std::vector<FinishedFile>& files_;
    std::unique_ptr<sys::File> in_;
    std::optional<std::size_t> unreadable_;
};

}  // namespace

std::vector<FinishedFile> Packer::next_files() {
    auto finished = finished_in(spool_);
    not_seen_ = std::move(finished.left_out);
    std::map<std::string, Stayed> still_there;
    std::erase_if(finished.files, [&](const FinishedFile& file) {
        const auto stayed = stayed_.find(file.path);
        if (stayed == stayed_.end()) return false;
        const bool is_done = stayed->second.seen == file.seen || stayed->second.times >= versions_max;
        still_there.insert(stayed_.extract(stayed));
        return is_done;
    });
    // Files that have left the spool are forgotten.
    stayed_ = std::move(still_there);
    cut_to_batch(finished.files, limits_);
    return std::move(finished.files);
}

void Packer::stays(const FinishedFile& file, bool is_packed, std::optional<Error> why) {
    auto& stayed = stayed_[file.path];
    stayed = {file.seen, std::move(why), is_packed, is_packed && !removes_ ? versions_max : stayed.times + 1};
}

void Packer::clear_away(const std::vector<FinishedFile>& files) {
    const Error changed{ErrorKind::retry, "it is packed, but was changed meanwhile, so it stays"};
    for (const auto& file : files) {
        const auto path = spool_ + "/" + file.path;
        if (!removes_) {
            const auto now = sys::look_at(path);
            stays(file, true, now && *now != file.seen ? std::optional(changed) : std::nullopt);
            continue;
        }
        const auto removed = sys::remove_seen(path, file.seen);
        if (!removed)
            stays(file, true,
                  Error{removed.error().kind, "it is packed, but cannot be removed: " + removed.error().what});
        // A program has put another file there: the next batch takes it.
        else if (!*removed) stays(file, true, changed);
    }
}

Result<Packed> Packer::pack(std::vector<FinishedFile> files, std::uint64_t run_id) {
    while (!files.empty()) {
        const auto layout = lay_out(files, stream_);
        if (!layout) {
            // One file, or two together, cannot be described. Halving finds it.
            if (files.size() == 1) stays(files.front(), false, layout.error());
            files.resize(files.size() / 2);
            continue;
        }
        FB_TRY_ASSIGN(step, commit::next_step(store_, run_, stream_));
        commit::BatchPart part{run_, stream_, step, sys::random_u64(), run_id};
        FileBlocks blocks(spool_, files);
        if (const auto committed = commit::write_batch(store_, part, *layout, blocks); !committed) {
            const auto bad = blocks.unreadable();
            if (!bad) return committed.error();
            stays(files[*bad], false, committed.error());
            // The files before it were just read, so they make a batch. The files after it go to the next batch.
            if (*bad > 0) files.resize(*bad);
            else files.erase(files.begin());
            continue;
        }
        // The batch is durable here: only now may the files leave the spool.
        clear_away(files);
        Packed packed{.files = files.size(), .step = part.step};
        for (const auto& file : files) packed.bytes += file.seen.bytes;
        return packed;
    }
    return Packed{};
}

Result<Packed> Packer::pack_batch() {
    if (!format::is_packed_stream(stream_))
        return Error{ErrorKind::refused,
                     fmt::format("packed files need a stream whose name begins with \"{}\", not \"{}\".",
                                 format::packed_prefix, stream_)};
    // Each turn without a batch sets files aside, so there are not more turns than files.
    for (auto files = next_files(); !files.empty(); files = next_files()) {
        if (run_id_) FB_TRY(catalog::check_identity(store_, run_, *run_id_));
        FB_TRY_ASSIGN(run_id, run_id_ ? Result<std::uint64_t>(*run_id_) : catalog::make_identity(store_, run_));
        FB_TRY_ASSIGN(packed, pack(std::move(files), run_id));
        if (packed.files > 0) return packed;
    }
    return Packed{};
}

std::vector<LeftOut> Packer::left_out() const {
    auto all = not_seen_;
    for (const auto& [path, stayed] : stayed_)
        if (stayed.why) all.push_back({path, *stayed.why});
    return all;
}

void Packer::try_again() {
    std::erase_if(stayed_, [](const auto& entry) { return !entry.second.is_packed; });
    for (auto& [path, stayed] : stayed_) stayed.times = 0;
}

}  // namespace forebay::agent
