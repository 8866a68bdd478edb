#include "core/s3/directories.hpp"

#include <fmt/format.h>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/s3/key_pages.hpp"
#include "core/sys/machine.hpp"

namespace forebay::s3 {

namespace {

using Contents = DirectoryRecord::Contents;

// How often one call starts again because others changed the directory.
constexpr int changes_max = 8;
constexpr const char* no_version = "\"00000000000000000000000000000000\"";
constexpr std::chrono::seconds recent_lasts{2};
constexpr std::size_t recent_max = 1'000;

Error overtaken(const std::string& key) {
    return {ErrorKind::retry, "other clients changed " + show_text(key) + " repeatedly"};
}

std::string record_of(const std::string& key) { return key + directory_record_name; }

std::string parent_of(const std::string& key) { return key.substr(0, key.rfind('/', key.size() - 2) + 1); }

// Returns the place of the contents according to the directory's own record.
std::optional<std::string> said_by(const DirectoryRecord& record, const std::string& key) {
    if (record.contents == Contents::none) return {};
    return record.contents == Contents::here ? key : record.at;
}

}  // namespace

Result<Directories::Found> Directories::load(const std::string& key) {
    FB_TRY_ASSIGN(text, bucket_.find_text(record_of(key)));
    if (!text) return Found{};
    auto record = directory_record_from(text->text);
    if (!record)
        return Error{record.error().kind, record.error().what + ": s3://" + bucket_.name() + "/" + show_text(key)};
    // Records have the last parts of keys, and all code here uses whole keys.
    for (auto* part : {&record->at, &record->name, &record->next})
        if (!part->empty()) *part = parent_of(key) + *part;
    return Found{std::move(*record), std::move(text->etag)};
}

// If several names lead to the same contents, only one counts: the `next` name if it leads there already.
Result<bool> Directories::is_named(const std::string& key, const std::string& contents, const DirectoryRecord& owner) {
    if (owner.next == key) return true;
    if (!owner.next.empty()) {
        FB_TRY_ASSIGN(next, load(owner.next));
        if (!next.etag.empty() && said_by(next.record, owner.next) == contents) return false;
    }
    return (owner.name.empty() ? contents : owner.name) == key;
}

Result<std::optional<std::string>> Directories::contents_of(const std::string& key, bool has_keys) {
    if (key.empty()) return std::optional(key);  // the bucket
    FB_TRY_ASSIGN(mark, load(key));
    if (mark.etag.empty()) {
        // A directory that was never renamed has no record. It exists if any key lies below it.
        FB_TRY_ASSIGN(has, has_keys ? Result<bool>(true) : bucket_.has_prefix(key));
        return has ? std::optional(key) : std::nullopt;
    }
    const auto contents = said_by(mark.record, key);
    if (!contents) return contents;
    auto owner = mark.record;
    if (*contents != key) {
        FB_TRY_ASSIGN(of_contents, load(*contents));
        owner = of_contents.record;
    }
    FB_TRY_ASSIGN(counts, is_named(key, *contents, owner));
    return counts ? contents : std::nullopt;
}

Result<std::optional<std::string>> Directories::recent_contents_of(const std::string& key) {
    const auto now = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = recent_.find(key); known != recent_.end() && now < known->second.until)
            return std::optional(known->second.contents);
    }
    FB_TRY_ASSIGN(contents, contents_of(key));
    if (!contents) return contents;
    const std::lock_guard lock(mutex_);
    if (recent_.size() >= recent_max) recent_.clear();
    recent_[key] = {*contents, now + recent_lasts};
    return contents;
}

void Directories::forget(const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::erase_if(recent_, [&](const auto& entry) { return entry.first.starts_with(key); });
}

// The answer to a successful put may be lost, and the repeated put then fails. So a failed put compares the object with
// its text.
Result<std::optional<std::string>> Directories::put(const std::string& key, const DirectoryRecord& record,
                                                    const std::string& etag) {
    const auto above = parent_of(key);
    auto written = record;
    for (auto* part : {&written.at, &written.name, &written.next}) {
        if (part->empty()) continue;
        // Records have only last parts of keys, so they can only name siblings.
        if (!part->starts_with(above) || part->find('/', above.size()) != part->size() - 1)
            return Error{ErrorKind::unsupported, fmt::format("a directory cannot move to another directory: s3://{}/{}",
                                                             bucket_.name(), show_text(key))};
        part->erase(0, above.size());
    }
    const auto text = encode(written, sys::random_u64());
    // The random `turn` in the text tells this record from equal records of other clients.
    FB_TRY_ASSIGN(version, bucket_.put_text_over(record_of(key), text, etag));
    if (version) {
        if (etag.empty()) FB_TRY(see_conditions(key, text));
        return version;
    }
    FB_TRY_ASSIGN(there, bucket_.find_text(record_of(key)));
    if (there && there->text == text) return std::optional(there->etag);
    return version;
}

