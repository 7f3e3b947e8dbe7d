"""Image headers: the same size and frames as our peer finds by decoding, and no bytes that can make us raise."""

import io
import struct
import time
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from basanite.formats.retrieval.image_header import JPEG, PNG, PNG_SIGNATURE, check_image, image_header

COLOURS = ("red", "blue", "green")


def image(kind="PNG", width=1024, height=768, mode="RGB", **options):
    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, kind, **options)
    return file.getvalue()


def animation(frames=3, **options):
    file = io.BytesIO()
    pictures = [Image.new("RGB", (1024, 20), COLOURS[at % 3]) for at in range(frames)]
    pictures[0].save(file, "PNG", save_all=True, append_images=pictures[1:], **options)
    return file.getvalue()


def chunk(kind, content=b""):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(*chunks, width=1024, height=20, depth=8, colour=2):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return PNG_SIGNATURE + header + b"".join(chunks) + chunk(b"IEND")


def jpeg(*segments):
    parts = [bytes((0xFF, marker)) + struct.pack(">H", len(content) + 2) + content for marker, content in segments]
    return b"\xff\xd8" + b"".join(parts) + b"\xff\xd9"


def frame(width, height, components=1):
    return struct.pack(">BHHB", 8, height, width, components) + bytes((1, 0x11, 0)) * components


def problems(name, data):
    return [(problem.rule, problem.found) for problem in check_image(name, data)]


SMALL = PNG_SIGNATURE + image(width=3, height=2)[8:]
SEEDS = [SMALL, image("JPEG", 3, 2), animation(2), image("GIF", 3, 2)]


@pytest.mark.parametrize("height", [1, 500, 768])
def test_images_of_the_right_width_and_any_height_up_to_the_limit_pass(height):
    assert problems("q1/a.png", image("PNG", 1024, height)) == []
    assert problems("q1/a.jpg", image("JPEG", 1024, height, progressive=height > 500)) == []


@pytest.mark.parametrize(("width", "height"), [(1023, 768), (1025, 10), (1024, 769), (768, 1024), (1, 1)])
@pytest.mark.parametrize(("name", "kind"), [("a.png", "PNG"), ("a.jpg", "JPEG")])
def test_another_size_is_refused_with_the_size_found(name, kind, width, height):
    assert problems(name, image(kind, width, height)) == [("M48", f"{width} x {height}")]


@pytest.mark.parametrize(
    ("name", "kind"), [("a.jpg", "PNG"), ("a.png", "JPEG"), ("a.jpeg", "JPEG"), ("a.PNG", "PNG"), ("png", "JPEG")]
)
def test_the_extension_must_be_that_of_the_content(name, kind):
    assert problems(name, image(kind)) == [("M48", name)]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "BMP", "TIFF", "JPEG2000", "PDF"])
def test_other_formats_are_refused_by_name_whatever_their_extension(kind):
    ((rule, found),) = problems("a.png", image(kind))
    assert rule == "M48"
    assert found.replace(" ", "").upper() == kind


def test_text_and_nothing_are_no_images():
    assert [rule for data in (b"", b"hello", b"\x89PNG", b"<svg/>") for rule, _ in problems("a.png", data)] == [
        "M48"
    ] * 4


@pytest.mark.parametrize(("name", "kind"), [("a.png", "PNG"), ("a.jpg", "JPEG")])
def test_a_file_that_breaks_off_is_refused(name, kind):
    whole = image(kind)
    assert all("M48" in dict(problems(name, whole[:length])) for length in (10, 40, len(whole) // 2, len(whole) - 2))


@pytest.mark.parametrize("options", [{}, {"default_image": True}])
@pytest.mark.parametrize("frames", [2, 3])
def test_an_animated_png_is_refused(frames, options):
    data = animation(frames, **options)
    assert problems("a.png", data) == [("M49", f"{frames} frames")]
    assert image_header(data).frames == Image.open(io.BytesIO(data)).n_frames


def test_an_animation_that_declares_one_frame_is_counted():
    control, data = chunk(b"acTL", struct.pack(">II", 1, 0)), chunk(b"IDAT", b"x")
    one = chunk(b"fcTL", bytes(26))
    assert image_header(png(control, one, data)).frames == 1
    assert image_header(png(control, one, data, one, chunk(b"fdAT"))).frames == 2
    assert image_header(png(control, data, one, chunk(b"fdAT"))).frames == 2


def test_one_frame_passes_also_where_it_is_declared_an_animation():
    declared = png(chunk(b"acTL", struct.pack(">II", 1, 0)), chunk(b"fcTL", bytes(26)), chunk(b"IDAT", b"x"))
    assert problems("a.png", image()) == problems("a.png", declared) == []


@settings(max_examples=30, deadline=None)
@given(
    width=st.integers(1, 70),
    height=st.integers(1, 70),
    form=st.sampled_from(
        [
            ("PNG", "1"),
            ("PNG", "P"),
            ("PNG", "I;16"),
            ("PNG", "RGBA"),
            ("PNG", "LA"),
            ("JPEG", "L"),
            ("JPEG", "RGB"),
            ("JPEG", "CMYK"),
        ]
    ),
    progressive=st.booleans(),
    comment=st.binary(max_size=300),
)
def test_our_peer_finds_the_same_size(width, height, form, progressive, comment):
    options = {"progressive": progressive, "comment": comment} if form[0] == "JPEG" else {}
    data = image(form[0], width, height, form[1], **options)
    peer = Image.open(io.BytesIO(data))
    found = image_header(data)
    assert (found.kind, found.width, found.height, found.fault) == (peer.format, *peer.size, "")


@pytest.mark.parametrize(
    "data",
    [
        jpeg((0xE0, b"JFIF"), (0xDA, b"")),
        jpeg((0xE0, b"JFIF")),
        jpeg((0xC0, b"\x08")),
        jpeg((0xC0, frame(1024, 0))),
        jpeg((0xC0, frame(1024, 10) + b"x")),
        jpeg((0xC3, frame(1024, 10))),
        b"\xff\xd8\xff\xe0\x00\x00" + bytes(50),
        b"\xff\xd8\xff\xe0\xff\xff" + bytes(50),
        b"\xff\xd8\xff",
        png(width=0),
        png(height=2**31),
        png(depth=3),
        png(colour=5),
        png(),
        png()[:20] + b"\x7f" + png()[21:],
        png(chunk(b"tEXt") * 5000, chunk(b"IDAT")),
    ],
)
def test_lying_headers_have_a_fault_and_no_size_is_believed(data):
    assert image_header(data).fault
    assert "M48" in dict(problems("a.png", data))


def test_hostile_lengths_take_no_time():
    many = jpeg(*[(0xE0, b"")] * 100_000, (0xC0, frame(1024, 10)))
    fill = b"\xff\xd8" + b"\xff" * 2_000_000
    bare = b"\xff\xd8" + b"\xff\xd0" * 500_000
    chunks = png(chunk(b"acTL", struct.pack(">II", 9, 0)), chunk(b"IDAT"), chunk(b"fcTL") * 200_000)
    start = time.process_time()
    assert [image_header(data).kind for data in (many, fill, bare, chunks)] == [JPEG, JPEG, JPEG, PNG]
    assert time.process_time() - start < 2


@settings(max_examples=150, deadline=None)
@given(seed=st.sampled_from(SEEDS), at=st.integers(0, 400), noise=st.binary(max_size=12), cut=st.integers(0, 400))
def test_no_bytes_make_it_raise(seed, at, noise, cut):
    data = seed[:at] + noise + seed[at + len(noise) :]
    for piece in (data, data[:cut], noise):
        list(check_image("a.png", piece))
