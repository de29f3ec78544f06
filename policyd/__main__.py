"""Runs the command line: `python -m policyd`."""

from policyd.cli.main import main

main()