// Checks that the server obeys conditions. Otherwise two sessions could take the run lock of one run.
Result<> Directories::see_conditions(const std::string& key, const std::string& text) {
    {
        const std::lock_guard lock(mutex_);
        if (has_conditions_) return {};
    }
    // Both puts must fail: the key exists, and it does not have this version.
    FB_TRY_ASSIGN(as_new, bucket_.put_text_over(record_of(key), text, ""));
    FB_TRY_ASSIGN(over_other, bucket_.put_text_over(record_of(key), text, no_version));
    if (as_new || over_other)
        return Error{ErrorKind::unsupported,
                     fmt::format("the server of s3://{} ignores If-None-Match and If-Match, so two sessions could own "
                                 "the run at the same time",
                                 bucket_.name()),
                     "", "use a server that supports them, as AWS since 2024 and versitygw 1.8"};
    const std::lock_guard lock(mutex_);
    has_conditions_ = true;
    return {};
}

Result<> Directories::make(const std::string& key) {
    for (int attempt = 0; attempt < changes_max; ++attempt) {
        FB_TRY_ASSIGN(mark, load(key));
        // after load(): so the put below cannot replace a directory that was made meanwhile
        FB_TRY_ASSIGN(there, contents_of(key));
        if (there) return {};
        DirectoryRecord record = mark.record;
        if (!mark.etag.empty()) {
            // The contents made under this key have another name now, so this directory gets other keys.
            record.contents = Contents::elsewhere;
            record.at = fmt::format("{}.fb-{:016x}/", parent_of(key), sys::random_u64());
            FB_TRY(put(record.at, {.contents = Contents::none, .at = {}, .name = key, .next = {}}, ""));
        }
        FB_TRY_ASSIGN(version, put(key, record, mark.etag));
        if (version) return {};
        // Another client was faster, so the record of the unused contents is removed.
        if (!mark.etag.empty()) FB_TRY(bucket_.remove(record_of(record.at)));
    }
    return overtaken(key);
}

Result<> Directories::rename(const std::string& from, const std::string& to) {
    if (from == to) return {};
    for (int attempt = 0; attempt < changes_max; ++attempt) {
        FB_TRY_ASSIGN(contents, contents_of(from));
        if (!contents)
            return Error{ErrorKind::missing, fmt::format("there is no s3://{}/{}", bucket_.name(), show_text(from))};
        FB_TRY_ASSIGN(other, contents_of(to));
        if (other)
            return Error{ErrorKind::refused, fmt::format("s3://{}/{} exists already", bucket_.name(), show_text(to))};
        FB_TRY_ASSIGN(moved, move(from, *contents, to));
        // The cache must not return the old place.
        forget(from);
        if (moved) return {};
    }
    return overtaken(from);
}

// Three steps: announce the new name at the contents, put the name, confirm it at the contents. Returns false if
// another client was faster at any step. An announced name without an object does not count, and the next rename
// announces another name.
Result<bool> Directories::move(const std::string& from, const std::string& contents, const std::string& to) {
    FB_TRY_ASSIGN(owner, load(contents));
    FB_TRY_ASSIGN(counts, is_named(from, contents, owner.record));
    if (!counts) return false;
    owner.record.name = from == contents ? "" : from;
    owner.record.next = to;
    FB_TRY_ASSIGN(announced, put(contents, owner.record, owner.etag));
    if (!announced) return false;
    FB_TRY_ASSIGN(given, give_name(to, contents));
    if (!given) return false;
    owner.record.name = to;
    owner.record.next.clear();
    if (from == contents) owner.record.contents = Contents::none;
    FB_TRY_ASSIGN(confirmed, put(contents, owner.record, *announced));
    if (!confirmed) {
        // Another client has changed the record meanwhile. The rename counts if `to` leads to the contents.
        FB_TRY_ASSIGN(now, contents_of(to));
        if (now != contents) return false;
    }
    if (from != contents) FB_TRY(drop_name(from, contents));
    return true;
}

