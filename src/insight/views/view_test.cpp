// Goal: a plain view is made whole or not at all, from the manifest's node files, and leaves HDF5 and the directory
// unchanged. tests/views checks what readers see.

#include <doctest/doctest.h>
#include <hdf5.h>

#include <filesystem>

#include "insight/h5/hdf5.hpp"
#include "insight/views/limits.hpp"
#include "insight/views/view.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/views.hpp"
#include "support/passing_store.hpp"
#include "support/view_sample.hpp"

using namespace forebay;

namespace {

class Scratch {
public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "forebay-view-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    std::string run() const { return (path_ / "run").string(); }
    std::vector<std::string> names(const std::string& directory) const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_ / directory))
            names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    std::filesystem::path path_;
};

/// Slabs: each node has `ranks` ranks, and each rank one layer of "rho" and two rows of "p".
test::ViewSample slabs(std::uint32_t nodes, std::uint32_t ranks) {
    Schema schema{.stream = "fields", .tables = {"p"}, .variables = {}};
    schema.variables = {test::array_of("rho", f32, {nodes * ranks, 3}), test::column_of("p/x", f64, 0),
                        test::value_of("a", f64)};
    test::ViewSample sample{schema, std::vector<std::uint32_t>(nodes, ranks), {}, {}};
    for (std::uint64_t rank = 0; rank < nodes * ranks; ++rank) {
        sample.boxes.push_back({{{{rank, 0}, {1, 3}}}, {}, {}});
        sample.rows.push_back({2});
    }
    return sample;
}

std::string text_of_file(const std::string& path) { return sys::read_text(sys::posix_store(), path, 1u << 30).value(); }

void flip_byte(const std::string& path, std::uint64_t at) {
    auto file = std::fopen(path.c_str(), "r+b");
    REQUIRE(file != nullptr);
    std::fseek(file, static_cast<long>(at), SEEK_SET);
    const int byte = std::fgetc(file);
    std::fseek(file, static_cast<long>(at), SEEK_SET);
    std::fputc(byte ^ 0x40, file);
    REQUIRE(std::fclose(file) == 0);
}

}  // namespace

TEST_CASE("the view stands beside its snapshot and nothing else does") {
    const Scratch scratch;
    auto& store = sys::posix_store();
    const auto snapshot = test::write_sample(store, scratch.run(), slabs(3, 4)).value();
    const auto view = views::make_view(store, {&snapshot, 1}, {}).value();
    CHECK(view.path == scratch.run() + "/fields/step-000120.h5");
    CHECK(view.sources == 3);
    CHECK(view.mappings == 6);  // one a node for the slabs of its ranks, and one for its rows
    CHECK(scratch.names("run/fields") == std::vector<std::string>{"step-000120", "step-000120.h5"});
}

