#include "agent/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/run.hpp"
#include "commit/commit_batch.hpp"
#include "format/layout.hpp"
#include "format/node_file.hpp"
#include "format/packed.hpp"
#include "sys/machine.hpp"

namespace forebay::agent {

namespace {

// Whole segments, so that a segment lies within one window.
constexpr std::uint64_t window_bytes = 8 * limits::segment_bytes;
// A file that is written again and again is no finished one: so often one Packer takes it up, each time as it is then.
constexpr int versions_max = 3;

void cut_to_batch(std::vector<FinishedFile>& files, const BatchLimits& limits) {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    for (; count < files.size() && count < limits.files_max; ++count) {
        bytes += files[count].seen.bytes;
        if (count > 0 && bytes > limits.bytes_max) break;
    }
    files.resize(count);
}

/// One batch on its way to the target.
class Batch {
public:
    Batch(const std::string& spool, const std::vector<FinishedFile>& files) : spool_(spool), files_(files) {
        std::uint64_t largest = 1;
        for (const auto& file : files) largest = std::max(largest, file.seen.bytes);
        window_.resize(std::min(largest, window_bytes));
    }

    Result<> lay_out(const std::string& stream) {
        Schema schema;
        schema.stream = stream;
        format::RankPart part;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            schema.variables.push_back(format::packed_variable(files_[i].packed(), i));
            part.boxes.push_back({{{0}, schema.variables.back().shape}});
        }
        FB_TRY_ASSIGN(layout, format::plan_layout(schema, std::span(&part, 1), {}));
        layout_ = std::move(layout);
        head_.resize(layout_.data_offset_bytes);
        format::encode(layout_, head_);
        return {};
    }

    Result<> write(sys::File& out, const format::Record& record) {
        for (std::size_t i = 0; i < files_.size(); ++i) FB_TRY(copy(i, out));
        format::seal(layout_, record, head_);
        FB_TRY(out.write(0, head_));
        FB_TRY(out.truncate(layout_.file_bytes));
        FB_TRY(out.sync());
        return out.close();
    }

    /// The file that could not be read, when that is why write() failed.
    std::optional<std::size_t> unreadable() const { return unreadable_; }

private:
    Result<> copy(std::size_t i, sys::File& out) {
        const auto& block = layout_.blocks[i];
        const auto words = format::crc_words(layout_, head_);
        const auto in = sys::open_seen(spool_ + "/" + files_[i].path, files_[i].seen);
        if (!in) return cannot_read(i, in.error());
        auto word = block.first_segment;
        for (std::uint64_t at = 0; at < block.size_bytes; at += window_.size()) {
            const auto now = std::span(window_).first(std::min<std::uint64_t>(window_.size(), block.size_bytes - at));
            if (files_[i].seen.bytes == 0) now[0] = std::byte{0};  // what stands for a file without bytes
            else if (const auto read = (*in)->read(at, now); !read) return cannot_read(i, read.error());
            for (std::uint64_t begin = 0; begin < now.size(); begin += limits::segment_bytes)
                words[word++] = crc32c(now.subspan(begin, std::min(limits::segment_bytes, now.size() - begin)));
            FB_TRY(out.write(block.offset_bytes + at, now));
        }
        if (const auto closed = (*in)->close(); !closed) return cannot_read(i, closed.error());
        return {};
    }

    Error cannot_read(std::size_t i, const Error& why) {
        unreadable_ = i;
        return why;
    }

    const std::string& spool_;
    const std::vector<FinishedFile>& files_;
    format::Layout layout_;
    std::vector<std::byte> head_, window_;
    std::optional<std::size_t> unreadable_;
};

Result<> write_and_commit(sys::Store& store, Batch& batch, commit::BatchPart& part) {
    const format::Record record{.snapshot_id = part.snapshot_id,
                                .step = part.step,
                                .time = format::batch_time(part.step),
                                .sealed_unix_ns = sys::unix_ns(),
                                .node = 0,
                                .nodes = 1,
                                .world_ranks = 1,
                                .lineage = {.run_id = part.run_id}};
    const auto directory = part.directory();
    const auto path = directory + "/" + format::node_path(0, 1);
    FB_TRY(sys::make_directories_below(store, part.run, directory));
    FB_TRY_ASSIGN(out, store.open(path + ".tmp", sys::Access::create));
    FB_TRY(batch.write(*out, record));
    FB_TRY(store.rename(path + ".tmp", path));
    FB_TRY(store.sync_directory(directory));
    return commit::commit_batch(store, part);
}

}  // namespace

