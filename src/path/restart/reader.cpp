// Three walks over the node files that the ranks of a node need: rows_of() for the numbers of rows, map_staged() to map
// and fault in copies in memory, read() for the bytes. FileByFile is the walk. One rank reads a file's head and sends
// it to the other ranks. All ranks visit the file at the same time and in the same order. Heads that fit are kept for
// the next walk.
//
// All ranks of a node take part in each file, even if they need nothing of it, because the window and the sharing of
// checks are collective.

#include "path/restart/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "path/restart/scatter.hpp"

namespace forebay::restart {

namespace {

class FileByFile {
public:
    FileByFile(const ReaderContext& context, const Choice& choice)
        : context_(context), choice_(choice), node_(*context.topology->node) {}

    // Calls visit(node, path, head) on all ranks of the node for each file that any of them needs. Reads each head
    // once.
    using Visit = std::function<Result<>(std::size_t, const std::string&, const Kept::Head&)>;
    Result<> each(const std::vector<char>& own_needs, const Visit& visit) {
        std::vector<std::int64_t> needed;
        FB_TRY(comm::agree(node_, [&] { needed.assign(own_needs.begin(), own_needs.end()); }));
        node_.max(needed);
        int reader = 0;
        for (std::size_t i = 0; i < needed.size(); ++i) {
            if (needed[i] == 0) continue;
            const auto& line = choice_.manifest.nodes[i];
            std::string path;
            FB_TRY(comm::agree(node_, [&] { path = choice_.copies.of(line).name_of(line); }));
            auto& kept = *context_.kept;
            if (const auto at = kept.heads.find(i); at != kept.heads.end()) {
                FB_TRY(visit(i, path, at->second));
                continue;
            }
            std::uint64_t bytes = 0;
            // The ranks take turns, so that no rank reads all heads.
            FB_TRY_ASSIGN(head, head_of(line, path, reader++ % node_.size(), bytes));
            FB_TRY(visit(i, path, head));
            if (kept.heads_bytes + bytes > limits::kept_heads_bytes) continue;
            // All ranks of a node must keep the same heads: they read the other heads together.
            const auto keeps = comm::agree(node_, [&] { kept.heads.emplace(i, std::move(head)); });
            if (keeps) kept.heads_bytes += bytes;
            else kept.heads.erase(i);
        }
        return {};
    }

private:
    Result<Kept::Head> head_of(const format::NodeLine& line, const std::string& path, int reader,
                               std::uint64_t& size_bytes) {
        std::vector<std::byte> bytes;
        FB_TRY(comm::agree(node_, [&]() -> Result<> {
            if (node_.rank() != reader) return {};
            FB_TRY_ASSIGN(opened, choice_.copies.of(line).open(line));
            FB_TRY_ASSIGN(head, opened.head_bytes());
            bytes = std::move(head);
            return {};
        }));
        FB_TRY(node_.broadcast_sized(bytes, reader));
        size_bytes = bytes.size();
        Kept::Head head;
        FB_TRY(comm::agree(node_, [&]() -> Result<> {
            FB_TRY_ASSIGN(file, format::open_head(bytes, path));
            if (file.record_crc32c != choice_.copies.of(line).record_crc32c(line))
                return Error{ErrorKind::corrupt, fmt::format("{} is not the committed file.", path)};
            head.segments = format::segments_by_offset(file);
            head.file = std::move(file);
            return {};
        }));
        return head;
    }

