#include "core/sys/target_store.hpp"

#include <map>
#include <mutex>

#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/store_below.hpp"

namespace forebay::sys {

namespace {

class TargetStore final : public Store {
public:
    /// `below` limits which paths of this machine are reached; null: all paths.
    explicit TargetStore(std::unique_ptr<Store> below = nullptr)
        : below_(std::move(below)), near_(below_ ? *below_ : posix_store()) {}

    Result<std::unique_ptr<File>> open(const std::string& path, Access access) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->open(path, access);
    }
    Result<> make_directories(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->make_directories(path);
    }
    Result<> make_directory(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->make_directory(path);
    }
    Result<> rename(const std::string& from, const std::string& to) override {
        FB_TRY_ASSIGN(store, of(from));
        return store->rename(from, to);
    }
    Result<> remove(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->remove(path);
    }
    Result<> remove_tree(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->remove_tree(path);
    }
    Result<> sync_directory(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->sync_directory(path);
    }
    Result<std::vector<Entry>> list(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->list(path);
    }
    Result<bool> exists(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->exists(path);
    }
    Result<std::optional<std::int64_t>> changed_unix_ns(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->changed_unix_ns(path);
    }
    Result<std::optional<EntryId>> id_for_cut_renames(const std::string& path) override {
        FB_TRY_ASSIGN(store, of(path));
        return store->id_for_cut_renames(path);
    }
    std::optional<StripeDefault> default_stripes(const std::string& directory) override {
        return is_far(directory) ? std::nullopt : near_.default_stripes(directory);
    }
    Result<> make_striped(const std::string& path, const Stripes& stripes) override {
        return is_far(path) ? Store::make_striped(path, stripes) : near_.make_striped(path, stripes);
    }

private:
    Result<Store*> of(const std::string& path) {
        if (!is_far(path)) return &near_;
        const auto address = store_of(path);
        const std::lock_guard lock(mutex_);
        auto& store = far_[address];
        if (!store) {
            FB_TRY_ASSIGN(function, far_function(address, "forebay_open_far_store"));
            OpenedStore opened = Error{ErrorKind::broken, "the module of " + address + " gave no answer"};
            reinterpret_cast<OpenFarStore>(function)(address, opened);
            FB_TRY(opened);
            store = std::move(*opened);
        }
        return store.get();
    }

    const std::unique_ptr<Store> below_;
    Store& near_;
    std::mutex mutex_;  // guards the map below
    std::map<std::string, std::unique_ptr<Store>> far_;
};

}  // namespace

// Never destroyed: threads may use it until the process ends.
Store& target_store() {
    static auto& store = *new TargetStore;
    return store;
}

std::unique_ptr<Store> open_target_store_below(std::vector<std::string> roots) {
    return std::make_unique<TargetStore>(open_posix_store_below(std::move(roots)));
}

}  // namespace forebay::sys
