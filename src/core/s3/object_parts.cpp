#include "core/s3/object_parts.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/attempt.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"

namespace forebay::s3 {

namespace {

constexpr std::uint64_t parts_of_a_size = 1'000;

ObjectState state_of_new(const sys::NewEntryOwner& owner) { return new_state(sys::EntryKind::file, 0666, owner); }

// Adds a stretch to an ordered list, and merges it with stretches that it touches.
void add_to(std::vector<sys::ByteStretch>& stretches, sys::ByteStretch added) {
    std::erase_if(stretches, [&](const sys::ByteStretch& stretch) {
        if (stretch.end < added.begin || stretch.begin > added.end) return false;
        added = {std::min(added.begin, stretch.begin), std::max(added.end, stretch.end)};
        return true;
    });
    const auto after =
        std::ranges::find_if(stretches, [&](const auto& stretch) { return stretch.begin > added.begin; });
    stretches.insert(after, added);
}

void fill_gaps(std::byte* memory, const std::vector<sys::ByteStretch>& written, std::uint64_t bytes) {
    std::uint64_t end = 0;
    for (const auto& stretch : written) {
        std::memset(memory + end, 0, stretch.begin - end);
        end = stretch.end;
    }
    if (end < bytes) std::memset(memory + end, 0, bytes - end);
}

Error sent_already(const std::string& key) {
    return {ErrorKind::unsupported, "the uploaded bytes of the object " + show_text(key) + " cannot be changed"};
}

}  // namespace

ObjectParts::ObjectParts(Bucket& bucket, std::string key) : bucket_(bucket), upload_{std::move(key), {}} {
    bucket_.part_memory.begin_object();
}

ObjectParts::~ObjectParts() {
    if (!is_over_) static_cast<void>(attempt([this] { give_up(); }));
    parts_.clear();
    bucket_.part_memory.end_object();
}

ObjectParts::Place ObjectParts::place_of(std::uint64_t offset) {
    Place place{.index = 0, .begin = 0, .bytes = part_bytes_least};
    while (offset - place.begin >= parts_of_a_size * place.bytes) {
        place.begin += parts_of_a_size * place.bytes;
        place.index += parts_of_a_size;
        place.bytes *= 2;
    }
    const auto further = (offset - place.begin) / place.bytes;
    place.index += further;
    place.begin += further * place.bytes;
    return place;
}

Result<> ObjectParts::load(const ObjectInfo& object) {
    is_held_ = true;
    if (object.bytes == 0) {
        is_changed_ = false;
        return {};
    }
    FB_TRY_ASSIGN(is_same,
                  bucket_.read(object, {0, object.bytes}, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                      return write(offset, bytes);
                  }));
    if (!is_same) return Error{ErrorKind::retry, "the object " + show_text(object.key) + " was replaced"};
    const std::lock_guard lock(mutex_);
    is_changed_ = false;
    return {};
}

Result<std::byte*> ObjectParts::memory_at(const Place& place) {
    const std::lock_guard lock(mutex_);
    if (place.index >= Bucket::parts_max)
        return Error{ErrorKind::unsupported,
                     "an object of S3 has at most 10,000 parts, and " + show_text(upload_.key) + " needs more"};
    auto& part = parts_[place.index];
    if (part.is_sent || is_over_) return sent_already(upload_.key);
    part.place = place;
    if (!part.bytes) part.bytes = bucket_.part_memory.take(place.bytes);
    return part.bytes.get();
}

Result<> ObjectParts::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto place = place_of(offset);
        const auto from = offset - place.begin;
        const auto count = std::min<std::uint64_t>(bytes.size(), place.bytes - from);
        FB_TRY_ASSIGN(memory, memory_at(place));
        // No lock is needed: concurrent writers have different stretches.
        std::memcpy(memory + from, bytes.data(), count);
        FB_TRY(wrote(place, {from, from + count}));
        offset += count;
        bytes = bytes.subspan(count);
    }
    return {};
}

void ObjectParts::leave_zeros(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    add_to(zeros_, {offset, offset + bytes});
    bytes_ = std::max(bytes_, offset + bytes);
    is_changed_ = true;
}

// The first part is not sent before a byte behind it arrives: it may be the whole object, which one request puts.
Result<> ObjectParts::wrote(const Place& place, sys::ByteStretch stretch) {
    std::vector<Part*> whole;
    {
        const std::lock_guard lock(mutex_);
        add_to(parts_[place.index].written, stretch);
        bytes_ = std::max(bytes_, place.begin + stretch.end);
        is_changed_ = true;
        for (const auto index : {std::uint64_t{0}, place.index}) {
            const auto match = parts_.find(index);
            if (match == parts_.end() || bytes_ <= part_bytes_least || is_held_) continue;
            auto& part = match->second;
            if (part.is_sent || !is_whole(part)) continue;
            // Marked under the lock, sent without it: no other thread touches a part that is marked as sent.
            part.is_sent = true;
            whole.push_back(&part);
        }
    }
    for (auto* part : whole) FB_TRY(send(*part, part->place.bytes));
    return {};
}

