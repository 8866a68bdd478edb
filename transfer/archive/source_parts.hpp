// What all that makes an archive of a source shares.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/copy/data_flow.hpp"
#include "transfer/copy/failures.hpp"
#include "transfer/copy/stored_layouts.hpp"
#include "transfer/tables/hard_links.hpp"

namespace forebay::archive {

struct SourceParts {
    SourceParts(const tree::TreeCopyOptions& given_options, tree::Remarks& given_remarks,
                tree::CopyCounts& given_counts)
        : options(given_options), remarks(given_remarks), counts(given_counts) {}

    const tree::TreeCopyOptions& options;
    tree::Remarks& remarks;
    tree::CopyCounts& counts;
    tree::WorkShare share{options.threads};
    tree::OpenFolders folders;
    tree::HardLinks links{options.tables};
    tree::StoredLayouts stored{options.recalls};
    tree::Failures failures{share, folders, remarks};
    tree::DataFlow flow{options, counts, share};
};

}  // namespace forebay::archive
