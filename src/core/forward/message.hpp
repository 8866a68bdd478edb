// The messages between client and forwarder, as bytes.
//
// Each message is a header of 32 bytes and a body of fields, each with a CRC32C. Numbers are little-endian. A client
// sends one request at a time on a connection and waits for its answer. The forwarder sends beats while it works. The
// bytes of a write follow after `go`, the bytes of a read after its answer, without a header: an earlier message has
// their number and CRC32C.
//
//   client                          forwarder
//   hello(nonce, client, run, word) ->
//                              <-   go(nonce, proof of the forwarder)
//   proof(proof of the client) ->
//                              <-   answer: done, or why not
//   any request                ->
//                              <-   beat, beat, ..., answer
//   write(file, offset, bytes, crc) ->
//                              <-   beat, ..., go
//   bytes                      ->
//                              <-   beat, ..., answer

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/siphash.hpp"
#include "core/sys/store.hpp"
#include "forebay/result.hpp"

namespace forebay::forward {

enum class FrameKind : std::uint16_t {
    hello = 1,
    proof,
    open,
    write,
    read,
    size,
    truncate,
    sync,
    close,
    make_directories,
    rename,
    remove,
    remove_tree,
    sync_directory,
    list,
    exists,
    view,
    make_directory,
    leave_zeros,
    id,
    answer = 100,
    beat,
    go,
};
inline constexpr FrameKind last_request = FrameKind::id;

inline constexpr std::size_t header_bytes = 32;
using HeaderBytes = std::array<std::byte, header_bytes>;

struct FrameHeader {
    FrameKind kind = FrameKind::beat;
    std::uint32_t body_bytes = 0;
    std::uint32_t body_crc = 0;
};

/// Each kind uses some of the fields.
struct Request {
    std::uint64_t file = 0;    // hello: the client's number
    std::uint64_t offset = 0;  // hello: its nonce; truncate: the size; view: the step
    std::uint64_t number = 0;  // write, read, leave_zeros: bytes; hello, proof: the word; view: the convention
    std::uint32_t crc = 0;     // write
    sys::Access access = sys::Access::read;
    std::string path;   // hello: the run; proof: the client's name, for people
    std::string other;  // rename: the new path; view: the stream
    bool operator==(const Request&) const = default;
};

struct Answer {
    std::optional<Error> error;
    std::uint64_t number = 0;  // open: the file; size; read: bytes; go to a hello: the nonce; exists: 0 or 1; id
    std::uint64_t word = 0;    // go to a hello: the proof; open: 1 for past the page cache; id: the device
    std::uint32_t crc = 0;     // read; id: 1 if there is one
    std::vector<sys::Entry> entries;
};

HeaderBytes encode(const FrameHeader& header);
/// `unsupported` for another version. `corrupt` if it is not a header, or the body is too long for its kind.
Result<FrameHeader> decode_header(std::span<const std::byte> bytes);

std::vector<std::byte> encode(const Request& request);
Result<Request> decode_request(std::span<const std::byte> body);
std::vector<std::byte> encode(const Answer& answer);
Result<Answer> decode_answer(std::span<const std::byte> body);

/// Decodes a token of 32 hexadecimal digits. `refused` for another text.
Result<SipKey> key_of(const std::string& token);
std::string new_token();

/// The input of the keyed hashes that prove the token. The hash of the hello covers only the client's own nonce, so it
/// comes with the first bytes. It only tells clients from strangers: anyone who saw it can repeat it, so it admits
/// nobody.
struct Greeting {
    std::uint64_t client_nonce = 0, forwarder_nonce = 0, client = 0;
    std::string run;
};
std::uint64_t word_of_hello(const SipKey& key, const Greeting& greeting);
std::uint64_t word_of_forwarder(const SipKey& key, const Greeting& greeting);
std::uint64_t word_of_client(const SipKey& key, const Greeting& greeting);

/// `refused` for a path that is not the run or below it, that is relative, or that has "." or ".." parts.
Result<> check_path(const std::string& run, const std::string& path);

}  // namespace forebay::forward
