"""Where the course is published, and what student copies say of it: links to Colab and Binder, and a cell that fetches the kit."""

import re
from configparser import InterpolationError
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from grader.course import ROOT, settings
from grader.errors import CourseError

FETCH = Path(__file__).parent / "kit_files" / "fetch_kit.py"
NAME = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
WEB = re.compile(r"https?://[\w.:-]+(/[\w.~-]+)*", re.ASCII)
KNOWN = ("github.com", "gitlab.com")
COLAB, BINDER = "https://colab.research.google.com/github", "https://mybinder.org/v2"


@dataclass(frozen=True)
class Published:
    """Web addresses, without a slash at the end.

    repository  where the project can be cloned
    site        where what `make site` makes is published
    """

    repository: str
    branch: str
    site: str

    def links(self, notebook: str) -> dict[str, str]:
        """Where a notebook of the repository can be opened: the address by the name of the service. Colab knows GitHub only."""
        parts = urlsplit(self.repository)
        project = parts.path.strip("/").removesuffix(".git")
        opened = f"?urlpath={quote(f'lab/tree/{notebook}', safe='')}"
        if parts.hostname == "github.com":
            return {
                "Colab": f"{COLAB}/{project}/blob/{self.branch}/{notebook}",
                "Binder": f"{BINDER}/gh/{project}/{quote(self.branch, safe='')}{opened}",
            }
        kind, where = ("gl", project) if parts.hostname == "gitlab.com" else ("git", self.repository)
        return {"Binder": f"{BINDER}/{kind}/{quote(where, safe='')}/{quote(self.branch, safe='')}{opened}"}

    def file(self, path: str) -> str:
        """The address of a file of the repository; "" where the host is none whose addresses are known."""
        if urlsplit(self.repository).hostname not in KNOWN:
            return ""
        return f"{self.repository.removesuffix('.git')}/blob/{self.branch}/{path}"

    def kit(self, module: str) -> str:
        """The address of a module's kit."""
        return f"{self.site}/kits/tinytorch-{module}.zip"


def published(root: Path = ROOT) -> Published | None:
    """What settings.ini says, in nbdev's words; None if it names no `user`. Raises CourseError for what cannot be an address."""
    about = settings(root)
    try:
        user, repo, branch = about.get("user", ""), about.get("repo", ""), about.get("branch", "main")
        repository = about.get("git_url", f"https://github.com/{user}/{repo}").rstrip("/")
        host, path = (
            about.get("doc_host", "").rstrip("/"),
            about.get("doc_baseurl", "" if repo.lower() == f"{user}.github.io".lower() else f"/{repo}").strip("/"),
        )
    except InterpolationError as error:
        raise CourseError(f"settings.ini: {error}".replace("\n", " ")) from None
    if not user:
        return None
    for key, value, shape in (("user", user, NAME), ("repo", repo, NAME), ("branch", branch, NAME)):
        _check(key, value, shape, "a name without spaces")
    _check("git_url", repository, WEB, "an address as https://gitlab.com/USER/REPO")
    if not host:
        host = _pages_of(repository, user)
    site = f"{host}/{path}".rstrip("/")
    _check("doc_host and doc_baseurl", site, WEB, "doc_host = https://HOST and doc_baseurl = /PATH")
    return Published(repository, branch, site)


def _check(key: str, value: str, shape: re.Pattern[str], wanted: str) -> None:
    if not shape.fullmatch(value):
        raise CourseError(f"settings.ini: {key} is {value!r}; write {wanted}, then run `make course`")


def _pages_of(repository: str, user: str) -> str:
    """Where a host publishes the pages of its repositories."""
    host = urlsplit(repository).hostname
    if host not in KNOWN:
        raise CourseError(
            f"settings.ini: nobody knows where pages of {host} are published; set doc_host (and doc_baseurl) to the address "
            "of what `make site` makes, then run `make course`"
        )
    group, _, folders = user.partition("/")
    return f"https://{group}.{host.removesuffix('.com')}.io" + (f"/{folders}" if folders else "")


def with_badges(notebook: dict[str, Any], module: str, where: Published) -> dict[str, Any]:
    """A student copy with two more cells below its title: the links, and what fetches the kit there.

    They have no marks of nbgrader: nothing is said of a submission without them, and they are not run where it is graded.
    The links are words, since a picture would be loaded from elsewhere whenever the notebook is opened.
    """
    title, *others = notebook["cells"]
    links = where.links(f"modules/{module}/{module.partition('_')[2]}.ipynb")
    opened = ", ".join(f"[Open in {name}]({address})" for name, address in links.items())
    advice = {
        "Colab": "In Colab, *File, Save a copy in Drive* keeps your work.\n",
        "Binder": "Binder keeps nothing: download the notebook before you close it.\n",
    }
    text = (
        f"{opened}\n\nThere, the notebook runs with nothing to install, and the next cell fetches what belongs to it.\n"
        "Everywhere else, the next cell does nothing.\n"
    ) + "".join(advice[name] for name in links)
    code = f'{FETCH.read_text(encoding="utf-8")}\n\nfetch_kit("{where.kit(module)}")\n'
    words = {"cell_type": "markdown", "id": "elsewhere-text", "metadata": {}, "source": _lines(text)}
    fetch = {
        "cell_type": "code",
        "execution_count": None,
        "id": "fetch-kit",
        "metadata": {"deletable": False, "editable": False},
        "outputs": [],
        "source": _lines(code),
    }
    return notebook | {"cells": [title, words, fetch, *others]}


def _lines(text: str) -> list[str]:
    """As nbformat writes them."""
    return text.strip().splitlines(keepends=True)