std::vector<FinishedFile> Packer::next_files() {
    auto found = finished_in(spool_);
    not_seen_ = std::move(found.left_out);
    std::map<std::string, Stayed> still_there;
    std::erase_if(found.files, [&](const FinishedFile& file) {
        const auto stayed = stayed_.find(file.path);
        if (stayed == stayed_.end()) return false;
        const bool is_done = stayed->second.seen == file.seen || stayed->second.times >= versions_max;
        still_there.insert(stayed_.extract(stayed));
        return is_done;
    });
    stayed_ = std::move(still_there);
    cut_to_batch(found.files, limits_);
    return std::move(found.files);
}

void Packer::stays(const FinishedFile& file, bool is_packed, Error why) {
    auto& one = stayed_[file.path];
    one = {file.seen, std::move(why), is_packed, is_packed && !removes_ ? versions_max : one.times + 1};
}

void Packer::clear_away(const std::vector<FinishedFile>& files) {
    const Error changed{ErrorKind::retry, "it is packed, but was changed meanwhile, so it stays"};
    for (const auto& file : files) {
        const auto path = spool_ + "/" + file.path;
        if (!removes_) {
            const auto now = sys::look_at(path);
            stays(file, true, now && *now != file.seen ? changed : Error{ErrorKind::retry, ""});
            continue;
        }
        const auto removed = sys::remove_seen(path, file.seen);
        if (!removed)
            stays(file, true, {removed.error().kind, "it is packed, but cannot be removed: " + removed.error().what});
        // Whoever has put another file there meanwhile finds it packed next time.
        else if (!*removed) stays(file, true, changed);
    }
}

Result<Packed> Packer::pack(std::vector<FinishedFile> files, std::uint64_t run_id) {
    while (!files.empty()) {
        Batch batch(spool_, files);
        if (const auto laid_out = batch.lay_out(stream_); !laid_out) {
            // One of them, or two together, cannot be described. Halves find it.
            if (files.size() == 1) stays(files.front(), false, laid_out.error());
            files.resize(files.size() / 2);
            continue;
        }
        FB_TRY_ASSIGN(step, commit::next_step(store_, run_, stream_));
        commit::BatchPart part{run_, stream_, step, sys::random_u64(), run_id};
        if (const auto committed = write_and_commit(store_, batch, part); !committed) {
            // The first error is the one to tell; a remainder that cannot be removed either is swept by recover.
            static_cast<void>(catalog::discard(store_, part.directory(), part.step, part.snapshot_id));
            const auto bad = batch.unreadable();
            if (!bad) return committed.error();
            stays(files[*bad], false, committed.error());
            // Those before it were just read, so they make a batch; what comes after it is for the next.
            if (*bad > 0) files.resize(*bad);
            else files.erase(files.begin());
            continue;
        }
        clear_away(files);
        Packed packed{.files = files.size(), .step = part.step};
        for (const auto& file : files) packed.bytes += file.seen.bytes;
        return packed;
    }
    return Packed{};
}

Result<Packed> Packer::pack_batch() {
    if (!format::is_packed_stream(stream_))
        return Error{ErrorKind::refused, fmt::format("packed files go to a stream whose name begins with \"{}\", "
                                                     "not to \"{}\".",
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
        if (!stayed.why.what.empty()) all.push_back({path, stayed.why});
    return all;
}

void Packer::try_again() {
    std::erase_if(stayed_, [](const auto& one) { return !one.second.is_packed; });
    for (auto& [path, stayed] : stayed_) stayed.times = 0;
}

}  // namespace forebay::agent
