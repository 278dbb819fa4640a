"""How large models are: rules and conditions, with a leaf of a tree as a rule.

A leaf holds where all conditions on its path hold; of several that bound the same feature from the
same side only the tightest counts. One leaf of every tree may also be written as a constant, from
which the others differ: what that spares, where the longest leaf is taken, is counted apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Path = frozenset[tuple[int, bool]]  # (feature, whether bounded from above)


@dataclass(frozen=True)
class Size:
    """Size of a model.

    Attributes
    ----------
    n_terms, n_conditions : int
    n_spared : int
        Rules and conditions that constants in place of leaves would spare.
    """

    n_terms: int
    n_conditions: int
    n_spared: int = 0


def paths_of(children: Sequence[tuple[int, int]], features: Sequence[int]) -> Iterator[Path]:
    """Conditions of every leaf of a tree.

    Parameters
    ----------
    children : sequence of (left, right)
        Positions of the children of every node, the root first; -1 for a leaf. To the left,
        the feature is at most the threshold.
    features : sequence of int
        Of every node; not looked at for leaves.
    """
    open_nodes: list[tuple[int, Path]] = [(0, frozenset())]
    while open_nodes:
        node, path = open_nodes.pop()
        left, right = children[node]
        if left < 0:
            yield path
        else:
            open_nodes += [
                (right, path | {(int(features[node]), False)}),
                (left, path | {(int(features[node]), True)}),
            ]


def size_of_trees(trees: Iterable[Iterable[Path]]) -> Size:
    """Size of a sum of trees, each given by the conditions of its leaves.

    Examples
    --------
    >>> stump = [frozenset({(0, True)}), frozenset({(0, False)})]
    >>> size_of_trees([stump])
    Size(n_terms=2, n_conditions=2, n_spared=2)
    """
    n_terms = n_conditions = n_spared = 0
    for tree in trees:
        lengths = [len(path) for path in tree]
        n_terms += len(lengths)
        n_conditions += sum(lengths)
        n_spared += 1 + max(lengths)
    return Size(n_terms, n_conditions, n_spared)


def sklearn_paths(tree: Any) -> Iterator[Path]:
    """Conditions of every leaf of a fitted tree of scikit-learn."""
    nodes = tree.tree_
    children = list(zip(nodes.children_left.tolist(), nodes.children_right.tolist(), strict=True))
    return paths_of(children, nodes.feature.tolist())


def linked_paths(root: Any) -> Iterator[Path]:
    """Conditions of every leaf of a tree of nodes with `left`, `right` and `feature`."""
    nodes, children = [root], []
    for node in nodes:  # grows on the way
        if node.left is None:
            children.append((-1, -1))
        else:
            children.append((len(nodes), len(nodes) + 1))
            nodes += [node.left, node.right]
    return paths_of(children, [node.feature if node.left is not None else -1 for node in nodes])
