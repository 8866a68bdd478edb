#include "crash/mutant_store.hpp"

namespace forebay::crash {

class MutantStore::MutantFile final : public test::PassingFile {
public:
    MutantFile(MutantStore& store, std::string path, std::unique_ptr<sys::File> file)
        : PassingFile(std::move(file)), store_(store), path_(std::move(path)) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        if (store_.mistake_ != Mistake::record_before_data) return PassingFile::write(offset, bytes);
        if (!held_.bytes.empty()) FB_TRY(PassingFile::write(held_.offset, held_.bytes));
        held_.offset = offset;
        held_.bytes.assign(bytes.begin(), bytes.end());
        return {};
    }

    Result<> sync() override {
        if (store_.mistake_ == Mistake::record_before_data) return PassingFile::sync();
        return {};
    }

    Result<> close() override {
        if (store_.mistake_ == Mistake::sync_left_out) return PassingFile::close();
        held_.file = std::move(file_);
        store_.late_[path_] = std::move(held_);
        return {};
    }

private:
    MutantStore& store_;
    const std::string path_;
    Late held_;
};

Result<std::unique_ptr<sys::File>> MutantStore::open(const std::string& path, sys::Access access) {
    auto file = PassingStore::open(path, access);
    const bool writes = access == sys::Access::create || access == sys::Access::create_direct;
    const bool is_here = path.find(where_) != std::string::npos;
    if (!file || !writes || !is_here || mistake_ == Mistake::directory_sync_left_out) return file;
    return std::unique_ptr<sys::File>(std::make_unique<MutantFile>(*this, path, std::move(*file)));
}

Result<> MutantStore::make_good(const std::string& path) {
    auto found = late_.extract(path);
    if (found.empty()) return {};
    auto& late = found.mapped();
    if (!late.bytes.empty()) FB_TRY(late.file->write(late.offset, late.bytes));
    FB_TRY(late.file->sync());
    return late.file->close();
}

Result<> MutantStore::rename(const std::string& from, const std::string& to) {
    FB_TRY(PassingStore::rename(from, to));
    return mistake_ == Mistake::manifest_before_data ? Result<>{} : make_good(from);
}

Result<> MutantStore::sync_directory(const std::string& path) {
    if (mistake_ == Mistake::directory_sync_left_out && path.ends_with(where_)) return {};
    // The run's directory is the last that a commit syncs.
    while (mistake_ == Mistake::manifest_before_data && path == run_ && !late_.empty())
        FB_TRY(make_good(late_.begin()->first));
    return PassingStore::sync_directory(path);
}

}  // namespace forebay::crash
