"""Somebody who sits at 80x24 from an empty folder on: reads every screen, notices each error, remembers all that was seen.

    with Person.sits_down(sluice) as me:          # no option: the set-up lies in the folder that one is in
        me.reads("You will need", "an admin login")
        me.fill("Name", "shop")
        me.notices_nothing_red()

An error marker on a check that `may_fail` does not name fails the test, if only for a moment. When a test fails, the last
screens are printed."""

import os
import re
from pathlib import Path
from typing import Self

from tests.e2e.cli import Sluice
from tests.e2e.program import MACHINE
from tests.e2e.term import MARKS, Wizard

STEPS = ("Start", "OAuth", "PostgreSQL", "EMR", "Buckets", "IAM", "Capture", "Iceberg", "Review")
LAST = 6                                       # screens that are printed when a test fails
RED = re.compile(r"^ *✗ (.*?)(?:  |$)", re.M)   # a check that failed, by its title
STEP = re.compile(r"✗(\d\w?|[A-Z]\w+)")         # a step of the line above


class Person(Wizard):
    """Keeps every screen that was seen, in order, and the errors on them."""

    screens: list[str]
    red: set[str]

    @classmethod
    def sits_down(cls, sluice: Sluice, *words: object) -> Self:
        gone = {name: None for name in os.environ if MACHINE.fullmatch(name)}
        return cls([sluice.program, *words], env={**gone, **sluice.env}, cwd=sluice.folder)

    def __init__(self, *given, **more):
        self.screens, self.red = [], set()
        super().__init__(*given, **more)

    def pump(self, seconds: float) -> None:
        before = len(self.output)
        super().pump(seconds)
        if len(self.output) != before:
            self._see(self.picture())

    def _see(self, picture: str) -> None:
        if not self.screens or self.screens[-1] != picture:
            self.screens.append(picture)
            self.red |= {title.strip() for title in RED.findall(picture)}

    def __exit__(self, kind, *more) -> None:
        if kind is not None:
            self.show()
        super().__exit__(kind, *more)

    def show(self) -> None:
        """The last screens, for whoever reads the report of a failed test."""
        for picture in self.screens[-LAST:]:
            print(f"{'-' * 80}\n{picture}")
        print(f"{'-' * 80}\n{len(self.screens)} screens in all; red were: {sorted(self.red) or 'none'}")

    # ---- reading ----

    def words(self) -> str:
        """The screen as one line of words, wherever they were wrapped."""
        return re.sub(r"\s+", " ", self.picture())

    def reads(self, *texts: str) -> None:
        """Waits for each of them."""
        for text in texts:
            self.wait_for(lambda w, text=text: text in w.words())

    def is_settled(self) -> None:
        """Nothing runs any more in the step on the screen, as its heading says."""
        self.settle()
        self.wait_for(lambda w: " running" not in w.picture())

    def notices_nothing_red(self) -> None:
        found = RED.findall(self.picture()) + STEP.findall(self.line(1))
        assert not found, f"{found}\n{self.picture()}"

    # ---- doing ----

    def goes_to(self, step: str) -> None:
        """The shortest way, as the line of steps shows it: n forwards, Esc back."""
        self.settle()
        while there := STEPS.index(step) - re.findall(f"[{MARKS}]", self.line(1)).index("●"):
            if there > 0 and "Tab form" not in self.footer():
                self.press("Tab")
                self.wait_for(lambda w: "Tab form" in w.footer())
            before = self.line(1)
            self.press("n" if there > 0 else "Esc")
            self.wait_for(lambda w, before=before: w.line(1) != before or "Tab checks" in w.footer())
            self.settle()
        self.wait_step(step)

    def allows(self, title: str) -> str:
        """Space on a probe that waits for consent; until it is green."""
        self.to_check(title)
        assert "Space allows it" in self.current(), self.picture()
        self.press("Space")
        return self.wait_check(title, "✓")


def all_seen(people: list[Person]) -> str:
    """Every screen of all of them, line by line, and each once more as if its lines were one."""
    lines = {line for person in people for picture in person.screens for line in picture.splitlines()}
    joined = {"".join(picture.splitlines()) for person in people for picture in person.screens}
    return "\n".join([*sorted(lines), *sorted(joined)])


def folder_of(sluice: Sluice) -> Path:
    """Where a set-up lies that nobody gave a place."""
    sluice.state, sluice.secrets = sluice.folder / "sluice.yaml", sluice.folder / "sluice.secrets"
    return sluice.folder
