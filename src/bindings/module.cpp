// The Python face of librulesearch: dtypes, shapes and the GIL, no algorithm.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "librulesearch/beam/beam.hpp"
#include "librulesearch/optimal.hpp"
#include "librulesearch/problem/exact_sums.hpp"
#include "librulesearch/slopes/binned_sums.hpp"
#include "librulesearch/tables/search.hpp"

using namespace nb::literals;
using namespace rulesearch;

namespace {

/// A NumPy boolean is a byte that need not be 0 or 1, unlike a bool.
const std::uint8_t* truth_bytes(const bool* truths) {
    return reinterpret_cast<const std::uint8_t*>(truths);
}

Extents make_extents(const BoolMatrix& extents) {
    ExtentsBuilder builder(extents.shape(1));
    for (std::size_t p = 0; p < extents.shape(0); ++p) {
        builder.add(truth_bytes(extents.data()) + p * extents.shape(1));
    }
    return builder.build();
}

/// Lets Python in now and then: pending signals such as Ctrl-C, and the caller's `should_stop`.
/// An exception raised there ends the search and is kept for `rethrow`.
class PythonInterrupt {
  public:
    explicit PythonInterrupt(std::optional<nb::callable> should_stop)
        : should_stop_(std::move(should_stop)) {}

    bool operator()(const Progress& progress) {
        const WithGil gil;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!should_stop_) return false;
            return nb::cast<bool>((*should_stop_)(progress.value, progress.bound, progress.n_nodes,
                                                  progress.n_open, progress.is_depth_first));
        } catch (...) {
            if (interpreter_exit::leaves_this_thread()) interpreter_exit::wait_for_end();
            failure_ = std::current_exception();
            return true;
        }
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    std::optional<nb::callable> should_stop_;
    std::exception_ptr failure_;
};

Limits make_limits(std::optional<std::size_t> max_conditions, double min_coverage,
                   double approximation_factor, std::optional<std::uint64_t> node_limit,
                   std::optional<double> time_limit, PythonInterrupt& interrupt,
                   std::optional<std::uint64_t> table_limit = std::nullopt) {
    Limits limits;
    limits.max_conditions = max_conditions.value_or(limits.max_conditions);
    limits.min_coverage = min_coverage;
    limits.approximation_factor = approximation_factor;
    limits.node_limit = node_limit.value_or(limits.node_limit);
    limits.table_limit = table_limit.value_or(limits.table_limit);
    limits.time_limit = time_limit.value_or(limits.time_limit);
    limits.should_stop = [&interrupt](const Progress& progress) { return interrupt(progress); };
    return limits;
}

/// Runs a search without the GIL.
template <typename Search>
Result run(PythonInterrupt& interrupt, Search&& search) {
    Result result;
    {
        const NoGil no_gil;
        result = search();
    }
    interrupt.rethrow();
    return result;
}

Branching branching_from_name(const std::string& name) {
    if (name == "conditions") return Branching::conditions;
    if (name == "ranges") return Branching::ranges;
    if (name == "tables") return Branching::tables;
    if (name == "paper") return Branching::paper;
    throw nb::value_error(
        ("branching must be 'conditions', 'tables', 'ranges' or 'paper'. Got '" + name + "'.")
            .c_str());
}

const char* status_name(Status status) {
    constexpr const char* names[] = {"optimal",    "approximate", "heuristic", "node_limit",
                                     "time_limit", "interrupted", "cutoff"};
    return names[static_cast<std::size_t>(status)];
}

Piece make_piece(std::vector<std::size_t> start, const std::optional<std::vector<nb::bytes>>& parts,
                 std::size_t n_parts, std::optional<double> seconds) {
    Piece piece;
    piece.start = std::move(start);
    piece.n_parts = n_parts;
    piece.seconds = seconds.value_or(piece.seconds);
    if (parts) {
        piece.parts.emplace();
        for (const nb::bytes& part : *parts) piece.parts->emplace_back(part.c_str(), part.size());
    }
    return piece;
}

std::vector<std::tuple<double, std::uint64_t, nb::bytes>> open_parts(const Result& result) {
    std::vector<std::tuple<double, std::uint64_t, nb::bytes>> parts;
    for (const OpenPart& part : result.open)
        parts.emplace_back(part.bound, part.n_nodes,
                           nb::bytes(part.bytes.data(), part.bytes.size()));
    return parts;
}

using ByteVector = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SpacedVector = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
/// Bins, numbers, the rows that are stored, and the lowest and the highest number.
using GivenFeature = std::tuple<ByteVector, SpacedVector, std::optional<IntVector>, double, double>;

