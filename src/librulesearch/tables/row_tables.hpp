// Tables of sums over some axes, of rows that are added to as few of them as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/tables/local_problem.hpp"
#include "librulesearch/tables/packing.hpp"

namespace rulesearch::tables {

/// Rows are added to *wide* tables, over more axes than are asked for, as long as these have far
/// fewer cells than there are rows. Whatever is asked for about some of their axes are sums over
/// the cells of a wide table: a table over four axes of eight bins stands for four tables over
/// three of them. Sums are exact, so that they are the same as those of the rows themselves.
class RowTables {
  public:
    explicit RowTables(const Kernels& kernels) : kernels_(kernels) {}

    /// The sums in the cells of a table over some axes, ascending, the last one fastest; one of
    /// them may be there twice. They are there until the next call.
    const std::vector<std::int64_t>& sums(const LocalProblem& local, const Packing& packing,
                                          const std::vector<std::size_t>& axes);

  private:
    struct Table {
        std::vector<std::size_t> axes;
        std::vector<std::int64_t> sums;
    };

    const Table* find(const std::vector<std::size_t>& axes) const;
    std::vector<std::size_t> widened(const LocalProblem& local, std::vector<std::size_t> axes,
                                     std::size_t stride) const;
    std::size_t n_new_subsets(std::vector<std::size_t> chosen, const std::vector<std::size_t>& axes,
                              std::size_t first, std::size_t size) const;
    const Table& add_rows(const LocalProblem& local, const Packing& packing,
                          std::vector<std::size_t> axes);
    void add_up(const LocalProblem& local, const Table& table, const std::vector<std::size_t>& axes,
                std::size_t stride);

    const Kernels& kernels_;
    const Packing* packing_ = nullptr;
    std::uint64_t version_ = 0;  // of its rows
    std::deque<Table> tables_;
    std::size_t n_bytes_ = 0;
    std::vector<std::int64_t> sums_;
    std::vector<std::uint32_t> cells_;
};

}  // namespace rulesearch::tables
