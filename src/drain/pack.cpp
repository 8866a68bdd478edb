#include "drain/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/run.hpp"
#include "drain/commit.hpp"
#include "format/layout.hpp"
#include "format/manifest.hpp"
#include "format/packed.hpp"
#include "sys/machine.hpp"

namespace forebay::drain {

namespace {

namespace fs = std::filesystem;
using format::PackedFile;

// Whole segments, so that a segment lies within one window.
constexpr std::uint64_t window_bytes = 8 * limits::segment_bytes;
// How often a batch is begun anew because a file of it vanished.
constexpr int attempts_max = 5;

Error failed(const std::string& what, const std::string& path, const std::error_code& error) {
    return {ErrorKind::retry, fmt::format("{} of {}: {}", what, path, error.message())};
}

// Nothing when it is not there any more, or no file.
std::optional<PackedFile> look_at(const fs::path& spool, const std::string& relative) {
    std::error_code error;
    const auto path = spool / relative;
    const auto status = fs::symlink_status(path, error);
    if (error || !fs::is_regular_file(status)) return {};
    PackedFile file{.path = relative};
    file.bytes = fs::file_size(path, error);
    if (error) return {};
    const auto modified = fs::last_write_time(path, error);
    if (error) return {};
    file.mode = static_cast<std::uint32_t>(status.permissions()) & 07777;
    file.modified_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::file_clock::to_sys(modified).time_since_epoch())
                                .count();
    return file;
}

Result<std::vector<PackedFile>> finished_in(const std::string& spool) {
    std::vector<PackedFile> files;
    std::error_code error;
    fs::recursive_directory_iterator at(spool, error);
    if (error == std::errc::no_such_file_or_directory) return files;
    if (error) return failed("reading the spool", spool, error);
    for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (error) return failed("reading the spool", spool, error);
        const auto name = at->path().filename().string();
        if (name.starts_with('.')) {
            at.disable_recursion_pending();
            continue;
        }
        if (const auto file = look_at(spool, at->path().lexically_relative(spool).string())) files.push_back(*file);
    }
    std::ranges::sort(files, [](const PackedFile& a, const PackedFile& b) {
        return std::tie(a.modified_unix_ns, a.path) < std::tie(b.modified_unix_ns, b.path);
    });
    return files;
}

void cut_to_batch(std::vector<PackedFile>& files, const BatchLimits& limits) {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    for (; count < files.size() && count < limits.files_max; ++count) {
        bytes += files[count].bytes;
        if (count > 0 && bytes > limits.bytes_max) break;
    }
    files.resize(count);
}

/// One batch on its way to the target.
class Batch {
public:
    Batch(std::string spool, std::vector<PackedFile> files)
        : spool_(std::move(spool)), files_(std::move(files)), window_(window_bytes) {}

    Result<> lay_out(const std::string& stream) {
        Schema schema;
        schema.stream = stream;
        format::RankPart part;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            schema.variables.push_back(format::packed_variable(files_[i], i));
            part.boxes.push_back({{{0}, schema.variables.back().shape}});
        }
        FB_TRY_ASSIGN(layout, format::plan_layout(schema, std::span(&part, 1), {}));
        layout_ = std::move(layout);
        head_.resize(layout_.data_offset_bytes);
        format::encode(layout_, head_);
        return {};
    }

    /// `missing`, and `vanished` says which, when a file is not what was laid out any more.
    Result<> write(sys::File& out, const format::Record& record, std::size_t& vanished) {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const auto copied = copy(i, out);
            if (copied) continue;
            vanished = look_at(spool_, files_[i].path) == files_[i] ? files_.size() : i;
            return copied;
        }
        format::seal(layout_, record, head_);
        FB_TRY(out.write(0, head_));
        FB_TRY(out.truncate(layout_.file_bytes));
        FB_TRY(out.sync());
        return out.close();
    }

    void forget(std::size_t file) { files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(file)); }
    const std::vector<PackedFile>& files() const { return files_; }

