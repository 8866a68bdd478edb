// Goal: in a directory that folds spellings, an existing entry stays unless it has this spelling or the source has its
// name no more. Elsewhere there are no extra calls.
// Method: uses a simulated directory that folds ASCII letters, has short names beside long names as FAT does, and
// counts its listings.

#include "transfer/copy/case_fold_names.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace forebay;
using tree::CaseFoldNames;

namespace {

class FoldingFolder final : public sys::Folder {
public:
    explicit FoldingFolder(sys::CaseFolding folding, bool has_flag = false) : folding_(folding), has_flag_(has_flag) {}

    std::map<std::string, std::uint64_t> entries;  // inodes by name
    int listings = 0, asked = 0;

    Result<> list(const NameTaker& take) override {
        ++listings;
        for (const auto& [name, number] : entries) {
            const sys::NamedEntry entry{.name = name, .number = number};
            if (auto taken = take({&entry, 1}); !taken) return taken;
        }
        return {};
    }
    Result<sys::EntryStatus> status_of(const std::string& name) override {
        const auto entry = find(name);
        if (entry == entries.end()) return Error{ErrorKind::missing, name};
        return sys::EntryStatus{.kind = name == "dir" ? sys::EntryKind::folder : sys::EntryKind::file,
                                .id = {1, entry->second}};
    }
    Result<> rename(const std::string& name, const std::string& new_name) override {
        const auto from = find(name), to = find(new_name);
        if (from == entries.end()) return Error{ErrorKind::missing, name};
        const auto number = from->second;
        entries.erase(from);
        if (to == entries.end()) entries.emplace(new_name, number);
        else to->second = number;  // it keeps its spelling
        return {};
    }
    Result<> remove(const std::string& name) override {
        const auto entry = find(name);
        if (entry == entries.end()) return Error{ErrorKind::missing, name};
        entries.erase(entry);
        return {};
    }
    Result<sys::FileSystemTraits> file_system() override {
        ++asked;
        return sys::FileSystemTraits{.case_folding = folding_};
    }
    bool folds_case() override {
        ++asked;
        return has_flag_;
    }

    Result<sys::EntryStatus> status() override { return none(); }
    Result<std::vector<std::string>> attribute_names() override { return none(); }
    Result<std::string> attribute(const std::string&) override { return none(); }
    Result<> set_attribute(const std::string&, const std::string&) override { return none(); }
    Result<> remove_attribute(const std::string&) override { return none(); }
    Result<> set_owner(std::uint32_t, std::uint32_t) override { return none(); }
    Result<> set_permissions(std::uint32_t) override { return none(); }
    Result<> set_times(sys::FileTime, sys::FileTime) override { return none(); }
    Result<std::string> link_text(const std::string&) override { return none(); }
    Result<std::vector<std::string>> attribute_names_of(const std::string&) override { return none(); }
    Result<std::string> attribute_of(const std::string&, const std::string&) override { return none(); }
    Result<std::unique_ptr<Folder>> open_folder(const std::string&) override { return none(); }
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string&) override { return none(); }
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string&) override { return none(); }
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string&) override { return none(); }
    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string&, std::uint32_t) override { return none(); }
    Result<> make_folder(const std::string&, std::uint32_t) override { return none(); }
    Result<> make_link(const std::string&, const std::string&) override { return none(); }
    Result<> make_special(const std::string&, const sys::EntryStatus&) override { return none(); }
    Result<> make_hard_link(const std::string&, Folder&, const std::string&) override { return none(); }
    Result<> remove_folder(const std::string&) override { return none(); }
    Result<> sync_file_system() override { return none(); }
    Result<bool> lies_in(const sys::EntryId&) override { return none(); }

private:
    static Error none() { return {ErrorKind::unsupported, "not asked for"}; }
    std::map<std::string, std::uint64_t>::iterator find(const std::string& name) {
        auto at = entries.begin();
        while (at != entries.end() && tree::key_of_name_fold(at->first) != tree::key_of_name_fold(name) &&
               at->first.substr(0, 4) + "~1" != name)
            ++at;
        return at;
    }

    const sys::CaseFolding folding_;
    const bool has_flag_;
};

