// Pieces of a search: open nodes as bytes, dealt out like cards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rulesearch {

/// Writes plain numbers one behind the other, as this kind of machine has them in memory.
class ByteWriter {
  public:
    template <typename Number>
    void number(Number value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
    template <typename Number>
    void numbers(const std::vector<Number>& values) {
        count(values.size());
        bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
    }

    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// Reads what a ByteWriter wrote. Throws std::invalid_argument where there are too few bytes.
class ByteReader {
  public:
    explicit ByteReader(const std::string& bytes) : bytes_(bytes) {}

    bool is_at_end() const { return position_ == bytes_.size(); }
    template <typename Number>
    Number number() {
        Number value;
        std::memcpy(&value, next(sizeof(Number)), sizeof(Number));
        return value;
    }
    std::size_t count() { return number<std::uint32_t>(); }
    template <typename Number>
    std::vector<Number> numbers() {
        const std::size_t size = count();
        const char* from = next(size * sizeof(Number));
        std::vector<Number> values(size);
        if (size > 0) std::memcpy(values.data(), from, size * sizeof(Number));
        return values;
    }

  private:
    const char* next(std::size_t n_bytes) {
        if (n_bytes > bytes_.size() - position_)
            throw std::invalid_argument("A part of a search ends too early.");
        position_ += n_bytes;
        return bytes_.data() + position_ - n_bytes;
    }

    const std::string& bytes_;
    std::size_t position_ = 0;
};

/// Deals nodes, best ones first, to a number of hands, so that none of them has all the good ones.
/// Nodes that share memory, those of equal `group(node)`, stay together if there are many groups.
/// No hand is empty.
template <typename Node, typename Group>
std::vector<std::vector<Node>> deal(std::vector<Node> nodes, std::size_t n_hands, Group&& group) {
    constexpr std::size_t many_groups = 8;  // by hand
    std::unordered_map<const void*, std::size_t> groups;
    for (const Node& node : nodes) groups.try_emplace(group(node), groups.size());
    const bool stay_together = groups.size() >= many_groups * n_hands;
    n_hands = std::min(n_hands, nodes.size());
    std::vector<std::vector<Node>> hands(n_hands);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::size_t card = stay_together ? groups[group(nodes[i])] : i;
        hands[card % n_hands].push_back(std::move(nodes[i]));
    }
    return hands;
}

}  // namespace rulesearch
