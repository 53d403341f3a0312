"""A figure: ours beside a peer's, medians of alternating runs, as a ratio with a goal; the table and the JSON of them."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Runs = list[float]


@dataclass
class Figure:
    """One line of the table. runs: what the medians are of; detail: more numbers, for the JSON; note: what bounds it."""

    name: str
    unit: str
    ours: float
    peer: float
    goal: float | None = None   # the ratio ours/peer that is wanted, at most
    note: str = ""
    runs: dict[str, Runs] = field(default_factory=dict)
    detail: dict = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    @property
    def verdict(self) -> str:
        return "" if self.goal is None else "met" if self.ratio <= self.goal else "missed"

    def told(self) -> dict:
        return {"name": self.name, "unit": self.unit, "ours": rounded(self.ours), "peer": rounded(self.peer),
                "ratio": rounded(self.ratio), "goal": self.goal, "met": None if self.goal is None else self.verdict == "met",
                "note": self.note, "runs": {who: [rounded(each) for each in runs] for who, runs in self.runs.items()},
                "detail": self.detail}


def of_runs(name: str, unit: str, ours: Runs, peer: Runs, goal: float | None = None, note: str = "", **detail) -> Figure:
    """The medians of both sides."""
    return Figure(name, unit, statistics.median(ours), statistics.median(peer), goal, note, {"ours": ours, "peer": peer}, detail)


def rounded(value: float) -> float:
    """Four digits that count: more was not measured."""
    return float(f"{value:.4g}")


def percentile(values: Iterable[float], part: float) -> float:
    """The smallest value that is not below this part (0.99) of them."""
    ordered = sorted(values)
    return ordered[max(0, -int(-part * len(ordered) // 1) - 1)]


def alternate(count: int, *sides: Callable[[], float]) -> list[Runs]:
    """A B A B …: what each side gave, in order. What disturbs the machine for a while disturbs all of them."""
    found: list[Runs] = [[] for _ in sides]
    for _ in range(count):
        for side, runs in zip(sides, found):
            runs.append(side())
    return found


def ratio(value: float) -> str:
    return f"1/{1 / value:.3g}" if 0 < value < 0.7 else f"{value:.3g}"


def amount(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def table(figures: list[Figure]) -> str:
    rows = [("what", "ours", "peer", "ratio", "goal", "", "")]
    for each in figures:
        rows.append((each.name, amount(each.ours, each.unit), amount(each.peer, each.unit), ratio(each.ratio),
                     "" if each.goal is None else f"<= {ratio(each.goal)}", each.verdict, each.note))
    widths = [max(len(row[at]) for row in rows) for at in range(6)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [row[at].rjust(widths[at]) for at in (1, 2, 3)]
        lines.append("  ".join([*cells, row[4].ljust(widths[4]), row[5].ljust(widths[5]), row[6]]).rstrip())
    return "\n".join(lines)
