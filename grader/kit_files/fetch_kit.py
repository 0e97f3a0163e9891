def fetch_kit(address):
    """On Colab and Binder: put the kit's files beside this notebook. Elsewhere: nothing.

    A file that is there already stays as it is.
    """
    import os

    if not {"COLAB_RELEASE_TAG", "BINDER_LAUNCH_HOST"} & os.environ.keys():
        return
    import importlib
    import io
    import sys
    import urllib.request
    import zipfile
    from pathlib import Path

    here = Path.cwd().resolve()
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            kit = zipfile.ZipFile(io.BytesIO(answer.read()))
        for name in kit.namelist():
            path = (here / name.partition("/")[2]).resolve()  # without the kit's own folder
            new = not path.exists() and not name.endswith(("/", ".ipynb"))
            if new and path.is_relative_to(here):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(kit.read(name))
    except Exception as error:
        print(f"{address} was not fetched ({error}). Run this cell again, or ask your instructor.")
    importlib.invalidate_caches()
