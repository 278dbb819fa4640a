#include "librulesearch/kernels/kernels.hpp"

#include <stdexcept>
#include <utility>

namespace rulesearch {

namespace scalar {
Kernels kernels();
}
#ifdef RULESEARCH_HAS_AVX
namespace avx2 {
Kernels kernels();
}
namespace avx512 {
Kernels kernels();
}
#endif

namespace {

using Entry = std::pair<std::string, Kernels>;

std::vector<Entry> available_kernels() {
    std::vector<Entry> entries{{"scalar", scalar::kernels()}};
#ifdef RULESEARCH_HAS_AVX
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (has_avx2) entries.emplace_back("avx2", avx2::kernels());
    if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        entries.emplace_back("avx512", avx512::kernels());
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
