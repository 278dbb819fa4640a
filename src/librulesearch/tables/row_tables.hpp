// Tables of sums over some axes, of rows that are added to as few of them as possible.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/tables/packing.hpp"

namespace rulesearch::tables {

/// Rows are added to *wide* tables, over more axes than are asked for, as long as these have far
/// fewer cells than there are rows. Whatever is asked for about some of their axes are sums over
/// the cells of a wide table: a table over four axes of eight bins stands for four tables over
/// three of them. Sums are exact, so that they are the same as those of the rows themselves, and
/// do not depend on which of several threads asks first.
class RowTables {
  public:
    RowTables(const Packing& packing, const Kernels& kernels)
        : packing_(packing), kernels_(kernels) {}

    /// Sets: the sums in the cells of a table over some axes, ascending, the last one fastest; one
    /// of them may be there twice.
    void add_up(const std::vector<std::size_t>& axes, std::vector<std::int64_t>& sums);

  private:
    struct Table {
        std::vector<std::size_t> axes;
        std::vector<std::int64_t> sums;
        bool is_done = false;
    };

    std::shared_ptr<const Table> table_with(const std::vector<std::size_t>& axes);
    std::shared_ptr<Table> find(const std::vector<std::size_t>& axes) const;
    std::vector<std::size_t> widened(std::vector<std::size_t> axes) const;
    std::size_t n_new_subsets(std::vector<std::size_t> chosen, const std::vector<std::size_t>& axes,
                              std::size_t first, std::size_t size) const;
    std::shared_ptr<Table> new_table(std::vector<std::size_t> axes);
    void add_rows(Table& table) const;
    void forget(const std::shared_ptr<Table>& table);

    const Packing& packing_;
    const Kernels& kernels_;
    std::mutex mutex_;  // of all below, but the sums of tables
    std::condition_variable table_is_done_;
    std::deque<std::shared_ptr<Table>> tables_;
    std::size_t n_bytes_ = 0;
};

}  // namespace rulesearch::tables
