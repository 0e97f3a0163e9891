"""Packaging reads settings.ini, where nbdev keeps it too. The wheel holds tinytorch alone and needs NumPy only."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

settings = ConfigParser()
settings.read(Path(__file__).with_name("settings.ini"), encoding="utf-8")
config = settings["DEFAULT"]

setup(
    name=config["dist_name"],
    version=config["version"],
    description=config["description"],
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    keywords=config["keywords"],
    author=config["author"],
    license="MIT",
    python_requires=f">={config['min_python']}",
    install_requires=config["requirements"].split(),
    packages=find_packages(include=["tinytorch", "tinytorch.*"]),
    package_data={"tinytorch": ["py.typed", "core/*.pyi"]},
)
