#include "program/transfer_verbs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/sys/target_store.hpp"
#include "core/terminal/other_program.hpp"
#include "program/place.hpp"

namespace forebay::cli {

namespace {

constexpr OtherProgram transfer_program{
    "forebay-transfer", "works on trees of files",
    "install the package forebay-transfer, or use a forebay that was built with -DFOREBAY_TRANSFER=ON"};

// In the order of `forebay --help`.
constexpr std::array<std::pair<const char*, const char*>, 8> transfer_verbs{{
    {"walk", "Count the files of a tree, and list them"},
    {"copy", "Copy a tree of files with its links, holes, ACLs and times"},
    {"sync", "Make one tree of files equal to another, and copy only differences"},
    {"compare", "List the differences of two trees of files"},
    {"delete", "Remove a tree of files"},
    {"archive", "Pack a tree of files into one tar file, with all attributes"},
    {"restore-archive", "Restore, check or list an archive made by forebay, tar or bsdtar"},
    {"migrate", "Move whole projects to another store by a plan: copy, freeze, sync, compare, remove"},
}};

}  // namespace

bool is_transfer_verb(std::string_view name) {
    return name == "tree-worker" ||
           std::ranges::any_of(transfer_verbs, [&](const auto& verb) { return verb.first == name; });
}

bool compares_snapshots(int count, char** arguments) {
    if (std::string_view(arguments[1]) != "compare") return false;
    return std::any_of(arguments + 2, arguments + count, [](const char* argument) {
        if (argument[0] == '-') return false;
        const auto snapshot = names_snapshot(sys::target_store(), argument);
        return snapshot && *snapshot;
    });
}

void add_transfer_verbs(CommandLine& line, void (*add_compare)(CommandLine&)) {
    for (const auto& [name, summary] : transfer_verbs)
        if (add_compare != nullptr && std::string_view(name) == "compare") add_compare(line);
        else line.elsewhere(name, summary, [](const auto& arguments) { return become(transfer_program, arguments); });
}

}  // namespace forebay::cli
