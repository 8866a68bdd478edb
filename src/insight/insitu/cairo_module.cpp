// The module that draws with Cairo: title, axes and colour bar numbers around a plane, as darkness of ink.
// insitu/words_cairo.cpp loads it and calls forebay_draw_words().

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "insight/insitu/picture_words.hpp"

namespace {

using namespace forebay::insitu;

struct AxisMark {
    double at = 0;
    std::string label;
};

std::string number_text(const char* form, int digits, double value) {
    char text[64];
    std::snprintf(text, sizeof text, form, digits, value);
    return text;
}

/// Marks at multiples of 1, 2 or 5 times a power of ten, at most `most` steps from end to end. No marks if the ends are
/// not in order or not finite, or too close to print different numbers.
std::vector<AxisMark> linear_marks(double low, double high, int most) {
    const double greatest = std::max(std::abs(low), std::abs(high));
    if (!(low < high) || !std::isfinite(high - low) || high - low < greatest * 1e-12) return {};
    const double wanted = (high - low) / most;
    const double power = std::pow(10, std::floor(std::log10(wanted)));
    double step = 10 * power;
    for (const double times : {5.0, 2.0, 1.0})
        if (times * power >= wanted * (1 - 1e-9)) step = times * power;
    const int step_digit = static_cast<int>(std::floor(std::log10(step) + 1e-9));
    const int first_digit = static_cast<int>(std::floor(std::log10(greatest) + 1e-9));
    const bool is_plain = first_digit < 6 && step_digit > -6;
    std::vector<AxisMark> marks;
    for (double index = std::ceil(low / step - 1e-9); index * step <= high + step * 1e-9; ++index) {
        const double at = index * step + 0.0;  // never -0
        marks.push_back({at, is_plain ? number_text("%.*f", std::max(0, -step_digit), at)
                                      : number_text("%.*g", first_digit - step_digit + 1, at)});
    }
    return marks;
}

/// Marks at powers of ten. Fewer than two: linear marks.
std::vector<AxisMark> log_marks(double low, double high, int most) {
    const double first = std::ceil(std::log10(low) - 1e-9), last = std::floor(std::log10(high) + 1e-9);
    if (last - first < 1) return linear_marks(low, high, most);
    const double stride = std::max(1.0, std::ceil((last - first) / most));
    std::vector<AxisMark> marks;
    for (double power = first; power <= last; power += stride)
        marks.push_back({std::pow(10, power), number_text("%.*g", 1, std::pow(10, power))});
    return marks;
}

/// Cairo on a picture. Without a picture it only measures texts.
class Pen {
public:
    Pen(PictureInk& ink, double font_size)
        : surface_(ink.width > 0 ? cairo_image_surface_create_for_data(ink.darkness.data(), CAIRO_FORMAT_A8, ink.width,
                                                                       ink.height, ink.width)
                                 : cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1),
                   cairo_surface_destroy),
          cairo_(cairo_create(surface_.get()), cairo_destroy) {
        cairo_select_font_face(cairo_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(cairo_.get(), font_size);
    }

    int length_of(const std::string& text) const {
        cairo_text_extents_t extents;
        cairo_text_extents(cairo_.get(), text.c_str(), &extents);
        return static_cast<int>(std::ceil(std::max(extents.x_advance, extents.x_bearing + extents.width)));
    }
    /// The width of the widest label.
    int length_of(const std::vector<AxisMark>& marks) const {
        int length = 0;
        for (const auto& mark : marks) length = std::max(length, length_of(mark.label));
        return length;
    }
    /// Returns the text, cut to `length` with "..." at the end if it is too long.
    std::string fitted(const std::string& text, int length) const {
        if (length_of(text) <= length) return text;
        auto begin = text;
        while (!begin.empty() && length_of(begin + "...") > length) {
            while (begin.size() > 1 && (begin.back() & 0xC0) == 0x80) begin.pop_back();  // drop a whole UTF-8 character
            begin.pop_back();
        }
        return begin.empty() ? begin : begin + "...";
    }
    /// `x`, `baseline`: the left end of the line below the letters.
    void text(int x, int baseline, const std::string& words) { show(x, baseline, 0, words); }
    /// The same, turned to read upwards.
    void text_upwards(int baseline, int y, const std::string& words) { show(baseline, y, -M_PI / 2, words); }
    void fill(int x, int y, int width, int height) {
        cairo_rectangle(cairo_.get(), x, y, width, height);
        cairo_fill(cairo_.get());
    }
    /// "" on success.
    std::string failure() const {
        cairo_surface_flush(surface_.get());
        const auto status = cairo_status(cairo_.get());
        return status == CAIRO_STATUS_SUCCESS ? std::string() : cairo_status_to_string(status);
    }

private:
    void show(int x, int y, double angle, const std::string& words) {
        cairo_save(cairo_.get());
        cairo_move_to(cairo_.get(), x, y);
        cairo_rotate(cairo_.get(), angle);
        cairo_show_text(cairo_.get(), words.c_str());
        cairo_restore(cairo_.get());
    }
    std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_;
    std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo_;
};

/// The places of all elements in pixels, and the words cut to fit.
class WordsLayout {
public:
    WordsLayout(const PictureWords& words, PictureInk& ink) : words_(words), ink_(ink) {
        const int longer = std::max(words.plane_width, words.plane_height);
        const int scale = longer >= 3000 ? 4 : longer >= 700 ? 2 : 1;
        font_ = 11 * scale;
        tick_ = 3 * scale;
        gap_ = 4 * scale;
        ink.stroke = (scale + 1) / 2;
        const Pen pen(ink, font_);
        measure(pen);
    }