BinnedFeature make_feature(const GivenFeature& given, std::size_t n_rows, std::size_t n_bins) {
    const auto& [bins, numbers, rows, low, high] = given;
    require_length(numbers, "numbers", bins.shape(0));
    require_length(bins, "bins", rows ? rows->shape(0) : n_rows);
    const std::uint8_t* const end = bins.data() + bins.shape(0);
    if (std::any_of(bins.data(), end, [&](std::uint8_t bin) { return bin >= n_bins; }))
        throw nb::value_error("bins must be below n_bins.");
    const auto is_outside = [&](std::int32_t row) {
        return row < 0 || static_cast<std::size_t>(row) >= n_rows;
    };
    if (rows && std::any_of(rows->data(), rows->data() + rows->shape(0), is_outside))
        throw nb::value_error("rows must be positions of rows.");
    return {bins.data(),
            numbers.data(),
            numbers.stride(0),
            bins.shape(0),
            rows ? rows->data() : nullptr,
            low,
            high};
}

nb::dict counters_dict(const Counters& counters) {
    nb::dict names;
    names["nodes"] = counters.n_nodes;
    names["depth_first"] = counters.n_depth_first;
    names["leaves"] = counters.n_leaves;
    names["tables"] = counters.n_tables;
    names["table_rows"] = counters.n_table_rows;
    names["table_sets"] = counters.n_table_sets;
    names["evaluations"] = counters.n_evaluations;
    names["dropped_conditions"] = counters.n_dropped;
    names["bound_immediate"] = counters.bound_immediate;
    names["bound_propagated"] = counters.bound_propagated;
    names["equivalence_immediate"] = counters.equivalence_immediate;
    names["equivalence_propagated"] = counters.equivalence_propagated;
    return names;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Compiled rule search. Arguments are validated by laconic.search.";
    m.attr("version") = LACONIC_VERSION;
    m.def("instruction_sets", &instruction_sets,
          "Instruction sets that this processor has, the best one last.");

#ifdef NDEBUG
    // Instances refer to no Python objects, so they are in no cycles that have to be found. Those
    // that are left at exit belong to frames that Python does not clear: those of daemon threads.
    nb::set_leak_warnings(false);
#endif
    nb::module_::import_("atexit").attr("register")(
        nb::cpp_function(&interpreter_exit::begin_exit));

    nb::class_<Extents>(m, "Extents", nb::is_weak_referenceable(),
                        "Extents of conditions over the distinct rows of a table.")
        .def(
            "__init__",
            [](Extents* self, const BoolMatrix& extents) {
                const NoGil no_gil;
                new (self) Extents(make_extents(extents));
            },
            "extents"_a.noconvert())
        .def_prop_ro("n_candidates", &Extents::n_candidates)
        .def_prop_ro("n_rows", &Extents::n_rows)
        .def_prop_ro("n_distinct_rows", &Extents::n_distinct_rows)
        .def(
            "covered",
            [](const Extents& self, const std::vector<std::size_t>& query) {
                return make_array<bool>(self.n_rows(),
                                        [&](bool* rows) { self.covered(query, rows); });
            },
            "query"_a, "Which rows satisfy all of the given conditions.")
        .def_prop_ro("n_columns", &Extents::n_columns,
                     "Conditions that are neither constant nor equal to an earlier one.")
        .def(
            "table_work",
            [](const Extents& self, std::size_t max_conditions) {
                const NoGil no_gil;
                return tables::work(self, max_conditions);
            },
            "max_conditions"_a,
            "What a search in tables costs: rows added to them, and sets looked at.")
        .def_prop_ro("n_chains", &Extents::n_chains,
                     "Chains of nested extents that the columns are sorted into.");

    nb::class_<ExtentsBuilder>(m, "ExtentsBuilder",
                               "Takes extents one by one and keeps a bit per row.")
        .def(nb::init<std::size_t>(), "n_rows"_a)
        .def(
            "add",
            [](ExtentsBuilder& self, const BoolVector& covered) {
                require_length(covered, "covered", self.n_rows());
                const NoGil no_gil;
                self.add(truth_bytes(covered.data()));
            },
            "covered"_a.noconvert(), "Add the next condition, given the rows it covers.")
        .def("build", &ExtentsBuilder::build, nb::call_guard<NoGil>(),
             "Hand over what was added; the builder is empty afterwards.");

    m.def(
        "exactly_summable",
        [](const DoubleVector& values, const std::optional<DoubleVector>& weights) {
            if (weights) require_length(*weights, "weights", values.shape(0));
            double total = 0.0;
            auto rounded = make_array<double>(values.shape(0), [&](double* data) {
                total = exactly_summable(values.data(), weights ? weights->data() : nullptr,
                                         values.shape(0), data);
            });
            return std::pair(std::move(rounded), total);
        },
        "values"_a.noconvert(), "weights"_a.noconvert().none(),
        "Products of values and weights, rounded so that every partial sum is exact, and their "
        "total magnitude before that. If the total is not finite, the products are undefined.");

    m.def(
        "sum_covered",
        [](const BoolVector& covered, const DoubleVector& values) {
            require_length(values, "values", covered.shape(0));
            const NoGil no_gil;
            return sum_covered(truth_bytes(covered.data()), values.data(), values.shape(0));
        },
        "covered"_a.noconvert(), "values"_a.noconvert(), "Sum of the values of covered rows.");

    m.def(
        "sum_bins",
        [](const std::vector<GivenFeature>& features, const std::vector<DoubleVector>& columns,
           std::size_t n_rows, std::size_t n_powers, std::size_t n_bins, std::size_t n_workers) {
            std::vector<BinnedFeature> binned;
            for (const GivenFeature& each : features)
                binned.push_back(make_feature(each, n_rows, n_bins));
            std::vector<const double*> data;
            for (const DoubleVector& column : columns) {
                require_length(column, "columns", n_rows);
                data.push_back(column.data());
            }
            const std::size_t size = features.size() * n_powers * n_bins * columns.size();
            return make_array<double>(size, [&](double* sums) {
                std::fill_n(sums, size, 0.0);
                sum_bins(binned, data, n_rows, n_powers, n_bins, n_workers, sums);
            });
        },
        "features"_a, "columns"_a, "n_rows"_a, "n_powers"_a, "n_bins"_a, "n_workers"_a = 1,
        "Sums of columns times powers of the levels of each feature, over its bins: an array of "
        "shape (n_features, n_powers, n_bins, n_columns), flat.");

    bind_problem(m);

    nb::class_<Result>(m, "Result", "Outcome of a search; values lack the factor 1/(2n).")
        .def_ro("query", &Result::query)
        .def_ro("value", &Result::value)
        .def_ro("bound", &Result::bound)
        .def_prop_ro("status", [](const Result& result) { return status_name(result.status); })
        .def_ro("closed_bound", &Result::closed_bound, "No query that was given up is worth more.")
        .def_prop_ro(
            "open", [](const Result& result) { return open_parts(result); },
            "What is left, if parts were asked for: bounds, numbers of nodes, and bytes.")
        .def_ro("kept", &Result::kept, "All queries that a beam search has kept, or the best ones.")
        .def_prop_ro("counters",
                     [](const Result& result) { return counters_dict(result.counters); });

    m.def(
        "optimal",
        [](const Problem& problem, std::optional<std::size_t> max_conditions, double min_coverage,
           double approximation_factor, std::optional<std::uint64_t> node_limit,
           std::optional<double> time_limit, std::optional<nb::callable> should_stop,
           const std::string& branching, std::optional<std::size_t> beam_width,
           const std::vector<std::size_t>& start, std::size_t n_workers, std::size_t memory_limit,
           const std::optional<std::string>& instruction_set, bool leaves,
           std::optional<std::uint64_t> table_limit,
           const std::optional<std::vector<nb::bytes>>& parts, std::size_t n_parts,
           std::optional<double> seconds, std::optional<double> cutoff, bool stops_above_cutoff,
           std::size_t n_best) {
            PythonInterrupt interrupt(std::move(should_stop));
            Limits limits = make_limits(max_conditions, min_coverage, approximation_factor,
                                        node_limit, time_limit, interrupt, table_limit);
            limits.cutoff = cutoff.value_or(limits.cutoff);
            limits.stops_above_cutoff = stops_above_cutoff;
            limits.n_best = n_best;
            const OptimalOptions options{
                branching_from_name(branching),
                beam_width,
                make_piece(problem.extents.columns_of(start), parts, n_parts, seconds),
                {n_workers, memory_limit},
                instruction_set,
                leaves};
            return run(interrupt, [&] { return optimal(problem, limits, options); });
        },
        "problem"_a, nb::kw_only(), "max_conditions"_a.none(), "min_coverage"_a,
        "approximation_factor"_a, "node_limit"_a.none(), "time_limit"_a.none(),
        "should_stop"_a.none(), "branching"_a, "beam_width"_a.none(), "start"_a, "n_workers"_a,
        "memory_limit"_a, "instruction_set"_a.none(), "leaves"_a = true,
        "table_limit"_a.none() = nb::none(), "parts"_a.none() = nb::none(), "n_parts"_a = 0,
        "seconds"_a.none() = nb::none(), "cutoff"_a.none() = nb::none(),
        "stops_above_cutoff"_a = false, "n_best"_a = 1,
        "Best query of all within the limits, with a certificate; or of some parts of them.");

    m.def(
        "beam",
        [](const Problem& problem, std::optional<std::size_t> max_conditions, double min_coverage,
           std::optional<double> time_limit, std::optional<nb::callable> should_stop,
           std::size_t width, const std::vector<std::vector<std::size_t>>& starts) {
            PythonInterrupt interrupt(std::move(should_stop));
            const Limits limits =
                make_limits(max_conditions, min_coverage, 1.0, std::nullopt, time_limit, interrupt);
            return run(interrupt, [&] { return beam(problem, limits, width, starts); });
        },
        "problem"_a, nb::kw_only(), "max_conditions"_a.none(), "min_coverage"_a,
        "time_limit"_a.none(), "should_stop"_a.none(), "width"_a, "starts"_a,
        "Beam search; with width 1, greedy search.");
}