bool ObjectParts::is_whole(const Part& part) const {
    const auto end = part.place.begin + part.place.bytes;
    auto all = part.written;
    // Announced zeros count as written.
    auto zeros = std::ranges::upper_bound(zeros_, part.place.begin, {}, &sys::ByteStretch::end);
    for (; zeros != zeros_.end() && zeros->begin < end; ++zeros)
        add_to(all, {std::max(zeros->begin, part.place.begin) - part.place.begin,
                     std::min(zeros->end, end) - part.place.begin});
    return all.size() == 1 && all.front().begin == 0 && all.front().end == part.place.bytes;
}

Result<> ObjectParts::ensure_upload() {
    const std::lock_guard lock(upload_mutex_);
    if (!upload_.id.empty()) return {};
    // Uploads under this key are left from a killed writer: no mark would lead a later run to them.
    FB_TRY_ASSIGN(left, bucket_.uploads_of(upload_.key));
    for (const auto& upload : left)
        if (upload.key == upload_.key) FB_TRY(bucket_.give_up_upload(upload));
    FB_TRY_ASSIGN(id, bucket_.begin_upload(upload_.key, state_of_new(bucket_.owner)));
    upload_.id = std::move(id);
    return {};
}

// No lock is needed: other threads leave a part alone that is marked as sent.
Result<> ObjectParts::send(Part& part, std::uint64_t bytes) {
    FB_TRY(ensure_upload());
    fill_gaps(part.bytes.get(), part.written, bytes);
    auto sent = bucket_.put_part(upload_, part.place.index + 1, {part.bytes.get(), bytes});
    if (!sent && sent.error().kind == ErrorKind::missing)  // a rule of the bucket or another agent aborted the upload
        return Error{ErrorKind::retry, sent.error().what, "", "repeat the same command"};
    FB_TRY(sent);
    part.sent = std::move(*sent);
    part.bytes.reset();
    return {};
}

Result<> ObjectParts::read(std::uint64_t offset, std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    if (offset + bytes.size() > bytes_)
        return Error{ErrorKind::corrupt, "truncated: " + show_text(upload_.key) + " ends before"};
    while (!bytes.empty()) {
        const auto place = place_of(offset);
        const auto count = std::min<std::uint64_t>(bytes.size(), place.begin + place.bytes - offset);
        const auto part = parts_.find(place.index);
        if (part == parts_.end() || !part->second.bytes) return sent_already(upload_.key);
        std::memcpy(bytes.data(), part->second.bytes.get() + (offset - place.begin), count);
        offset += count;
        bytes = bytes.subspan(count);
    }
    return {};
}

std::uint64_t ObjectParts::size() {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

Result<> ObjectParts::resize(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes == bytes_) return {};
    for (auto& [index, part] : parts_) {
        const auto& place = part.place;
        if (bytes >= place.begin + place.bytes) continue;
        if (part.is_sent) return sent_already(upload_.key);
        const auto stays = bytes > place.begin ? bytes - place.begin : 0;
        std::erase_if(part.written, [&](const auto& stretch) { return stretch.begin >= stays; });
        for (auto& stretch : part.written) stretch.end = std::min(stretch.end, stays);
    }
    bytes_ = bytes;
    is_changed_ = true;
    return {};
}

Result<> ObjectParts::publish() { return publish_as(upload_.key); }

Result<> ObjectParts::publish_as(const std::string& key) {
    {
        const std::lock_guard lock(mutex_);
        if (!is_changed_ && key == upload_.key) return {};
        if (is_over_) return sent_already(upload_.key);
    }
    const bool is_small = size() <= part_bytes_least;
    if (!is_small && key != upload_.key)
        return Error{ErrorKind::unsupported,
                     "the object " + show_text(upload_.key) + " cannot become " + show_text(key) + " any more"};
    FB_TRY(is_small ? put_whole(key) : end_upload());
    const std::lock_guard lock(mutex_);
    is_changed_ = false;
    // A small object may change and be published again, but an upload has ended.
    is_over_ = !is_small;
    return {};
}

Result<> ObjectParts::put_whole(const std::string& key) {
    const auto bytes = size();
    const std::byte* memory = nullptr;
    if (bytes > 0) {
        FB_TRY_ASSIGN(first, memory_at(place_of(0)));
        fill_gaps(first, parts_[0].written, bytes);
        memory = first;
    }
    return bucket_.put(key, state_of_new(bucket_.owner), {memory, bytes});
}

Result<> ObjectParts::end_upload() {
    const auto bytes = size();
    std::vector<Bucket::Part> sent;
    for (std::uint64_t offset = 0; offset < bytes;) {
        const auto place = place_of(offset);
        const auto count = std::min(place.bytes, bytes - offset);
        auto& part = parts_[place.index];
        // Parts with gaps and the last part are sent now.
        if (!part.is_sent) {
            FB_TRY(memory_at(place));
            part.is_sent = true;
            FB_TRY(send(part, count));
        }
        sent.push_back(part.sent);
        offset += count;
    }
    auto ended = bucket_.end_upload(upload_, sent);
    if (!ended && ended.error().kind == ErrorKind::missing) {
        // If the answer to an earlier attempt was lost, the upload is gone and the object exists.
        FB_TRY_ASSIGN(there, bucket_.look(upload_.key));
        if (there && there->bytes == bytes) ended = {};
    }
    return ended;
}

void ObjectParts::give_up() {
    const std::lock_guard lock(upload_mutex_);
    if (!upload_.id.empty() && !is_over_) static_cast<void>(bucket_.give_up_upload(upload_));
    upload_.id.clear();
    is_over_ = true;
}

}  // namespace forebay::s3
