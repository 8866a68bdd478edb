#include "insight/advice/preflight/node_texts.hpp"

#include <algorithm>
#include <array>

#include "core/base/text_lines.hpp"

namespace forebay::advice {

namespace {

constexpr std::uint64_t kib_max = UINT64_MAX / 1024;
constexpr std::uint64_t large_piece_bytes = 2u << 20;
constexpr std::size_t orders_max = 32;

std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::uint64_t times(std::uint64_t count, std::uint64_t bytes) {
    return bytes != 0 && count > UINT64_MAX / bytes ? UINT64_MAX : count * bytes;
}
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace

Meminfo read_meminfo(std::string_view text) {
    Meminfo info;
    each_line(text, [&](std::string_view line) {
        auto words = words_of(line);
        if (words.size() > 2 && words[0] == "Node") words.erase(words.begin(), words.begin() + 2);
        if (words.size() < 2) return;
        const auto kib = number_of<std::uint64_t>(words[1]);
        if (!kib || *kib > kib_max) return;
        if (words[0] == "MemTotal:") info.total = *kib * 1024;
        if (words[0] == "MemFree:") info.free = *kib * 1024;
        if (words[0] == "Shmem:") info.shared = *kib * 1024;
        if (words[0] == "MemAvailable:") info.available = *kib * 1024;
    });
    return info;
}

std::optional<Buddies> read_buddyinfo(std::string_view text, std::uint64_t page_bytes) {
    std::optional<Buddies> buddies;
    // Node 0, zone   Normal   12   5 ...: free pieces of 1, 2, 4 ... pages.
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        if (words.size() < 5 || words[0] != "Node" || words[2] != "zone") return;
        if (!buddies) buddies.emplace();
        auto piece = page_bytes;
        for (std::size_t i = 4; i < std::min(words.size(), 4 + orders_max); ++i, piece *= 2) {
            const auto bytes = times(number_of<std::uint64_t>(words[i]).value_or(0), piece);
            buddies->free_bytes = plus(buddies->free_bytes, bytes);
            if (piece >= large_piece_bytes) buddies->large_bytes = plus(buddies->large_bytes, bytes);
        }
    });
    return buddies;
}

std::vector<Mount> read_mountinfo(std::string_view text) {
    std::vector<Mount> mounts;
    // 24 28 0:21 / /dev/shm rw,nosuid shared:3 - tmpfs tmpfs rw,size=1024k
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        const auto dash = std::ranges::find(words, "-");
        if (dash - words.begin() < 6 || words.end() - dash < 3) return;
        mounts.push_back({std::string(words[2]), unescaped(words[4]), std::string(dash[1]), unescaped(dash[2])});
    });
    return mounts;
}

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
    const Mount* best = nullptr;
    for (const auto& mount : mounts) {
        const auto& place = mount.place;
        const bool below = place == "/" || path == place || (path.starts_with(place) && path[place.size()] == '/');
        if (below && (best == nullptr || place.size() >= best->place.size())) best = &mount;
    }
    return best;
}

bool may_hang(const Mount& mount) {
    constexpr std::array kinds{"nfs",    "nfs4",  "lustre", "gpfs", "beegfs", "ceph",    "cifs", "smb3",      "pvfs2",
                               "wekafs", "panfs", "9p",     "acfs", "fuse",   "fuseblk", "afs",  "glusterfs", "ocfs2"};
    return mount.kind.starts_with("fuse.") || std::ranges::find(kinds, mount.kind) != kinds.end();
}

bool is_dfuse(const Mount& mount) { return mount.kind == "fuse.daos" || mount.source == "dfuse"; }

std::vector<SharedSegment> read_shared_segments(std::string_view text) {
    std::vector<SharedSegment> segments;
    // key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        if (words.size() < 15 || words[0] == "key") return;
        const auto at = [&](std::size_t i) { return number_of<std::uint64_t>(words[i]).value_or(0); };
        segments.push_back({.number = at(1),
                            .bytes = at(14),
                            .attached = at(6),
                            .owner = static_cast<std::uint32_t>(at(7)),
                            .changed_unix_s = number_of<std::int64_t>(words[13]).value_or(0)});
    });
    return segments;
}

std::optional<double> read_pressure(std::string_view text) {
    std::optional<double> percent;
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        if (words.size() > 1 && words[0] == "some" && words[1].starts_with("avg10="))
            percent = number_of<double>(words[1].substr(6));
    });
    return percent;
}

std::vector<std::string> read_mapped_files(std::string_view text) {
    std::vector<std::string> files;
    each_line(text, [&](std::string_view line) {
        // 55e0c0a00000-55e0c0a02000 r-xp 00001000 fe:00 1234    /path
        const auto slash = line.find('/');
        if (slash == line.npos || line.find(" r-xp ") == line.npos) return;
        const auto path = line.substr(slash);
        if (std::ranges::find(files, path) == files.end()) files.emplace_back(path);
    });
    std::ranges::sort(files);  // their addresses differ in each process
    return files;
}

}  // namespace forebay::advice