    const ReaderContext& context_;
    const Choice& choice_;
    comm::Group& node_;
};

// One call faults in neighbouring segments.
Result<> prefault_needed(sys::Mapping& mapping, const std::vector<format::Segment>& segments,
                         const std::vector<char>& needed) {
    for (std::size_t i = 0; i < segments.size();) {
        std::size_t last = i;
        while (needed[i] != 0 && last + 1 < segments.size() && needed[last + 1] != 0) ++last;
        const auto end = segments[last].offset + segments[last].bytes;
        if (needed[i] != 0 && end <= mapping.bytes().size())
            FB_TRY(mapping.prefault(segments[i].offset, end - segments[i].offset));
        i = last + 1;
    }
    return {};
}

}  // namespace

Result<std::vector<std::uint64_t>> rows_of(const ReaderContext& context, const Choice& choice, const Plan& plan,
                                           const describe::Binding& binding) {
    std::vector<std::uint64_t> rows;
    std::vector<char> own_needs;
    const auto rank = static_cast<std::uint32_t>(context.topology->world->rank());
    FB_TRY(comm::agree(*context.topology->world, [&] {
        rows.assign(binding.tables.size(), 0);
        for (std::uint32_t t = 0; t < rows.size(); ++t) rows[t] = plan.own_rows() ? 0 : plan.share(t).count;
        own_needs.assign(choice.manifest.nodes.size(), 0);
        for (std::size_t i = 0; i < own_needs.size(); ++i)
            for (const auto& range : choice.manifest.nodes[i].ranks)
                own_needs[i] |= rank >= range.first && rank - range.first < range.count ? 1 : 0;
    }));
    if (!plan.own_rows() || rows.empty()) return rows;
    const auto looked = FileByFile(context, choice)
                            .each(own_needs, [&](std::size_t, const std::string&, const Kept::Head& head) -> Result<> {
                                for (const auto& block : head.file.blocks) {
                                    const auto& variable = head.file.schema.variables[block.variable];
                                    if (variable.kind != Kind::particles || block.rank != rank) continue;
                                    for (std::uint32_t t = 0; t < rows.size(); ++t)
                                        if (plan.table_of(t) == variable.table) rows[t] = block.box.size[0];
                                }
                                return {};
                            });
    FB_TRY(comm::agree(*context.topology->world, looked));
    return rows;
}

Result<> map_staged(const ReaderContext& context, Choice& choice, const Plan& plan, const describe::Binding& binding) {
    std::vector<char> needed;
    FB_TRY(comm::agree(*context.topology->world, [&] { needed = plan.files_needed(binding); }));
    const auto mapped =
        FileByFile(context, choice)
            .each(needed, [&](std::size_t index, const std::string&, const Kept::Head& head) -> Result<> {
                const auto& line = choice.manifest.nodes[index];
                auto& copies = choice.copies.of(line);
                if (!copies.is_mapped()) return {};
                const auto map = [&]() -> Result<> {
                    FB_TRY_ASSIGN(mapping, copies.map(line));
                    std::uint64_t bytes = 0;
                    const Scatter scatter(head.file, head.segments, plan.takes(binding, head.file, bytes));
                    return prefault_needed(*mapping, head.segments, scatter.needed());
                };
                return comm::agree(*context.topology->node, map);
            });
    return comm::agree(*context.topology->world, mapped);
}

Result<bool> read(const ReaderContext& context, Choice& choice, const Plan& plan, const describe::Binding& binding) {
    auto& node = *context.topology->node;
    std::uint64_t taken = 0;
    auto& window = context.kept->window;
    FileByFile files(context, choice);
    std::vector<char> needed;
    FB_TRY(comm::agree(*context.topology->world, [&] { needed = plan.files_needed(binding); }));
    auto done = files.each(needed, [&](std::size_t index, const std::string& path, const Kept::Head& head) -> Result<> {
        std::optional<Scatter> scatter;
        std::vector<std::int64_t> claims;
        FB_TRY(comm::agree(node, [&] {
            scatter.emplace(head.file, head.segments, plan.takes(binding, head.file, taken));
            claims = scatter->claims(node.rank());
        }));
        const auto& line = choice.manifest.nodes[index];
        auto& copies = choice.copies.of(line);
        if (copies.is_mapped()) {
            node.max(claims);
            return comm::agree(node, [&]() -> Result<> {
                scatter->settle(claims, node.rank());
                // If the variable was described after the choice, its copy may not be mapped yet.
                FB_TRY_ASSIGN(mapping, copies.map(line));
                return scatter->take(0, head.segments.size(), std::as_const(*mapping).bytes(), 0, path, *context.crew);
            });
        }
        if (!window) {
            FB_TRY_ASSIGN(opened, Window::open(node, *context.store, context.window_path, context.window_bytes));
            window.emplace(std::move(opened));
        }
        std::unique_ptr<sys::File> source;
        std::optional<catalog::PlainBytes> bytes;
        FB_TRY(comm::agree(node, [&]() -> Result<> {
            FB_TRY_ASSIGN(opened, copies.open_direct(line));
            source = std::move(opened);
            bytes.emplace(*source, head.file, path);
            return {};
        }));
        return window->read(*bytes, path, head.segments, *scatter, claims, *context.crew);
    });
    // The ranks of a node agree on an error of the window. After an error the window cannot be used.
    if (!done) window.reset();
    auto& world = *context.topology->world;
    const auto wanted = plan.wanted_bytes(binding);
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY(done);
        if (taken != wanted && plan.complete(binding))
            return Error{ErrorKind::corrupt,
                         fmt::format("the block tables of step {} hold {} of the {} bytes for this rank.",
                                     choice.manifest.step, taken, wanted)};
        return {};
    }));
    return world.max(taken != wanted ? 1 : 0) == 0;
}

}  // namespace forebay::restart
