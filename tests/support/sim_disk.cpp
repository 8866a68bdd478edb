#include "support/sim_disk.hpp"

#include <algorithm>
#include <set>

namespace forebay::test {

namespace {

constexpr std::uint64_t sector_bytes = 512;  // disks write a sector as a whole

void put(Bytes& bytes, std::uint64_t offset, std::span<const std::byte> data) {
    if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
    std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

void apply_bytes(Bytes& bytes, const SimNode::Change& change) {
    if (change.is_cut) bytes.resize(change.offset);
    else put(bytes, change.offset, change.data);
}

bool coin(std::mt19937_64& random) { return (random() & 1) != 0; }

void apply_torn(Bytes& bytes, const SimNode::Change& change, std::mt19937_64& random) {
    if (change.is_cut) {
        if (coin(random)) bytes.resize(change.offset);
        return;
    }
    const std::span<const std::byte> data(change.data);
    // A journal may hold the new length before the bytes are there; they then read as zeros.
    if (coin(random) && bytes.size() < change.offset + data.size()) bytes.resize(change.offset + data.size());
    for (std::uint64_t at = 0; at < data.size();) {
        const std::uint64_t sector_end = ((change.offset + at) / sector_bytes + 1) * sector_bytes;
        const std::uint64_t count = std::min<std::uint64_t>(sector_end - change.offset - at, data.size() - at);
        if (coin(random)) put(bytes, change.offset + at, data.subspan(at, count));
        at += count;
    }
}

NodePtr copy_node(const NodePtr& node, std::map<const SimNode*, NodePtr>& copies) {
    if (!node) return nullptr;
    if (const auto known = copies.find(node.get()); known != copies.end()) return known->second;
    auto copy = std::make_shared<SimNode>(*node);
    copies[node.get()] = copy;
    for (auto& [name, child] : copy->names) child = copy_node(child, copies);
    for (auto& [name, child] : copy->durable_names) child = copy_node(child, copies);
    return copy;
}

}  // namespace

SimDisk::SimDisk() : root_(std::make_shared<SimNode>()) { root_->is_directory = true; }

SimDisk::SimDisk(const SimDisk& other) {
    std::map<const SimNode*, NodePtr> copies;
    root_ = copy_node(other.root_, copies);
    for (const auto& change : other.changes_)
        changes_.push_back({copy_node(change.from_directory, copies), change.from,
                            copy_node(change.to_directory, copies), change.to, copy_node(change.node, copies)});
}

void SimDisk::write(SimNode& file, std::uint64_t offset, std::span<const std::byte> data, int writer) {
    put(file.bytes, offset, data);
    file.changes.push_back({offset, Bytes(data.begin(), data.end()), false, writer});
}

void SimDisk::cut(SimNode& file, std::uint64_t bytes, int writer) {
    file.bytes.resize(bytes);
    if (bytes == 0) file.changes.clear();  // earlier writes cannot show any more
    file.changes.push_back({bytes, {}, true, writer});
}

void SimDisk::sync_file(SimNode& file, int writer) {
    for (const auto& change : file.changes)
        if (change.writer == writer) apply_bytes(file.durable_bytes, change);
    write_off(file, writer);
}

void SimDisk::write_off(SimNode& file, int writer) {
    std::erase_if(file.changes, [writer](const SimNode::Change& change) { return change.writer == writer; });
}

void SimDisk::add_name(const NodePtr& directory, const std::string& name, const NodePtr& node) {
    record({nullptr, {}, directory, name, node});
}

void SimDisk::remove_name(const NodePtr& directory, const std::string& name) {
    record({directory, name, nullptr, {}, directory->names.at(name)});
}

void SimDisk::move_name(const NodePtr& from_directory, const std::string& from, const NodePtr& to_directory,
                        const std::string& to) {
    record({from_directory, from, to_directory, to, from_directory->names.at(from)});
}

void SimDisk::record(NameChange change) {
    apply(change, false);
    changes_.push_back(std::move(change));
}

void SimDisk::apply(const NameChange& change, bool durable) {
    const auto names_of = [&](const NodePtr& directory) -> auto& {
        return durable ? directory->durable_names : directory->names;
    };
    if (change.from_directory) {
        auto& names = names_of(change.from_directory);
        const auto name = names.find(change.from);
        if (name != names.end() && name->second == change.node) names.erase(name);
    }
    if (change.to_directory) names_of(change.to_directory)[change.to] = change.node;
}

void SimDisk::sync_names(const NodePtr& directory) {
    // Earlier changes of the same names become durable too: no disk keeps a rename but forgets the earlier name for
    // good.
    std::set<std::pair<const SimNode*, std::string>> needed;
    std::vector<NameChange> synced, left;
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        const std::pair from(static_cast<const SimNode*>(change->from_directory.get()), change->from);
        const std::pair to(static_cast<const SimNode*>(change->to_directory.get()), change->to);
        const bool here = change->from_directory == directory || change->to_directory == directory;
        if (!here && !needed.contains(from) && !needed.contains(to)) {
            left.push_back(*change);
            continue;
        }
        if (change->from_directory) needed.insert(from);
        if (change->to_directory) needed.insert(to);
        synced.push_back(*change);
    }
    std::for_each(synced.rbegin(), synced.rend(), [](const NameChange& change) { apply(change, true); });
    changes_.assign(left.rbegin(), left.rend());
}

void SimDisk::come_back(const NodePtr& node, const std::function<void(SimNode&)>& keep_bytes) {
    keep_bytes(*node);
    node->changes.clear();
    node->bytes = node->durable_bytes;
    node->names = node->durable_names;
    for (const auto& [name, child] : node->names) come_back(child, keep_bytes);
}

void SimDisk::power_cut(Survivors kept) {
    if (kept.names)
        for (const auto& change : changes_) apply(change, true);
    changes_.clear();
    come_back(root_, [&](SimNode& node) {
        if (!kept.bytes) return;
        for (const auto& change : node.changes) apply_bytes(node.durable_bytes, change);
    });
}

void SimDisk::power_cut(std::mt19937_64& random) {
    for (const auto& change : changes_)
        if (coin(random)) apply(change, true);
    changes_.clear();
    come_back(root_, [&](SimNode& node) {
        for (const auto& change : node.changes) apply_torn(node.durable_bytes, change, random);
    });
}

void SimDisk::settle() { power_cut({.names = true, .bytes = true}); }

}  // namespace forebay::test
