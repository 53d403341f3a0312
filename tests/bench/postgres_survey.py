"""PostgreSQL's survey at forty milliseconds of round trip, beside psql with the same statements.

sluice sends its statements in two pipelines, psql one after the other. Both log in first, which takes the same round
trips; so there are two figures: the statements alone, by the server's own log (from "connection authorized" to the last
statement: the way there and back is in it once for each round trip that was waited for), and all of it, as seen by the
client."""

import os
import re
import statistics
import subprocess
import time
from dataclasses import dataclass

from tests.services import shop
from tests.services.tls import write_private

from .figures import Figure, alternate, of_runs, ratio
from .link import Link
from .world import Prepared, World

ROUND_TRIP = 0.040
SURVEYS = ("postgres.connect_admin", "postgres.found")
PSQL = "/usr/bin/psql"
GOAL = 1 / 6
_LINE = re.compile(r"(\d{4}-\d\d-\d\d (\d\d):(\d\d):(\d\d\.\d+)) UTC \[(\d+)\] (?:\S* (\S+) )?(LOG|DETAIL):  (.*)")
_DURATION = re.compile(r"duration: ([\d.]+) ms  (?:(execute|statement|parse|bind)[^:]*): (.*)")
_PARAMETER = re.compile(r"\$(\d+) = ('(?:[^']|'')*'|NULL)")


@dataclass
class Session:
    """What the server's log says of one connection."""

    authorized: float
    last: float
    statements: list[str]   # with the parameters in their places
    busy_ms: float = 0.0    # what the server itself needed for them

    @property
    def took_ms(self) -> float:
        return (self.last - self.authorized) * 1000


def sessions(log: str, application: str) -> list[Session]:
    """Those of an application, in order."""
    found: dict[str, Session] = {}
    complete = False   # whether the line before was of a statement, not of its parse or bind
    for line in log.splitlines():
        if not (match := _LINE.match(line)):
            continue
        at = int(match[2]) * 3600 + int(match[3]) * 60 + float(match[4])
        pid, kind, text = match[5], match[7], match[8]
        if text.startswith("connection authorized:") and f"application_name={application} " in text + " ":
            found[pid] = Session(at, at, [])
        elif pid in found and (done := _DURATION.match(text)):
            found[pid].busy_ms += float(done[1])
            complete = done[2] in ("execute", "statement")
            if complete:
                found[pid].statements.append(done[3])
                found[pid].last = at
        elif pid in found and kind == "DETAIL" and complete:
            values = {number: value for number, value in _PARAMETER.findall(text)}
            sql = found[pid].statements[-1]
            found[pid].statements[-1] = re.sub(r"\$(\d+)", lambda part: values[part[1]], sql)
    return list(found.values())


class Survey:
    def __init__(self, world: World, link: Link):
        self.world, self.link, self.server = world, link, world.postgres
        self.client: dict[str, list[float]] = {"ours": [], "peer": []}    # ms, as each client sees its survey
        self.wall: list[float] = []    # ms, sluice as a whole process
        self.busy: list[float] = []    # ms, the server for sluice
        self.file = world.folder / "survey.sql"
        self.passfile = world.folder / "pgpass"
        write_private(self.passfile, f"*:*:*:*:{self.server.admin_password}\n")

    def prepared(self) -> Prepared:
        server = self.server
        return self.world.sluice({
            "start": {"name": "shop", "keep_secrets": "none"},
            "postgres": {"host": self.link.host, "port": self.link.port, "database": "shop", "sslmode": "verify-full",
                         "ca_file": str(server.ca_file), "admin_user": server.admin_user,
                         "admin_password": self.world.secret(server.admin_password), "tables": list(shop.TABLES),
                         "repairs": dict(shop.REPAIRS)}}, {})

    def ours(self) -> float:
        made = self.prepared()
        began = time.monotonic()
        session = self._logged("sluice", lambda: self._check(made))
        self.wall.append((self._ended - began) * 1000)
        self.busy.append(session.busy_ms)
        return session.took_ms

    def _check(self, made: Prepared) -> None:
        checks = made.run("check", "postgres", "--json").checks
        self._ended = time.monotonic()
        assert all(checks[name]["status"] == "passed" for name in SURVEYS), checks
        self.client["ours"].append(sum(checks[name]["ms"] for name in SURVEYS))

    def peer(self) -> float:
        session = self._logged("psql", self._psql)
        assert len(session.statements) == self.count, "psql sent other statements"
        return session.took_ms

    def _psql(self) -> None:
        where = (f"host={self.link.host} port={self.link.port} dbname=shop user={self.server.admin_user} sslmode=verify-full "
                 f"sslrootcert={self.server.ca_file} gssencmode=disable")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.world.folder), "PGPASSFILE": str(self.passfile), "LC_ALL": "C.UTF-8"}
        began = time.monotonic()
        subprocess.run([PSQL, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(self.file), where], env=env, check=True,
                       stdout=subprocess.DEVNULL)
        self.client["peer"].append((time.monotonic() - began) * 1000)

    def _logged(self, application: str, work) -> Session:
        """Does it and gives what the server logged of it, once the connection has ended."""
        before = self.server.log.stat().st_size
        work()
        end = time.monotonic() + 10
        while self.server.query(f"SELECT 1 FROM pg_stat_activity WHERE application_name = '{application}'"):
            assert time.monotonic() < end, f"{application} stays connected"
            time.sleep(0.05)
        with self.server.log.open("rb") as log:
            log.seek(before)
            found = sessions(log.read().decode(errors="replace"), application)
        assert len(found) == 1, f"{application} made {len(found)} connections"
        return found[0]

    def take_statements(self) -> None:
        session = self._logged("sluice", lambda: self._check(self.prepared()))
        self.count = len(session.statements)
        self.file.write_text("".join(f"{sql};\n" for sql in session.statements))


def measure(world: World, runs: int) -> list[Figure]:
    world.folder.mkdir(parents=True, exist_ok=True)
    with Link((world.postgres.host, world.postgres.port), ROUND_TRIP / 2) as link:
        survey = Survey(world, link)
        survey.take_statements()
        survey.peer()
        for taken in (*survey.client.values(), survey.wall, survey.busy):
            taken.clear()
        alone = alternate(runs, survey.ours, survey.peer)
    what = f"PostgreSQL survey at {ROUND_TRIP * 1000:.0f} ms"
    login = statistics.median(whole - part for whole, part in zip(survey.client["peer"], alone[1]))
    least = login / statistics.median(survey.client["peer"])
    return [of_runs(f"{what}, after the login, beside psql", "ms", *alone, GOAL,
                    f"{survey.count} statements; of ours the server itself works {statistics.median(survey.busy):.0f} ms"),
            of_runs(f"{what}, with the login, beside psql", "ms", survey.client["ours"], survey.client["peer"], GOAL,
                    f"psql's start and login alone take {login:.0f} ms, {ratio(least)} of the peer's",
                    whole_process_ms=statistics.median(survey.wall))]
