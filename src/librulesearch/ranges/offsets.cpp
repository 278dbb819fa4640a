#include "librulesearch/ranges/offsets.hpp"

namespace rulesearch::ranges {

/// Rows that imply few bad ones are the first to pay, since they have no choice.
void Payments::sort_payers() {
    starts_.assign(rows_.n_bad() + 2, 0);
    for (std::size_t i = 0; i < rows_.n_good(); ++i) ++starts_[rows_.n_implied(i) + 1];
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    payers_.resize(rows_.n_good());
    for (std::uint32_t i = 0; i < rows_.n_good(); ++i) payers_[starts_[rows_.n_implied(i)]++] = i;
}

void Payments::make(double main_slope, double low_slope) {
    sort_payers();
    const std::size_t n_good = rows_.n_good(), n_bad = rows_.n_bad();
    balance_.gradients.resize(n_good);
    balance_.hessians.resize(n_good);
    for (std::size_t i = 0; i < n_good; ++i) {
        balance_.gradients[i] = rows_.statistics(i).gradient;
        balance_.hessians[i] = rows_.statistics(i).hessian;
    }
    balance_.left_gradients.resize(n_bad);
    balance_.left_hessians.resize(n_bad);
    for (std::size_t j = 0; j < n_bad; ++j) {
        balance_.left_gradients[j] = rows_.statistics(n_good + j).gradient;
        balance_.left_hessians[j] = rows_.statistics(n_good + j).hessian;
    }
    balance_.open = rows_.bad_rows();
    shares_.clear();
    first_of_good_.assign(n_good, none);
    first_of_bad_.assign(n_bad, none);
    if (main_slope > low_slope) pay(main_slope);
    pay(low_slope);
}

void Payments::pay(double slope) {
    const double half = 0.5 * slope;
    for (const std::uint32_t good : payers_) {
        if (rows_.n_implied(good) == 0 || balance_.price(good, half) <= 0.0) continue;
        const Word* implied = rows_.implied(good);
        for (std::size_t w = 0; w < rows_.stride(); ++w) {
            if ((implied[w] & balance_.open[w]) == 0) continue;
            const auto record = [&](std::size_t bad, double gradient, double hessian) {
                const auto number = static_cast<std::uint32_t>(shares_.size());
                shares_.push_back({good, static_cast<std::uint32_t>(bad), gradient, hessian,
                                   first_of_good_[good], first_of_bad_[bad]});
                first_of_good_[good] = first_of_bad_[bad] = number;
            };
            balance_.pay(good, w, implied[w], half, record);
        }
    }
}

}  // namespace rulesearch::ranges
