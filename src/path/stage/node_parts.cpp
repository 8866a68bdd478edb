#include "path/stage/node_parts.hpp"

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"

namespace forebay::stage {

Result<> NodeParts::exchange(const comm::Topology& topology, const Schema& schema, const describe::Binding& binding) {
    auto& node = *topology.node;
    const auto variables = schema.variables.size(), tables = binding.tables.size();
    std::vector<std::byte> own_bytes;
    const auto append = [&](const auto& value) {
        const auto bytes = std::as_bytes(std::span(&value, 1));
        own_bytes.insert(own_bytes.end(), bytes.begin(), bytes.end());
    };
    FB_TRY(comm::agree(node, [&] {
        for (const auto& table : binding.tables) append(table.rows);
        for (std::size_t v = 0; v < variables; ++v) append(static_cast<std::uint64_t>(binding.pieces[v].size()));
        for (std::size_t v = 0; v < variables; ++v)
            for (const auto& piece : binding.pieces[v]) append(piece.box);
    }));
    FB_TRY_ASSIGN(strings, node.gather_all_sized(own_bytes));
    std::vector<format::RankPart> parts(strings.size());
    for (std::size_t i = 0; i < strings.size(); ++i) {
        const std::byte* at = strings[i].data();
        const auto take = [&]<class T>(T) {
            const auto value = load_le<T>(at);
            at += sizeof(T);
            return value;
        };
        parts[i].rank = topology.node_ranks[i];
        for (std::size_t t = 0; t < tables; ++t) parts[i].rows.push_back(take(std::uint64_t{}));
        parts[i].boxes.resize(variables);
        for (auto& boxes : parts[i].boxes) boxes.resize(take(std::uint64_t{}));
        for (auto& boxes : parts[i].boxes)
            for (auto& box : boxes) box = take(Box{});
    }
    // Room for gather_rows(), which must not allocate in a save.
    own_rows_.resize(tables);
    all_rows_.resize(tables * parts.size());
    rows_.resize(tables * parts.size());
    parts_ = std::move(parts);
    return {};
}

void NodeParts::gather_rows(comm::Group& node, const describe::Binding& binding) {
    const auto tables = binding.tables.size();
    const auto ranks = parts_.size();
    if (tables == 0) return;
    for (std::size_t t = 0; t < tables; ++t) own_rows_[t] = binding.tables[t].rows;
    node.gather_all(std::as_bytes(std::span(own_rows_)), std::as_writable_bytes(std::span(all_rows_)));
    for (std::size_t i = 0; i < ranks; ++i) {
        for (std::size_t t = 0; t < tables; ++t) {
            rows_[t * ranks + i] = all_rows_[i * tables + t];
            parts_[i].rows[t] = all_rows_[i * tables + t];
        }
    }
}

}  // namespace forebay::stage
