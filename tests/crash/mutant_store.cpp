#include "crash/mutant_store.hpp"

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::crash {

namespace {

bool is_arrival(std::span<const std::byte> bytes) {
    return bytes.size() == limits::page_bytes && text_of(bytes.first(6)) == "FBHERE";
}

}  // namespace

class MutantStore::MutantFile final : public test::PassingFile {
public:
    MutantFile(MutantStore& store, std::string path, std::unique_ptr<sys::File> file)
        : PassingFile(std::move(file)), store_(store), path_(std::move(path)) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        writes_front_ = writes_front_ || offset == 0;
        const bool holds =
            store_.mistake_ == Mistake::record_before_data || store_.mistake_ == Mistake::arrival_before_data;
        if (!holds || is_arrival(bytes)) return PassingFile::write(offset, bytes);
        if (!held_.bytes.empty()) FB_TRY(PassingFile::write(held_.offset, held_.bytes));
        held_.offset = offset;
        held_.bytes.assign(bytes.begin(), bytes.end());
        return {};
    }

    Result<> sync() override {
        const bool left_out = store_.mistake_ != Mistake::record_before_data &&
                              store_.mistake_ != Mistake::arrival_before_data &&
                              (store_.mistake_ != Mistake::sync_of_ends_left_out || !writes_front_) &&
                              (store_.mistake_ != Mistake::arrival_before_sync || syncs_++ == 0);
        return left_out ? Result<>{} : PassingFile::sync();
    }

    Result<> close() override {
        if (store_.mistake_ == Mistake::sync_left_out || store_.mistake_ == Mistake::sync_of_ends_left_out ||
            store_.mistake_ == Mistake::arrival_before_sync)
            return PassingFile::close();
        if (store_.mistake_ == Mistake::arrival_before_data) {
            if (!held_.bytes.empty()) FB_TRY(PassingFile::write(held_.offset, held_.bytes));
            FB_TRY(PassingFile::sync());
            return PassingFile::close();
        }
        held_.file = std::move(file_);
        store_.late_[path_] = std::move(held_);
        return {};
    }

private:
    MutantStore& store_;
    const std::string path_;
    Late held_;
    int syncs_ = 0;
    bool writes_front_ = false;
};

Result<std::unique_ptr<sys::File>> MutantStore::open(const std::string& path, sys::Access access) {
    auto file = PassingStore::open(path, access);
    const bool writes = sys::is_writing(access);
    const bool is_here = path.find(where_) != std::string::npos;
    if (file && mistake_ == Mistake::sync_of_ends_left_out && (*file)->direct()) return file;
    const bool is_of_files = mistake_ != Mistake::directory_sync_left_out && mistake_ != Mistake::always_there &&
                             mistake_ != Mistake::rename_replaces;
    if (!file || !writes || !is_here || !is_of_files) return file;
    return std::unique_ptr<sys::File>(std::make_unique<MutantFile>(*this, path, std::move(*file)));
}

Result<> MutantStore::make_good(const std::string& path) {
    auto node = late_.extract(path);
    if (node.empty()) return {};
    auto& late = node.mapped();
    if (!late.bytes.empty()) FB_TRY(late.file->write(late.offset, late.bytes));
    FB_TRY(late.file->sync());
    return late.file->close();
}

Result<> MutantStore::rename(const std::string& from, const std::string& to) {
    if (mistake_ == Mistake::rename_replaces && to.find(where_) != std::string::npos)
        FB_TRY(PassingStore::remove_tree(to));
    FB_TRY(PassingStore::rename(from, to));
    return mistake_ == Mistake::manifest_before_data ? Result<>{} : make_good(from);
}

Result<bool> MutantStore::exists(const std::string& path) {
    if (mistake_ == Mistake::always_there && path.find(where_) != std::string::npos) return true;
    return PassingStore::exists(path);
}

Result<> MutantStore::sync_directory(const std::string& path) {
    if (mistake_ == Mistake::directory_sync_left_out && path.ends_with(where_)) return {};
    // A commit syncs the run's directory last. The late bytes become durable here.
    while (mistake_ == Mistake::manifest_before_data && path == run_ && !late_.empty())
        FB_TRY(make_good(late_.begin()->first));
    return PassingStore::sync_directory(path);
}

}  // namespace forebay::crash
