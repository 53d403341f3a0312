"""sluice in plain mode, spoken to in lines as a script with expect does it: what is sent is read as a stream, since
nothing there may depend on where it stands on the screen.

    with Lines([program, "--plain"], env=…) as p:
        p.answer("Name [", "shop")
        assert "2 passed" in p.until("What now?")"""

import re
import time

from tests.e2e.terminal import PATIENCE, Terminal


class Lines(Terminal):
    read = 0    # bytes of output that were looked at

    def until(self, text: str, seconds: float = PATIENCE) -> str:
        """What came up to the next occurrence of text, wherever its lines were wrapped."""
        end = time.monotonic() + seconds
        pattern = re.compile(r"\s+".join(re.escape(word) for word in text.split(" ")))
        while True:
            self.pump(0.02)
            new = self.output[self.read:].decode()
            if match := pattern.search(new):
                self.read += len(new[:match.end()].encode())
                return re.sub(r"\s+", " ", new[:match.end()])
            if time.monotonic() > end:
                raise AssertionError(f"never came {text!r}\n{new}")

    def answer(self, question: str, answer: str) -> str:
        """Waits for the question, answers it; gives what was told before."""
        told = self.until(question)
        self.until(": ")    # the end of the question
        self.send(answer + "\n")
        return told

    def told(self) -> str:
        """Everything so far, as one line of words."""
        return re.sub(r"\s+", " ", self.output.decode())

    def assert_only_text(self) -> None:
        """No escape code, no cursor movement: only text and ends of lines."""
        odd = set(self.output) & (set(range(32)) | {127}) - {10, 13}
        assert not odd, f"{odd} in {bytes(self.output)!r}"
