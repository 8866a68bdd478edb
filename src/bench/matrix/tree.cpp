// The phases of mdtest, with its calls: open with O_CREAT and close, stat, open for both and close, unlink; mkdir,
// stat, rmdir. As in mdtest a barrier comes before each phase, and the barrier at its end is part of it.

#include <fmt/format.h>

#include <functional>

#include "bench/matrix/trial.hpp"
#include "core/base/try.hpp"
#include "core/sys/plain_file.hpp"

namespace forebay::bench {

namespace {

using sys::Clock;
using sys::PlainFile;

class TreePhases {
public:
    TreePhases(Ranks& ranks, const Tree& tree, const std::string& directory, Samples& samples)
        : ranks_(ranks), tree_(tree), samples_(samples) {
        root_ = fmt::format("{}/mdtest_tree.{}", directory, tree.own ? ranks.rank() : 0);
        add_directories(root_, tree.depth);
        const auto directories = static_cast<std::uint64_t>(directories_.size());
        per_directory_ =
            tree.items_per_directory > 0 ? tree.items_per_directory : (tree.items + directories - 1) / directories;
        items_ = tree.items_per_directory > 0 ? tree.items_per_directory * directories : tree.items;
    }

    Result<> run() {
        const bool makes = tree_.own || ranks_.rank() == 0;
        FB_TRY(phase("tree_create", directories_.size(), [&]() -> Result<> {
            if (makes)
                for (const auto& directory : directories_) FB_TRY(sys::plain_make_directory(directory));
            return {};
        }));
        FB_TRY(items("directory_create", "dir", sys::plain_make_directory));
        FB_TRY(items("directory_stat", "dir", sys::plain_stat));
        FB_TRY(items("directory_remove", "dir", sys::plain_remove_directory));
        FB_TRY(items("file_create", "file", [](const std::string& path) -> Result<> {
            FB_TRY_ASSIGN(file, PlainFile::open(path, PlainFile::Use::create));
            return file.close();
        }));
        FB_TRY(items("file_stat", "file", sys::plain_stat));
        FB_TRY(items("file_read", "file", [](const std::string& path) -> Result<> {
            FB_TRY_ASSIGN(file, PlainFile::open(path, PlainFile::Use::update));
            return file.close();
        }));
        FB_TRY(items("file_remove", "file", sys::plain_remove));
        return phase("tree_remove", directories_.size(), [&]() -> Result<> {
            if (makes)
                for (auto at = directories_.rbegin(); at != directories_.rend(); ++at)
                    FB_TRY(sys::plain_remove_directory(*at));
            return {};
        });
    }

private:
    // A directory comes before its children.
    void add_directories(const std::string& path, int depth) {
        directories_.push_back(path);
        for (int branch = 0; depth > 0 && branch < tree_.branches; ++branch)
            add_directories(fmt::format("{}/mdtest_tree.{}", path, branch), depth - 1);
    }

    Result<> items(const std::string& name, const char* kind, const std::function<Result<>(const std::string&)>& act) {
        return phase(name, items_ * static_cast<std::uint64_t>(ranks_.size()), [&]() -> Result<> {
            std::string path;
            for (std::uint64_t item = 0; item < items_; ++item) {
                path.clear();
                fmt::format_to(std::back_inserter(path), "{}/{}.mdtest.{}.{}", directories_[item / per_directory_],
                               kind, ranks_.rank(), item);
                FB_TRY(act(path));
            }
            return {};
        });
    }

    template <class Work>
    Result<> phase(const std::string& name, std::uint64_t operations, Work&& work) {
        ranks_.group().barrier();
        const auto begin = Clock::now();
        const Result<> own = work();
        ranks_.group().barrier();
        const auto end = Clock::now();
        FB_TRY(ranks_.agree(own));
        if (tree_.own && name.starts_with("tree")) operations *= static_cast<std::uint64_t>(ranks_.size());
        add_sample(samples_, name + "_operations_per_second",
                   static_cast<double>(operations) / ranks_.span(begin, end));
        return {};
    }

    Ranks& ranks_;
    const Tree& tree_;
    Samples& samples_;
    std::string root_;
    std::vector<std::string> directories_;
    std::uint64_t per_directory_ = 1, items_ = 1;
};

}  // namespace

Result<> run_tree(Ranks& ranks, const Tree& tree, const std::string& directory, Samples& samples) {
    return TreePhases(ranks, tree, directory, samples).run();
}

}  // namespace forebay::bench