Result<bool> Directories::give_name(const std::string& to, const std::string& contents) {
    FB_TRY_ASSIGN(there, load(to));
    // after load(): so the put below cannot replace a name that another client got meanwhile
    FB_TRY_ASSIGN(holds, contents_of(to));
    if (holds && holds != contents) return false;
    auto record = there.record;
    if (to == contents) {  // back to the name at their creation
        record.contents = Contents::here;
        record.at.clear();
        record.name = record.next = "";
    } else {
        record.contents = Contents::elsewhere;
        record.at = contents;
    }
    FB_TRY_ASSIGN(version, put(to, record, there.etag));
    return version.has_value();
}

// Ends the name's link to these contents. The object stays if it also describes contents below its own key.
Result<> Directories::drop_name(const std::string& key, const std::string& contents) {
    for (int attempt = 0; attempt < changes_max; ++attempt) {
        FB_TRY_ASSIGN(mark, load(key));
        if (mark.etag.empty() || said_by(mark.record, key) != contents) return {};
        if (mark.record.name.empty() && mark.record.next.empty()) return bucket_.remove(record_of(key));
        mark.record.contents = Contents::none;
        mark.record.at.clear();
        FB_TRY_ASSIGN(version, put(key, mark.record, mark.etag));
        if (version) return {};
    }
    return overtaken(key);
}

// Called after the contents below this key are gone. The object stays if the key is the name of another directory now.
Result<> Directories::drop_contents(const std::string& key) {
    for (int attempt = 0; attempt < changes_max; ++attempt) {
        FB_TRY_ASSIGN(mark, load(key));
        if (mark.record.contents != Contents::elsewhere) return bucket_.remove(record_of(key));
        mark.record.name = mark.record.next = "";
        FB_TRY_ASSIGN(version, put(key, mark.record, mark.etag));
        if (version) return {};
    }
    return overtaken(key);
}

Result<bool> Directories::remove(const std::string& key) {
    FB_TRY_ASSIGN(contents, contents_of(key));
    forget(key);
    if (!contents) {
        // An interrupted removal may have left only the name.
        FB_TRY_ASSIGN(mark, load(key));
        if (mark.record.contents == Contents::elsewhere) FB_TRY(drop_name(key, mark.record.at));
        return false;
    }
    // The order is contents, record of the contents, name: a removal that stops early can be repeated.
    // Unfinished uploads are not objects, so the removal of keys would miss them.
    FB_TRY_ASSIGN(uploads, bucket_.uploads_of(*contents));
    for (const auto& upload : uploads) FB_TRY(bucket_.give_up_upload(upload));
    FB_TRY(remove_contents(*contents));
    FB_TRY(drop_contents(*contents));
    if (*contents != key) FB_TRY(drop_name(key, *contents));
    return true;
}

// Names below this prefix never lead outside it.
Result<> Directories::remove_contents(const std::string& prefix) {
    for (KeyPages pages(bucket_, prefix); pages.has_more();) {
        FB_TRY_ASSIGN(page, pages.next());
        std::vector<std::string> keys;
        for (const auto& object : page.objects)
            // The directory's own record goes last, in drop_contents().
            if (object.key != record_of(prefix)) keys.push_back(object.key);
        for (const auto& below : page.prefixes) {
            FB_TRY(remove_contents(below));
            FB_TRY(bucket_.remove(record_of(below)));
        }
        for (std::size_t begin = 0; begin < keys.size(); begin += Bucket::keys_max) {
            const auto end = std::min(keys.size(), begin + Bucket::keys_max);
            FB_TRY_ASSIGN(stayed, bucket_.remove_all({keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                                      keys.begin() + static_cast<std::ptrdiff_t>(end)}));
            if (!stayed.empty())
                return Error{ErrorKind::refused,
                             fmt::format("s3://{}/{} stays: {} {}", bucket_.name(), show_text(stayed.front().key),
                                         show_text(stayed.front().code), show_text(stayed.front().message))};
        }
    }
    return {};
}

}  // namespace forebay::s3
