// The rows of a node with the candidates that contain them as bits of a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/bits.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// Statistics and keys, a list each; see RowsView for the layout of keys.
class KeyedRows {
  public:
    /// Sets: room for that many rows, none of which is there yet. Former contents are lost.
    /// Coverages are kept only if they are asked for.
    void reset(std::size_t capacity, std::size_t n_planes, bool has_coverages) {
        size_ = 0;
        n_planes_ = n_planes;
        has_coverages_ = has_coverages;
        plane_size_ = capacity + padding;
        if (gradients_.size() < plane_size_) {
            gradients_.resize(plane_size_);
            hessians_.resize(plane_size_);
        }
        if (has_coverages && coverages_.size() < plane_size_) coverages_.resize(plane_size_);
        if (keys_.size() < plane_size_ * n_planes) keys_.resize(plane_size_ * n_planes);
    }

    std::size_t size() const { return size_; }
    std::size_t n_planes() const { return n_planes_; }
    std::size_t n_bytes() const {
        return (gradients_.capacity() + hessians_.capacity() + coverages_.capacity()) *
                   sizeof(double) +
               keys_.capacity() * sizeof(Word);
    }
    void resize(std::size_t size) { size_ = size; }

    double gradient(std::size_t i) const { return gradients_[i]; }
    double hessian(std::size_t i) const { return hessians_[i]; }
    double coverage(std::size_t i) const { return coverages_[i]; }
    Statistics sums(std::size_t i) const {
        return {gradients_[i], hessians_[i], has_coverages_ ? coverages_[i] : 0.0};
    }
    Word* plane(std::size_t p) { return keys_.data() + p * plane_size_; }
    const Word* plane(std::size_t p) const { return keys_.data() + p * plane_size_; }

    /// Appends a row; its key is to be set.
    void push(const Statistics& sums) {
        set(size_, sums);
        ++size_;
    }
    void set(std::size_t i, const Statistics& sums) {
        gradients_[i] = sums.gradient;
        hessians_[i] = sums.hessian;
        if (has_coverages_) coverages_[i] = sums.coverage;
    }
    void add(std::size_t i, const Statistics& sums) {
        gradients_[i] += sums.gradient;
        hessians_[i] += sums.hessian;
        if (has_coverages_) coverages_[i] += sums.coverage;
    }
    /// Sets: some rows of another list, without the planes before the first one given.
    void gather(const KeyedRows& from, const std::uint32_t* rows, std::size_t n,
                std::size_t first_plane = 0) {
        reset(n, from.n_planes_ - first_plane, from.has_coverages_);
        size_ = n;
        for (std::size_t k = 0; k < n; ++k) gradients_[k] = from.gradients_[rows[k]];
        for (std::size_t k = 0; k < n; ++k) hessians_[k] = from.hessians_[rows[k]];
        if (has_coverages_) {
            for (std::size_t k = 0; k < n; ++k) coverages_[k] = from.coverages_[rows[k]];
        }
        for (std::size_t p = 0; p < n_planes_; ++p) {
            const Word* keys = from.plane(first_plane + p);
            Word* to = plane(p);
            for (std::size_t k = 0; k < n; ++k) to[k] = keys[rows[k]];
        }
    }

    /// Columns of a plane that some row lies in, and those that all rows lie in.
    std::pair<Word, Word> in_any_and_all(std::size_t p) const {
        Word in_any = 0, in_all = ~Word{0};
        const Word* keys = plane(p);
        for (std::size_t i = 0; i < size_; ++i) {
            in_any |= keys[i];
            in_all &= keys[i];
        }
        return {in_any, in_all};
    }

    bool are_equal(std::size_t i, std::size_t j, std::size_t first_plane = 0) const {
        for (std::size_t p = first_plane; p < n_planes_; ++p) {
            if (plane(p)[i] != plane(p)[j]) return false;
        }
        return true;
    }

    /// Whether two columns have the same rows. O(rows), less if they differ.
    bool are_equal_columns(std::size_t a, std::size_t b) const {
        const Word *first = plane(a / word_bits), *second = plane(b / word_bits);
        for (std::size_t i = 0; i < size_; ++i) {
            if (((first[i] >> (a % word_bits)) ^ (second[i] >> (b % word_bits))) & 1) return false;
        }
        return true;
    }

    /// Adds rows with equal keys up; they must be next to each other.
    void merge_neighbours() {
        std::size_t n_kept = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (n_kept > 0 && are_equal(n_kept - 1, i)) {
                add(n_kept - 1, sums(i));
                continue;
            }
            if (n_kept != i) {
                set(n_kept, sums(i));
                for (std::size_t p = 0; p < n_planes_; ++p) plane(p)[n_kept] = plane(p)[i];
            }
            ++n_kept;
        }
        size_ = n_kept;
    }

    /// Sets: the rows of another list that have bit t, without the bits up to t and the planes
    /// before that of t. `selected` is a buffer.
    void take_child(const KeyedRows& from, std::size_t t, std::vector<std::uint32_t>& selected) {
        const std::size_t first = t / word_bits;
        selected.resize(from.size_);
        std::size_t n = 0;
        const Word* bits = from.plane(first);
        for (std::uint32_t i = 0; i < from.size_; ++i) {
            selected[n] = i;
            n += (bits[i] >> (t % word_bits)) & 1;
        }
        gather(from, selected.data(), n, first);
        const Word above = ~((Word{2} << (t % word_bits)) - 1);
        for (std::size_t i = 0; i < n; ++i) plane(0)[i] &= above;
    }

    /// Rows [begin, end) without the planes before the first one given.
    RowsView view(std::size_t begin, std::size_t end, std::size_t first_plane = 0) const {
        return {gradients_.data() + begin,  hessians_.data() + begin,
                plane(first_plane) + begin, plane_size_,
                n_planes_ - first_plane,    end - begin};
    }
    RowsView view() const { return view(0, size_); }
    /// The same with coverages in the place of both gradients and hessians.
    RowsView coverage_view() const {
        return {coverages_.data(), coverages_.data(), keys_.data(), plane_size_, n_planes_, size_};
    }

    /// A copy without spare room.
    KeyedRows compact() const {
        KeyedRows copy;
        copy.reset(size_, n_planes_, has_coverages_);
        copy.size_ = size_;
        std::copy_n(gradients_.begin(), size_, copy.gradients_.begin());
        std::copy_n(hessians_.begin(), size_, copy.hessians_.begin());
        if (has_coverages_) std::copy_n(coverages_.begin(), size_, copy.coverages_.begin());
        for (std::size_t p = 0; p < n_planes_; ++p) std::copy_n(plane(p), size_, copy.plane(p));
        return copy;
    }

  private:
    std::size_t size_ = 0;
    std::size_t n_planes_ = 0;
    std::size_t plane_size_ = 0;
    bool has_coverages_ = false;
    std::vector<double> gradients_, hessians_, coverages_;
    std::vector<Word> keys_;
};

}  // namespace rulesearch
