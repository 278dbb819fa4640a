// The best of the first items in descending order of g/h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "librulesearch/ranges/node.hpp"

namespace rulesearch::ranges {

/// Independent parts of boxes: gaining rows with the costing ones that were set off against them.
struct Item {
    double gradient, hessian, ratio;
    std::uint32_t row;  // number of the gaining row

    Item(double item_gradient, double item_hessian, std::uint32_t item_row)
        : gradient(item_gradient),
          hessian(item_hessian),
          ratio(item_hessian > 0.0 ? item_gradient / item_hessian
                                   : std::numeric_limits<double>::infinity()),
          row(item_row) {}

    /// Descending order of g/h.
    bool operator<(const Item& other) const {
        return ratio != other.ratio ? ratio > other.ratio : row < other.row;
    }
};

/// At each slope the best items are those of large g/h. So the largest value, over slopes between
/// two, is that of some number of the first items.
struct Peak {
    double bound = 0.0;
    double slope = 0.0;       // where it is reached
    std::size_t n_items = 0;  // by how many of the first items
};

class PrefixPeak {
  public:
    PrefixPeak(const Statistics& base, double l2_regularization, double low_slope,
               double high_slope)
        : gradient_(base.gradient),
          denominator_(l2_regularization + base.hessian),
          low_slope_(low_slope),
          high_slope_(high_slope) {
        look();
    }

    void add(const Item& item) {
        gradient_ += item.gradient;
        denominator_ += item.hessian;
        ++n_items_;
        look();
    }

    const Peak& peak() const { return peak_; }

  private:
    void look() {
        if (gradient_ <= 0.0 || gradient_ * gradient_ <= peak_.bound * denominator_) return;
        const double slope = std::clamp(gradient_ / denominator_, low_slope_, high_slope_);
        const double value = worth(gradient_, denominator_, slope);
        if (value > peak_.bound) peak_ = {value, slope, n_items_};
    }

    double gradient_, denominator_, low_slope_, high_slope_;
    std::size_t n_items_ = 0;
    Peak peak_;
};

}  // namespace rulesearch::ranges
