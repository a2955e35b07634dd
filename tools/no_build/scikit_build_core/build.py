"""Before pip keeps a source archive, it requests metadata, which would install and run a Python build system.

Only the C++ sources are needed, so these functions return the least that pip accepts.
"""
import os


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name, version = os.environ["HEADROOM_FETCH_NAME"], os.environ["HEADROOM_FETCH_VERSION"]
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    os.mkdir(os.path.join(metadata_directory, folder))
    with open(os.path.join(metadata_directory, folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder
