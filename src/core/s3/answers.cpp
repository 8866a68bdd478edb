#include "core/s3/answers.hpp"

#include <charconv>
#include <pugixml.hpp>

#include "core/base/try.hpp"
#include "core/s3/key.hpp"

namespace forebay::s3 {

namespace {

Error not_understood(const char* what) {
    return {ErrorKind::corrupt, std::string("the server's answer is invalid: ") + what};
}

Result<pugi::xml_node> root_of(pugi::xml_document& document, std::string_view xml, const char* name) {
    // Whitespace alone is kept: a key may consist of blanks.
    if (!document.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_ws_pcdata_single))
        return not_understood("it is not XML");
    const auto root = document.child(name);
    if (!root) return not_understood(name);
    return root;
}

Result<std::uint64_t> number_in(const pugi::xml_node& node, const char* name) {
    const std::string_view text = node.child_value(name);
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return not_understood(name);
    return number;
}

bool is_true(const pugi::xml_node& node, const char* name) {
    return std::string_view(node.child_value(name)) == "true";
}

}  // namespace

Result<KeyPage> listing_from(std::string_view xml) {
    pugi::xml_document document;
    FB_TRY_ASSIGN(root, root_of(document, xml, "ListBucketResult"));
    // Requests ask for URL encoding, because XML cannot hold all bytes of a key.
    const bool is_encoded = std::string_view(root.child_value("EncodingType")) == "url";
    const auto text_of = [&](const char* text) { return is_encoded ? url_decoded(text) : std::string(text); };
    KeyPage listing;
    for (const auto& node : root.children("Contents")) {
        FB_TRY_ASSIGN(bytes, number_in(node, "Size"));
        listing.objects.push_back({text_of(node.child_value("Key")), bytes});
        if (listing.objects.back().key.empty()) return not_understood("an object without a key");
    }
    for (const auto& node : root.children("CommonPrefixes"))
        listing.prefixes.push_back(text_of(node.child_value("Prefix")));
    listing.is_truncated = is_true(root, "IsTruncated");
    listing.next = root.child_value("NextContinuationToken");
    if (listing.is_truncated && listing.next.empty()) return not_understood("the start of the next page");
    return listing;
}

ServerError server_error_from(std::string_view xml) {
    pugi::xml_document document;
    const auto root = root_of(document, xml, "Error");
    if (!root) return {};
    return {root->child_value("Code"), root->child_value("Message"), root->child_value("Region"),
            root->child_value("Endpoint")};
}

Result<std::string> upload_id_from(std::string_view xml) {
    pugi::xml_document document;
    FB_TRY_ASSIGN(root, root_of(document, xml, "InitiateMultipartUploadResult"));
    std::string id = root.child_value("UploadId");
    if (id.empty()) return not_understood("an upload without a name");
    return id;
}

Result<UploadedParts> parts_from(std::string_view xml) {
    pugi::xml_document document;
    FB_TRY_ASSIGN(root, root_of(document, xml, "ListPartsResult"));
    UploadedParts uploaded;
    for (const auto& node : root.children("Part")) {
        FB_TRY_ASSIGN(number, number_in(node, "PartNumber"));
        FB_TRY_ASSIGN(bytes, number_in(node, "Size"));
        uploaded.parts.push_back({number, bytes, node.child_value("ETag"), node.child_value("ChecksumCRC32C")});
    }
    uploaded.is_truncated = is_true(root, "IsTruncated");
    if (!uploaded.is_truncated) return uploaded;
    FB_TRY_ASSIGN(next, number_in(root, "NextPartNumberMarker"));
    uploaded.next = next;
    return uploaded;
}

Result<UploadPage> uploads_from(std::string_view xml) {
    pugi::xml_document document;
    FB_TRY_ASSIGN(root, root_of(document, xml, "ListMultipartUploadsResult"));
    const bool is_encoded = std::string_view(root.child_value("EncodingType")) == "url";
    const auto text_of = [&](const char* text) { return is_encoded ? url_decoded(text) : std::string(text); };
    UploadPage page;
    for (const auto& node : root.children("Upload")) {
        page.uploads.push_back({text_of(node.child_value("Key")), node.child_value("UploadId")});
        if (page.uploads.back().id.empty()) return not_understood("an upload without a name");
    }
    page.is_truncated = is_true(root, "IsTruncated");
    page.next_key = text_of(root.child_value("NextKeyMarker"));
    page.next_id = root.child_value("NextUploadIdMarker");
    return page;
}

Result<Completed> completed_from(std::string_view xml) {
    if (const auto error = server_error_from(xml); !error.code.empty())
        return Error{ErrorKind::retry, error.code + ": " + error.message};
    pugi::xml_document document;
    for (const auto* name : {"CompleteMultipartUploadResult", "CopyObjectResult", "CopyPartResult"})
        if (const auto root = root_of(document, xml, name); root)
            return Completed{root->child_value("ETag"), root->child_value("ChecksumCRC32C")};
    return not_understood("the result of an upload or a copy");
}

Result<std::vector<NotRemoved>> not_removed_from(std::string_view xml) {
    pugi::xml_document document;
    FB_TRY_ASSIGN(root, root_of(document, xml, "DeleteResult"));
    std::vector<NotRemoved> stayed;
    for (const auto& node : root.children("Error"))
        stayed.push_back({node.child_value("Key"), node.child_value("Code"), node.child_value("Message")});
    return stayed;
}

}  // namespace forebay::s3
