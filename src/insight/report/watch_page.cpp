#include "insight/report/watch_page.hpp"

#include <string_view>

#include "insight/report/assets.hpp"

namespace forebay::report {

std::string watch_page() {
    std::string page(asset("watch.html"));
    const auto put = [&](std::string_view mark, std::initializer_list<std::string_view> texts) {
        std::string whole;
        for (const auto text : texts) (whole += text) += '\n';
        page.replace(page.find(mark), mark.size(), whole);
    };
    put("/* styles */", {uplot_css(), asset("report.css"), asset("watch.css")});
    put("/* uplot licence */",
        {uplot_license().empty() ? "" : "/*!", uplot_license(), uplot_license().empty() ? "" : "*/"});
    put("/* uplot */", {uplot_js()});
    put("/* script */", {asset("watch.js"), asset("watch_fields.js")});
    return page;
}

}  // namespace forebay::report