TEST_CASE("the same snapshot gives the same bytes, and a second view replaces the first") {
    const Scratch scratch;
    auto& store = sys::posix_store();
    const auto snapshot =
        test::write_sample(store, scratch.run(), test::spread(test::view_schema(), {3, 1, 4})).value();
    const auto first = text_of_file(views::make_view(store, {&snapshot, 1}, {}).value().path);
    CHECK(text_of_file(views::make_view(store, {&snapshot, 1}, {}).value().path) == first);
    // Both were made within one second, the resolution of HDF5's times: the files must contain no times.
    const h5::Id file(H5Fopen((scratch.run() + "/fields/step-000120.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    for (const auto* name : {"/", "/fields", "/fields/f32", "/fields/y", "/scalars/text"}) {
        H5O_info_t info{};
        REQUIRE(H5Oget_info_by_name(file.get(), name, &info, H5P_DEFAULT) >= 0);
        CHECK(info.ctime == 0);
    }
}

TEST_CASE("a source that is not the manifest's refuses the view and leaves the old one") {
    const Scratch scratch;
    auto& store = sys::posix_store();
    const auto snapshot = test::write_sample(store, scratch.run(), slabs(3, 2)).value();
    const auto path = views::make_view(store, {&snapshot, 1}, {}).value().path;
    const auto before = text_of_file(path);
    const auto source = snapshot.directory + "/" + format::node_path(1, 3);
    auto expected = ErrorKind::corrupt;
    std::string file = "node-00001.h5";
    SUBCASE("missing") {
        std::filesystem::remove(source);
        expected = ErrorKind::missing;
    }
    SUBCASE("cut short") { std::filesystem::resize_file(source, std::filesystem::file_size(source) - 4096); }
    SUBCASE("damaged head") { flip_byte(source, 9000); }
    SUBCASE("another save's") {
        std::filesystem::copy_file(snapshot.directory + "/" + format::node_path(2, 3), source,
                                   std::filesystem::copy_options::overwrite_existing);
        file = "is node 2 of step 120";
    }
    const auto view = views::make_view(store, {&snapshot, 1}, {});
    REQUIRE_FALSE(view);
    CHECK(view.error().kind == expected);
    CHECK(view.error().text().find(file) != std::string::npos);
    CHECK(view.error().text().find("Next: forebay verify " + scratch.run() + "/fields@120") != std::string::npos);
    CHECK(text_of_file(path) == before);
    CHECK(scratch.names("run/fields").size() == 2);
}

TEST_CASE("a replicated value that fails its checksum is not copied") {
    const Scratch scratch;
    auto& store = sys::posix_store();
    const auto snapshot = test::write_sample(store, scratch.run(), slabs(2, 2)).value();
    const auto source = snapshot.directory + "/" + format::node_path(0, 2);
    const auto head = catalog::load_head(store, source).value();
    flip_byte(source, head.blocks[head.first_block[2]].offset_bytes + 7);
    const auto view = views::make_view(store, {&snapshot, 1}, {});
    REQUIRE_FALSE(view);
    CHECK(view.error().kind == ErrorKind::corrupt);
    CHECK(view.error().text().find("'a'") != std::string::npos);
}

TEST_CASE("more node files than a reader can hold open are unsupported") {
    const Scratch scratch;
    auto& store = sys::posix_store();
    const auto snapshot = test::write_sample(store, scratch.run(), slabs(outline::views_sources_max + 1, 1)).value();
    const auto view = views::make_view(store, {&snapshot, 1}, {});
    REQUIRE_FALSE(view);
    CHECK(view.error().kind == ErrorKind::unsupported);
    CHECK(view.error().text().find("901 files, but a view may have 900") != std::string::npos);
    CHECK(scratch.names("run/fields") == std::vector<std::string>{"step-000120"});
}

TEST_CASE("a snapshot that retention removes at any operation leaves no view behind it") {
    bool more = true;
    for (int at = 0; more; ++at) {
        CAPTURE(at);
        const Scratch scratch;
        const auto snapshot = test::write_sample(sys::posix_store(), scratch.run(), slabs(2, 1)).value();
        test::InterruptedStore store(sys::posix_store(), at, [&] {
            const auto stream = scratch.run() + "/fields";
            REQUIRE(catalog::remove_views(sys::posix_store(), stream, snapshot.step, catalog::ViewsOf::step));
            REQUIRE(catalog::discard(sys::posix_store(), snapshot.directory, snapshot.step, 1));
        });
        const auto view = views::make_view(store, {&snapshot, 1}, {});
        more = store.operations() > at;
        if (!more) continue;
        CHECK(scratch.names("run/fields").empty());
        REQUIRE_FALSE(view);
        CHECK(view.error().kind == ErrorKind::missing);
        CHECK(view.error().what.find("was removed meanwhile") != std::string::npos);
    }
}

TEST_CASE("HDF5 is left as it was: no open handles, the caller's own error printing") {
    const Scratch scratch;
    auto& store = sys::posix_store();
    const auto snapshot = test::write_sample(store, scratch.run(), test::spread(test::view_schema(), {2, 2})).value();
    int mark = 0;
    const auto print = [](hid_t, void*) -> herr_t { return 0; };
    REQUIRE(H5Eset_auto2(H5E_DEFAULT, print, &mark) >= 0);
    REQUIRE(views::make_view(store, {&snapshot, 1}, {}));
    CHECK(H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL) == 0);
    H5E_auto2_t handler = nullptr;
    void* data = nullptr;
    REQUIRE(H5Eget_auto2(H5E_DEFAULT, &handler, &data) >= 0);
    CHECK(bool(handler == static_cast<H5E_auto2_t>(print)));
    CHECK(data == &mark);
}
