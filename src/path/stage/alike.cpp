#include "path/stage/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/comm/alike.hpp"
#include "path/stage/show_value.hpp"

namespace forebay::stage {

namespace {

bool must_be_equal(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                   std::size_t v) {
    return schema.variables[v].kind == Kind::replicated && binding.data[v] != nullptr && !binding.is_first_ranks(v) &&
           (v >= direct.size() || direct[v] == 0);
}

std::span<const std::byte> value_of(const Schema& schema, const describe::Binding& binding, std::size_t v) {
    const auto& variable = schema.variables[v];
    return {static_cast<const std::byte*>(binding.data[v]), variable.elements() * variable.type.size_bytes};
}

std::string show(const Call& call, std::string_view stream) {
    if (call.step == Call::preparing) return fmt::format("prepare() of stream '{}'", stream);
    return fmt::format("step {}, time {} of stream '{}'", call.step, call.time, stream);
}

// Step and time, then the stream's name.
std::vector<std::byte> bytes_of_call(const Call& call) {
    std::vector<std::byte> bytes(16);
    store_le(bytes.data(), call.step);
    store_le(bytes.data() + 8, call.time);
    const auto name = bytes_of(call.stream);
    bytes.insert(bytes.end(), name.begin(), name.end());
    return bytes;
}

// The first variable that differs. The number of variables if only ranks differ that write it themselves.
Result<std::size_t> find_variable(comm::Group& world, const Schema& schema, const describe::Binding& binding,
                                  std::span<const char> direct) {
    const auto count = schema.variables.size();
    std::vector<std::int64_t> numbers;
    FB_TRY(comm::agree(world, [&] { numbers.resize(3 * count); }));
    for (std::size_t v = 0; v < count; ++v) {
        const bool compared = must_be_equal(schema, binding, direct, v);
        const std::int64_t sum = compared ? crc32c(value_of(schema, binding, v)) : 0;
        numbers[3 * v] = sum;
        numbers[3 * v + 1] = ~sum;
        numbers[3 * v + 2] = compared ? 0 : 1;
    }
    world.max(numbers);
    std::size_t v = 0;
    while (v < count && (numbers[3 * v + 2] != 0 || comm::is_alike(numbers[3 * v], numbers[3 * v + 1]))) ++v;
    return v;
}

// "0.5 on rank 0, 0.25 on rank 2", for the first element that differs.
std::string show_difference(const Variable& variable, const comm::Unlike& unlike) {
    const auto at =
        static_cast<std::size_t>(std::ranges::mismatch(unlike.of_first, unlike.of_other).in1 - unlike.of_first.begin());
    const auto element = variable.type.size_bytes;
    const auto first = std::span(unlike.of_first).subspan(at / element * element, element);
    const auto other = std::span(unlike.of_other).subspan(at / element * element, element);
    const auto [first_text, other_text] = show_values(variable.type, first, other);
    std::string where;
    if (variable.shape.dims() > 0) where = fmt::format("element {} (from 0, in C order) is ", at / element);
    return fmt::format("{}{} on rank 0, {} on rank {}", where, first_text, other_text, unlike.other);
}

}  // namespace

void put_call(const Call& call, std::span<std::int64_t, call_numbers> to) {
    const std::int64_t numbers[] = {call.step, std::bit_cast<std::int64_t>(call.time), crc32c(bytes_of(call.stream))};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
        to[2 * i] = numbers[i];
        to[2 * i + 1] = ~numbers[i];
    }
}

bool is_alike(std::span<const std::int64_t, call_numbers> largest) {
    for (std::size_t i = 0; i < call_numbers; i += 2)
        if (!comm::is_alike(largest[i], largest[i + 1])) return false;
    return true;
}

Error refuse_calls(comm::Group& world, const Call& call) {
    const auto difference = comm::find_unlike(world, bytes_of_call(call));
    if (!difference) return difference.error();
    const auto& unlike = *difference;
    const auto text_of_call = [&](std::span<const std::byte> bytes) {
        return show({.stream = call.stream,
                     .step = load_le<std::int64_t>(bytes.data()),
                     .time = load_le<double>(bytes.data() + 8)},
                    text_of(bytes.subspan(16)));
    };
    if (!unlike) return {ErrorKind::broken, "the ranks' calls seem to be equal and different", "committed snapshots"};
    return {ErrorKind::refused,
            fmt::format("the ranks make different calls: {} on rank 0, {} on rank {} ({} of {} ranks differ from rank "
                        "0). Nothing was staged",
                        text_of_call(unlike->of_first), text_of_call(unlike->of_other), unlike->other, unlike->others,
                        world.size()),
            "snapshots of earlier saves", "make the same call, with the same step and time, on every rank"};
}

std::uint32_t sum_values(const Schema& schema, const describe::Binding& binding, std::span<const char> direct) {
    std::uint32_t sum = 0;
    for (std::size_t v = 0; v < schema.variables.size(); ++v)
        if (must_be_equal(schema, binding, direct, v)) sum = crc32c(value_of(schema, binding, v), sum);
    return sum;
}

Result<> check_values(comm::Group& world, const Schema& schema, const describe::Binding& binding,
                      std::span<const char> direct) {
    FB_TRY_ASSIGN(v, find_variable(world, schema, binding, direct));
    if (v == schema.variables.size()) return {};
    const auto& variable = schema.variables[v];
    FB_TRY_ASSIGN(unlike, comm::find_unlike(world, value_of(schema, binding, v)));
    if (!unlike) return {};
    return Error{
        ErrorKind::refused,
        fmt::format("stream '{}': replicated variable '{}' differs between ranks: {} ({} of {} ranks differ from rank "
                    "0). The step was not staged",
                    schema.stream, variable.name, show_difference(variable, *unlike), unlike->others, world.size()),
        "snapshots of earlier saves",
        "give it the same value on all ranks. To save only the value of rank 0, use first_rank. For a different value "
        "on each rank, use a table with one row a rank"};
}

}  // namespace forebay::stage