struct Target {
    FoldingFolder folder{sys::CaseFolding::always};
    FoldingFolder source{sys::CaseFolding::never};
    tree::DirNode dir_node{nullptr, ""};

    CaseFoldNames& case_fold_names() { return *CaseFoldNames::of(dir_node, folder); }
    Result<bool> claim(const std::string& name, bool is_dry = false) {
        return case_fold_names().claim(folder, source, name, folder.status_of(name).value(), ".fb", is_dry);
    }
};

}  // namespace

TEST_CASE("spellings: folders are asked where they differ, and new ones are not") {
    using sys::CaseFolding;
    for (const auto folding : {CaseFolding::never, CaseFolding::by_folder, CaseFolding::always})
        for (const bool has_flag : {false, true}) {
            FoldingFolder folder(folding, has_flag);
            const auto root = std::make_shared<tree::DirNode>(nullptr, "");
            const auto old = std::make_shared<tree::DirNode>(root, "old");
            const auto dir_node = std::make_shared<tree::DirNode>(root, "made");
            dir_node->was_made = true;
            const bool folds = folding == CaseFolding::always || (folding == CaseFolding::by_folder && has_flag);
            CHECK((CaseFoldNames::of(*root, folder) != nullptr) == folds);
            CHECK(CaseFoldNames::of(*root, folder) == CaseFoldNames::of(*root, folder));
            const int by_flag = folding == CaseFolding::by_folder ? 1 : 0;
            CHECK(folder.asked == 1 + by_flag);
            CHECK((CaseFoldNames::of(*old, folder) != nullptr) == folds);
            CHECK(folder.asked == 1 + 2 * by_flag);
            CHECK((CaseFoldNames::of(*dir_node, folder) != nullptr) == folds);
            CHECK(folder.asked == 1 + 2 * by_flag);
        }
}

TEST_CASE("spellings: an entry of another spelling stays where the source has it") {
    Target target;
    target.folder.entries = {{"A", 1}, {"long name", 2}};
    target.source.entries = {{"A", 11}, {"a b", 12}, {"long name", 13}};
    CHECK_FALSE(target.claim("A").value());
    CHECK(target.folder.listings == 1);
    const auto refused = target.claim("a");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("\"A\" exists, so \"a\" is not copied") != std::string::npos);
    CHECK_FALSE(target.claim("long~1"));  // a short name, absent from listings
    target.folder.entries["temporary"] = 3;
    CHECK_FALSE(target.case_fold_names().rename(target.folder, "temporary", "a"));
    CHECK(target.folder.entries == std::map<std::string, std::uint64_t>{{"A", 1}, {"long name", 2}, {"temporary", 3}});
    CHECK(target.case_fold_names().rename(target.folder, "temporary", "A"));
    CHECK(target.folder.entries == std::map<std::string, std::uint64_t>{{"A", 3}, {"long name", 2}});
    target.folder.entries["temporary"] = 4;
    CHECK(target.case_fold_names().rename(target.folder, "temporary", "new"));
    CHECK(target.folder.entries.at("new") == 4);
    CHECK(target.case_fold_names().spelling_of(target.folder, "NEW").value() == "new");
    CHECK_FALSE(target.case_fold_names().spelling_of(target.folder, "other").value());
}

TEST_CASE("spellings: what the source calls otherwise now is renamed, but for folders") {
    Target target;
    target.folder.entries = {{"A", 1}, {"DIR", 2}};
    target.source.entries = {{"a b", 11}};
    CHECK(target.claim("a", true).value());
    CHECK(target.folder.entries.contains("A"));
    CHECK_FALSE(target.claim("a").value());
    CHECK(target.folder.entries == std::map<std::string, std::uint64_t>{{"a", 1}, {"DIR", 2}});
    const auto refused = target.claim("dir");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("Rename it there") != std::string::npos);
}
