// The main of a fuzz target without libFuzzer. It replays every file of the corpus directory on the command line, then
// truncations and byte changes of each file in an order from a fixed seed. It prints a reason and exits with 77 if
// there is no corpus.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// Enough to change each field of a header several times; few enough to replay 100 files in seconds.
constexpr int mutations_per_file = 500;
constexpr int truncations_per_file = 64;

std::vector<std::uint8_t> bytes_of_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void try_once(const std::vector<std::uint8_t>& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

void replay(const std::vector<std::uint8_t>& original, std::mt19937_64& random) {
    try_once(original);
    if (original.empty()) return;
    for (int i = 0; i < truncations_per_file; ++i) {
        auto cut = original;
        cut.resize(random() % original.size());
        try_once(cut);
    }
    for (int i = 0; i < mutations_per_file; ++i) {
        auto changed = original;
        const auto changes = 1 + random() % 4;
        for (std::uint64_t change = 0; change < changes; ++change) {
            // Half of the changes hit the first 256 bytes. Most formats keep their important fields there.
            const auto reach = random() % 2 ? changed.size() : std::min<std::size_t>(changed.size(), 256);
            changed[random() % reach] = static_cast<std::uint8_t>(random());
        }
        try_once(changed);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::filesystem::path corpus = argc > 1 ? argv[1] : "";
    if (!std::filesystem::is_directory(corpus)) {
        std::printf("skipped: no corpus directory '%s' to replay\n", corpus.c_str());
        return 77;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(corpus))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    if (files.empty()) {
        std::printf("skipped: the corpus directory '%s' is empty\n", corpus.c_str());
        return 77;
    }
    std::mt19937_64 random(20'260'101);
    for (const auto& file : files) {
        std::printf("%s\n", file.filename().c_str());
        std::fflush(stdout);
        replay(bytes_of_file(file), random);
    }
    std::printf("%zu files replayed, each with %d truncations and %d changes\n", files.size(), truncations_per_file,
                mutations_per_file);
    return 0;
}
