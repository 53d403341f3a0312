"""Where things are: the repository, the virtual environment, and folders that a server's own user may enter."""

import hashlib
import os
import pwd
import shutil
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build"
OUTSIDE = Path("/var/tmp")   # survives a restart of the machine, unlike /tmp
MARK = "belongs-to"


def service_user() -> str | None:
    """The user that servers which refuse root run as; None when we are an ordinary user ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


def may_enter(folder: Path, user: str) -> bool:
    """Whether that user can walk down to this (perhaps not yet existing) folder."""
    entry = pwd.getpwnam(user)
    for part in [folder, *folder.parents]:
        if not part.exists():
            continue
        state = part.stat()
        if state.st_uid == entry.pw_uid:
            allowed = state.st_mode & 0o100
        elif state.st_gid == entry.pw_gid:
            allowed = state.st_mode & 0o010
        else:
            allowed = state.st_mode & 0o001
        if not allowed:
            return False
    return True


def _outside(folder: Path) -> Path:
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:10]
    return OUTSIDE / f"sluice-{REPO.name}-{digest}"


def enterable(folder: Path, user: str | None) -> Path:
    """The folder itself if that user may enter it, else one below /var/tmp that always belongs to it."""
    folder = folder.resolve()
    if user is None or may_enter(folder, user):
        return folder
    folder.mkdir(parents=True, exist_ok=True)   # while it exists, sweep() leaves the other one alone
    outside = _outside(folder)
    outside.mkdir(mode=0o700, exist_ok=True)
    if outside.is_symlink() or outside.stat().st_uid != os.geteuid():
        raise PermissionError(f"{outside} is not ours: remove it, or put the repository where user {user} may enter")
    outside.chmod(0o711)
    (outside / MARK).write_text(f"{folder}\n")
    return outside


def forget(folder: Path) -> None:
    """Removes a folder and what lies below /var/tmp for any folder in it."""
    folder = folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    sweep()


def sweep() -> None:
    """Removes what lies below /var/tmp for folders that no longer exist."""
    for mark in OUTSIDE.glob(f"sluice-*/{MARK}"):
        try:
            if mark.stat().st_uid == os.geteuid() and not Path(mark.read_text().strip()).exists():
                shutil.rmtree(mark.parent, ignore_errors=True)
        except OSError:
            continue
