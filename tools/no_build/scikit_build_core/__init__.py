"""Replaces the build system that imgui-bundle's archive names, so that pip only downloads it (see fetch.py)."""