private:
    Result<> copy(std::size_t i, sys::File& out) {
        const auto& block = layout_.blocks[i];
        const auto words = format::crc_words(layout_, head_);
        FB_TRY_ASSIGN(in, sys::posix_store().open(spool_ + "/" + files_[i].path, sys::Access::read));
        auto word = block.first_segment;
        for (std::uint64_t at = 0; at < block.size_bytes; at += window_.size()) {
            const auto now = std::span(window_).first(std::min<std::uint64_t>(window_.size(), block.size_bytes - at));
            if (files_[i].bytes == 0) now[0] = std::byte{0};  // what stands for a file without bytes
            else FB_TRY(in->read(at, now));
            for (std::uint64_t begin = 0; begin < now.size(); begin += limits::segment_bytes)
                words[word++] = crc32c(now.subspan(begin, std::min(limits::segment_bytes, now.size() - begin)));
            FB_TRY(out.write(block.offset_bytes + at, now));
        }
        return in->close();
    }

    const std::string spool_;
    std::vector<PackedFile> files_;
    format::Layout layout_;
    std::vector<std::byte> head_, window_;
};

// Above everything that is there, committed or not: no batch ever takes the place of another.
Result<std::int64_t> next_step(sys::Store& store, const std::string& run, const std::string& stream) {
    auto step = sys::unix_ns() / 1'000'000;
    const auto all = catalog::snapshots(store, run, stream);
    if (all && !all->empty()) step = std::max(step, all->front().step + 1);
    if (!all && all.error().kind != ErrorKind::missing) return all.error();
    return step;
}

Result<> write_and_commit(sys::Store& store, Batch& batch, const std::string& run, const std::string& stream,
                          const format::Record& record, std::size_t& vanished) {
    FB_TRY(batch.lay_out(stream));
    const auto part = run + "/" + stream + "/" + catalog::part_name(record.step, record.snapshot_id);
    const auto written = [&]() -> Result<Commit> {
        FB_TRY(sys::make_directories_below(store, run, part));
        const auto path = part + "/" + format::node_path(0, 1);
        FB_TRY_ASSIGN(out, store.open(path + ".tmp", sys::Access::create));
        FB_TRY(batch.write(*out, record, vanished));
        FB_TRY(store.rename(path + ".tmp", path));
        FB_TRY(store.sync_directory(part));
        FB_TRY_ASSIGN(run_id, catalog::identity_of(store, run));
        return commit_if_complete(store, key_of(run, stream, record), run_id);
    }();
    if (written && (*written == Commit::committed || *written == Commit::already)) return {};
    // The first error is the one to tell; a remainder that cannot be removed either is swept by recover.
    static_cast<void>(catalog::discard(store, part, record.step, record.snapshot_id));
    if (!written) return written.error();
    return Error{ErrorKind::retry,
                 fmt::format("step {} of {}/{} was taken by somebody else", record.step, run, stream)};
}

}  // namespace

Result<Spooled> look_at_spool(const std::string& spool) {
    FB_TRY_ASSIGN(files, finished_in(spool));
    Spooled all{.files = files.size()};
    for (const auto& file : files) all.bytes += file.bytes;
    return all;
}

Result<Packed> Packer::pack_batch() {
    if (!format::is_packed_stream(stream_))
        return Error{ErrorKind::refused,
                     fmt::format("forebay: packed files go to a stream whose name begins with \"{}\", "
                                 "not to \"{}\".",
                                 format::packed_prefix, stream_)};
    FB_TRY_ASSIGN(files, finished_in(spool_));
    std::erase_if(files, [this](const PackedFile& file) { return done_.contains(file.path); });
    cut_to_batch(files, limits_);
    Packed packed;
    if (files.empty()) return packed;
    Batch batch(spool_, std::move(files));
    FB_TRY(sys::make_directories_durable(store_, run_));
    for (int attempt = 1; !batch.files().empty(); ++attempt) {
        FB_TRY_ASSIGN(step, next_step(store_, run_, stream_));
        const format::Record record{.snapshot_id = sys::random_u64(),
                                    .step = step,
                                    .time = static_cast<double>(step) * 1e-3,
                                    .sealed_unix_ns = sys::unix_ns(),
                                    .node = 0,
                                    .nodes = 1,
                                    .world_ranks = 1};
        auto vanished = batch.files().size();
        const auto done = write_and_commit(store_, batch, run_, stream_, record, vanished);
        if (done) {
            packed.step = step;
            break;
        }
        if (vanished == batch.files().size() || attempt == attempts_max) return done.error();
        batch.forget(vanished);
    }
    for (const auto& file : batch.files()) {
        ++packed.files;
        packed.bytes += file.bytes;
        // Whoever has put another file there meanwhile finds it packed next time.
        if (!removes_) done_.insert(file.path);
        else if (look_at(spool_, file.path) == file) FB_TRY(sys::posix_store().remove(spool_ + "/" + file.path));
    }
    return packed;
}

}  // namespace forebay::drain
