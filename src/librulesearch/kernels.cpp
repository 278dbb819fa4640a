#include "librulesearch/kernels.hpp"

#include <stdexcept>
#include <utility>

namespace rulesearch {

#define RULESEARCH_DECLARE(name)                                                             \
    namespace name {                                                                         \
    void bound_columns(const RowsView&, std::size_t, std::size_t, const ForcedRows&, double, \
                       double, const Word*, const ColumnBounds&);                            \
    bool proves(const RowsView&, const ForcedRows&, double, double, const ProofEffort&,      \
                const ProofBuffers&);                                                        \
    void transpose_block(Word*);                                                             \
    void sum_supersets(double*, std::size_t);                                                \
    std::size_t find_above(const double*, const double*, std::size_t, double, double,        \
                           std::uint32_t*);                                                  \
    }
#define RULESEARCH_KERNELS(name)                                                       \
    Kernels {                                                                          \
        name::bound_columns, name::proves, name::transpose_block, name::sum_supersets, \
            name::find_above                                                           \
    }

RULESEARCH_DECLARE(scalar)
#ifdef RULESEARCH_HAS_AVX
RULESEARCH_DECLARE(avx2)
RULESEARCH_DECLARE(avx512)
#endif

namespace {

using Entry = std::pair<std::string, Kernels>;

std::vector<Entry> available_kernels() {
    std::vector<Entry> entries{{"scalar", RULESEARCH_KERNELS(scalar)}};
#ifdef RULESEARCH_HAS_AVX
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (has_avx2) entries.emplace_back("avx2", RULESEARCH_KERNELS(avx2));
    if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        entries.emplace_back("avx512", RULESEARCH_KERNELS(avx512));
#endif
    return entries;
}

const std::vector<Entry>& entries() {
    static const std::vector<Entry> entries = available_kernels();
    return entries;
}

}  // namespace

const std::vector<std::string>& instruction_sets() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const Entry& entry : entries()) list.push_back(entry.first);
        return list;
    }();
    return names;
}

const Kernels& kernels(const std::string& instruction_set) {
    for (const Entry& entry : entries()) {
        if (entry.first == instruction_set) return entry.second;
    }
    throw std::invalid_argument("This processor has no instruction set '" + instruction_set + "'.");
}

}  // namespace rulesearch
