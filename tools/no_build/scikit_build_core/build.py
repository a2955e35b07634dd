"""pip asks a source archive for its metadata before it keeps the file, which would install a Python build system and run it.

Headroom wants the C++ sources in the archive and nothing of that. These are the two questions pip asks, answered with
the least that it accepts.
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