    void draw() {
        Pen pen(ink_, font_);
        const int bottom = ink_.top + words_.plane_height, plane_middle = ink_.top + words_.plane_height / 2;
        pen.text(ink_.left, gap_ + font_, pen.fitted(words_.title, ink_.width - ink_.left - gap_));
        for (const auto& mark : x_marks_) {
            const int x = ink_.left + place(mark.at, words_.x_low, words_.x_high, words_.plane_width);
            pen.fill(x - ink_.stroke / 2, bottom, ink_.stroke, tick_ + ink_.stroke);
            pen.text(x - pen.length_of(mark.label) / 2, bottom + numbers() + font_, mark.label);
        }
        for (const auto& mark : y_marks_) {
            const int y = bottom - 1 - place(mark.at, words_.y_low, words_.y_high, words_.plane_height);
            pen.fill(ink_.left - tick_ - ink_.stroke, y - ink_.stroke / 2, tick_ + ink_.stroke, ink_.stroke);
            pen.text(ink_.left - numbers() - pen.length_of(mark.label), y + font_ * 3 / 8, mark.label);
        }
        const auto x_label = pen.fitted(words_.x_label, ink_.width - 2 * gap_);
        pen.text(centred(ink_.left + words_.plane_width / 2, pen.length_of(x_label), ink_.width),
                 bottom + numbers() + 2 * font_ + gap_, x_label);
        upwards(pen, gap_ + font_, plane_middle, words_.y_label);
        draw_bar(pen);
        ink_.failure = pen.failure();
    }

private:
    int numbers() const { return tick_ + gap_ / 2; }  // from a frame to the numbers beside it
    int room_for(const std::string& words) const { return words.empty() ? 0 : font_ + 2 * gap_; }
    static int place(double value, double low, double high, int pixels) {
        return static_cast<int>(std::lround((value - low) / (high - low) * (pixels - 1)));
    }
    /// The start of a text with its middle at `middle`, moved to stay in the picture.
    int centred(int middle, int length, int end) const {
        return std::max(gap_, std::min(middle - length / 2, end - gap_ - length));
    }
    void upwards(Pen& pen, int baseline, int middle, const std::string& words) {
        const auto fitting = pen.fitted(words, ink_.height - 2 * gap_);
        const int length = pen.length_of(fitting);
        pen.text_upwards(baseline, centred(middle, length, ink_.height) + length, fitting);
    }

    void measure(const Pen& pen) {
        const int line = font_ + gap_;
        for (int most = 10; most > 0; --most) {  // fewer numbers until they do not touch
            x_marks_ = linear_marks(words_.x_low, words_.x_high, most);
            if (static_cast<int>(x_marks_.size()) * (pen.length_of(x_marks_) + font_) <= words_.plane_width) break;
        }
        y_marks_ = linear_marks(words_.y_low, words_.y_high, std::clamp(words_.plane_height / (3 * line), 1, 10));
        ink_.bar_height = std::max(words_.plane_height, 9 * line);
        ink_.bar_width = std::max(2 * line, words_.plane_width / 32);
        const int most = std::clamp(ink_.bar_height / (3 * line), 2, 10);
        if (words_.low < words_.high)
            bar_marks_ =
                words_.log ? log_marks(words_.low, words_.high, most) : linear_marks(words_.low, words_.high, most);
        bar_numbers_ = pen.length_of(bar_marks_);
        const int half_number = pen.length_of(x_marks_) / 2;  // may stick out at both ends of the x axis
        ink_.left = gap_ + std::max(room_for(words_.y_label) + pen.length_of(y_marks_) + numbers(), half_number);
        ink_.bar_top = 2 * gap_ + room_for(words_.title);
        ink_.top = ink_.bar_top + (ink_.bar_height - words_.plane_height) / 2;
        ink_.bar_left = ink_.left + words_.plane_width + std::max(2 * line, half_number);
        ink_.width = ink_.bar_left + ink_.bar_width + numbers() + bar_numbers_ + 2 * gap_ + room_for(words_.label);
        ink_.height = ink_.bar_top + ink_.bar_height + numbers() + line + room_for(words_.x_label) + gap_;
        // A long title widens the picture by a fifth at most, or up to 28 letters' heights.
        const int title_end = ink_.left + pen.length_of(words_.title) + 2 * gap_;
        ink_.width = std::max(ink_.width, std::min(title_end, std::max(ink_.width * 6 / 5, 28 * font_)));
        ink_.width = (ink_.width + 3) / 4 * 4;  // Cairo's rows have a multiple of 4 bytes
        ink_.darkness.resize(static_cast<std::size_t>(ink_.width) * static_cast<std::size_t>(ink_.height));
    }

    void draw_bar(Pen& pen) {
        const int right = ink_.bar_left + ink_.bar_width;
        const auto scaled = [&](double value) { return words_.log ? std::log(value) : value; };
        for (const auto& mark : bar_marks_) {
            const int y = ink_.bar_top + ink_.bar_height - 1 -
                          place(scaled(mark.at), scaled(words_.low), scaled(words_.high), ink_.bar_height);
            pen.fill(right, y - ink_.stroke / 2, tick_ + ink_.stroke, ink_.stroke);
            pen.text(right + numbers() + ink_.stroke, y + font_ * 3 / 8, mark.label);
        }
        upwards(pen, right + numbers() + bar_numbers_ + 2 * gap_ + font_, ink_.bar_top + ink_.bar_height / 2,
                words_.label);
    }

    const PictureWords& words_;
    PictureInk& ink_;
    int font_ = 0, tick_ = 0, gap_ = 0, bar_numbers_ = 0;
    std::vector<AxisMark> x_marks_, y_marks_, bar_marks_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void forebay_draw_words(const PictureWords& words, PictureInk& ink) {
    WordsLayout layout(words, ink);
    layout.draw();
}
