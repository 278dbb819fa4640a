#include "librulesearch/ranges/offsets.hpp"

namespace rulesearch::ranges {

/// Rows that imply few costing ones come first, since they have no choice.
void Offsets::sort_turns() {
    starts_.assign(rows_.n_costing() + 2, 0);
    for (std::size_t i = 0; i < rows_.n_gaining(); ++i) ++starts_[rows_.n_implied(i) + 1];
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    turns_.resize(rows_.n_gaining());
    for (std::uint32_t i = 0; i < rows_.n_gaining(); ++i) turns_[starts_[rows_.n_implied(i)]++] = i;
}

void Offsets::make(double main_slope, double low_slope) {
    sort_turns();
    const std::size_t n_gaining = rows_.n_gaining(), n_costing = rows_.n_costing();
    balance_.gradients.resize(n_gaining);
    balance_.hessians.resize(n_gaining);
    for (std::size_t i = 0; i < n_gaining; ++i) {
        balance_.gradients[i] = rows_.statistics(i).gradient;
        balance_.hessians[i] = rows_.statistics(i).hessian;
    }
    balance_.left_gradients.resize(n_costing);
    balance_.left_hessians.resize(n_costing);
    for (std::size_t j = 0; j < n_costing; ++j) {
        balance_.left_gradients[j] = rows_.statistics(n_gaining + j).gradient;
        balance_.left_hessians[j] = rows_.statistics(n_gaining + j).hessian;
    }
    balance_.open = rows_.costing_rows();
    shares_.clear();
    first_of_gaining_.assign(n_gaining, none);
    first_of_costing_.assign(n_costing, none);
    if (main_slope > low_slope) set_off(main_slope);
    set_off(low_slope);
}

void Offsets::set_off(double slope) {
    for (const std::uint32_t gaining : turns_) {
        if (rows_.n_implied(gaining) == 0 || balance_.price(gaining, slope) <= 0.0) continue;
        const Word* implied = rows_.implied(gaining);
        for (std::size_t w = 0; w < rows_.stride(); ++w) {
            if ((implied[w] & balance_.open[w]) == 0) continue;
            const auto record = [&](std::size_t costing, double gradient, double hessian) {
                const auto number = static_cast<std::uint32_t>(shares_.size());
                shares_.push_back({gaining, static_cast<std::uint32_t>(costing), gradient, hessian,
                                   first_of_gaining_[gaining], first_of_costing_[costing]});
                first_of_gaining_[gaining] = first_of_costing_[costing] = number;
            };
            balance_.set_off(gaining, w, implied[w], slope, record);
        }
    }
}

}  // namespace rulesearch::ranges
