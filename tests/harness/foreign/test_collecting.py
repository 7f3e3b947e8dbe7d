"""Taking over what a program left, against one that changes what stands where."""

from __future__ import annotations

from basanite.sandbox.collection import Room, collect, open_folder


def vault(folder):
    (folder / "vault").mkdir()
    (folder / "vault" / "key").write_text("secret")
    return folder / "vault"


def test_a_link_in_the_place_of_an_open_folder_is_not_followed(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    (place / "good").write_text("1")
    opened = open_folder(place)
    place.rename(tmp_path / "old")
    place.symlink_to(vault(tmp_path))
    assert collect(opened, tmp_path / "taken", Room(100, 10)) == []
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["good"]


def test_links_to_files_and_folders_below_are_named_and_left(tmp_path):
    place = tmp_path / "out"
    (place / "deep").mkdir(parents=True)
    (place / "deep" / "folder").symlink_to(vault(tmp_path))
    (place / "file").symlink_to(tmp_path / "vault" / "key")
    refused = collect(open_folder(place), tmp_path / "taken", Room(100, 10))
    assert refused == ["deep/folder: no regular file", "file: no regular file"]
    assert [path.name for path in (tmp_path / "taken").rglob("*")] == ["deep"]


def test_more_than_there_is_room_for_is_left(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    for name in "abc":
        (place / name).write_bytes(bytes(6))
    assert collect(open_folder(place), tmp_path / "few", Room(100, 2)) == ["c: too much was written"]
    assert collect(open_folder(place), tmp_path / "small", Room(13, 10)) == ["c: too much was written"]
