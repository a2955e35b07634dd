"""Replaces the build system of imgui-bundle's archive, so that pip only downloads it (see fetch.py)."""
