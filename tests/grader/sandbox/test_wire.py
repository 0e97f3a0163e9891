"""Each check of wire.receive by itself: every message here is right but for one thing."""

import io
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.sandbox import wire

ONE = [["a", "<f4", [1]]]  # announces four bytes
FOUR = bytes(4)


class Sent:
    """The reading end of a connection over which some bytes were sent; a few at a time arrive."""

    def __init__(self, data: bytes, at_once: int = 1 << 20) -> None:
        self.stream, self.at_once = io.BytesIO(data), at_once
        self.largest = 0

    def recv(self, size: int, /) -> bytes:
        self.largest = max(self.largest, size)
        return self.stream.read(min(size, self.at_once))

    def sendall(self, data: bytes) -> None:
        place = self.stream.tell()
        self.stream.seek(0, io.SEEK_END)
        self.stream.write(data)
        self.stream.seek(place)

    def rest(self) -> bytes:
        return self.stream.read()


def frame(text: str | bytes, data: bytes = b"") -> bytes:
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(text)) + text + data


def message(arrays: Any, data: bytes = b"", **keys: Any) -> bytes:
    return frame(json.dumps({"id": 1, "arrays": arrays} | keys), data)


WHOLE = message(ONE, FOUR)


def receive(data: bytes, **bounds: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return wire.receive(Sent(data), **bounds)


def padded(length: int) -> str:
    """A right message that is so many bytes long."""
    return '{"arrays": []}'.ljust(length)


# --- how long a message may be ----------------------------------------------------------------------------------------


def test_the_longest_message_is_taken_and_a_longer_one_is_not():
    assert receive(frame(padded(100)), text=100) == ({"arrays": []}, {})
    with pytest.raises(ValueError, match="a message of 101 bytes"):
        receive(frame(padded(101)), text=100)


def test_arrays_do_not_count_as_text():
    assert receive(message(ONE, FOUR), text=len(WHOLE) - 8)[1]["a"] == 0


@pytest.mark.parametrize(("length", "bounds"), [(0xFFFFFFFF, {}), ((1 << 29) + 1, {}), (101, {"text": 100})])
def test_a_length_is_checked_before_anything_is_read(length, bounds):
    """The other side may never send what it announces."""
    sent = Sent(struct.pack("<I", length) + b"{")
    with pytest.raises(ValueError, match=f"a message of {length} bytes"):
        wire.receive(sent, **bounds)
    assert sent.rest() == b"{"


def test_no_read_is_for_more_than_a_megabyte():
    sent = Sent(message([["a", "|b1", [5 << 20]]], bytes(5 << 20)))
    wire.receive(sent)
    assert sent.largest == 1 << 20


# --- what is no message -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "{", "{'arrays': []}", '{"arrays": []} x', b'{"arrays": [], "x": "\xff"}'])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"Expecting|Extra data|can't decode"):
        receive(frame(text))


@pytest.mark.parametrize("text", ["[]", "7", "null", '"arrays"', "NaN", '[["arrays", []]]'])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(ValueError, match="no message"):
        receive(frame(text))


@pytest.mark.parametrize("arrays", [{}, "", None, 0, False])
def test_arrays_that_are_no_list_are_refused(arrays):
    with pytest.raises(ValueError, match="no message"):
        receive(message(arrays))


def test_a_message_without_arrays_is_refused():
    with pytest.raises(ValueError, match="no message"):
        receive(frame('{"id": 1}'))


def test_64_arrays_are_taken_and_65_are_not():
    empty = [[str(n), "<f4", [0]] for n in range(65)]
    assert len(receive(message(empty[:64]))[1]) == 64
    with pytest.raises(ValueError, match="no message"):
        receive(message(empty))


def test_a_message_that_is_nested_too_deep_ends_in_an_error():
    with pytest.raises(ValueError, match="nested too deeply"):
        receive(frame('{"arrays": [], "x": ' + "[" * 200_000 + "]" * 200_000 + "}"))


def test_nan_is_a_number_and_no_size():
    got, _ = receive(frame('{"id": NaN, "arrays": []}'))
    assert got["id"] != got["id"]
    for size in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match="an array of no shape"):
            receive(frame(f'{{"arrays": [["a", "<f4", [{size}]]]}}', FOUR))


# --- what is no array -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [7, None, "", "ab", [], ["a", "<f4"], ["a", "<f4", [1], 0], {"a": 0}])
def test_an_entry_that_is_no_triple_is_refused(entry):
    with pytest.raises(ValueError, match="no array"):
        receive(message([entry], FOUR))


@pytest.mark.parametrize("entry", ["abc", {"a": 0, "b": 0, "c": 0}])
def test_three_things_that_are_no_list_are_refused(entry):
    with pytest.raises(ValueError, match="no array"):
        receive(message([entry], FOUR))


@pytest.mark.parametrize("name", [7, None, True, ["a"], {}, "a" * 65])
def test_a_name_that_is_no_short_text_is_refused(name):
    with pytest.raises(ValueError, match="an array of no name"):
        receive(message([[name, "<f4", [1]]], FOUR))


@pytest.mark.parametrize("name", ["", "a" * 64, "\0grad"])
def test_other_names_are_taken(name):
    assert list(receive(message([[name, "<f4", [1]]], FOUR))[1]) == [name]


def test_two_arrays_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two arrays of one name"):
        receive(message(ONE + ONE, FOUR + FOUR))


@pytest.mark.parametrize(
    "code",
    [
        None,  # for NumPy, this is float64
        4,
        True,
        ["<f4"],
        {},
        "float",  # NumPy knows these, but they are longer than any code that we send
        "float32",
        "int64",
    ],
)
def test_a_code_that_is_no_short_text_is_refused(code):
    with pytest.raises(ValueError, match="an array of type"):
        receive(message([["a", code, [1]]], bytes(8)))


@pytest.mark.parametrize(
    "code",
    [
        "<c8",
        "<c16",
        "|O",
        "O",
        "O8",
        "|S4",
        "<U1",
        "|V4",
        "<M8",
        "<M8[s]",
        "<m8",
        "i,i",
        "2f4",
        "(1,",
        "(2)f4",
        "f4",
        "=f4",
    ],
)
def test_only_plain_numbers_are_taken(code):
    with pytest.raises(ValueError, match="an array of type"):
        receive(message([["a", code, [1]]], bytes(16)))


@pytest.mark.parametrize(
    "code", ["", "xx", "<f5", "f-4", "????", "<f4\n", " <f4", "<f4,", "<f" + "4" * 1000, "<i\u0664"]
)
def test_an_unknown_code_is_refused(code):
    with pytest.raises(ValueError, match="an array of type") as caught:
        receive(message([["a", code, [1]]], FOUR))
    assert len(str(caught.value)) < 50


PLAIN = ["|b1", *(f"{end}{kind}{size}" for end in "<>" for kind in "iu" for size in (2, 4, 8)), "|i1", "|u1"]


@pytest.mark.parametrize("code", [*PLAIN, *(f"{end}f{size}" for end in "<>" for size in (2, 4, 8, 16))])
def test_the_codes_that_we_send_are_taken(code):
    array = np.ones(3, code)
    _, arrays = receive(message([["a", code, [3]]], array.tobytes()))
    np.testing.assert_array_equal(arrays["a"], array, strict=True)


def test_eight_axes_are_taken_and_nine_are_not():
    assert receive(message([["a", "<f4", [1] * 8]], FOUR))[1]["a"].shape == (1,) * 8
    with pytest.raises(ValueError, match="an array of no shape"):
        receive(message([["a", "<f4", [1] * 9]], FOUR))


@pytest.mark.parametrize("shape", [7, None, 1.0, True, "", "1", {}, {"1": 1}])
def test_a_shape_that_is_no_list_is_refused(shape):
    with pytest.raises(ValueError, match="an array of no shape"):
        receive(message([["a", "<f4", shape]], FOUR))


@pytest.mark.parametrize(
    "shape",
    [
        [-1],
        [0, -1],
        [-1, -1],
        [-2, -2],
        [1.0],
        [0, 0.5],
        ["1"],
        [None],
        [[1]],
        [True],
        [False],
        [0, True],
        [0, (1 << 30) + 1],
        [0, 1 << 70],
    ],
)
def test_a_size_that_is_no_small_whole_number_is_refused(shape):
    with pytest.raises(ValueError, match="an array of no shape"):
        receive(message([["a", "<f4", shape]], bytes(64)))


def test_the_largest_size_is_taken():
    assert receive(message([["a", "<f4", [0, 1 << 30]]]))[1]["a"].shape == (0, 1 << 30)


# --- how much all arrays may hold -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[1000], [600, 400], [0, 1000, 0], [1] * 40 + [960]])
def test_arrays_up_to_the_limit_are_taken_and_no_byte_more(sizes):
    most = 2000
    arrays = [[str(n), "<u2", [size]] for n, size in enumerate(sizes)]
    assert sum(a.nbytes for a in receive(message(arrays, bytes(most)), numbers=most)[1].values()) == most
    arrays[-1][2] = [sizes[-1] + 1]
    with pytest.raises(ValueError, match="arrays of more than 2000 bytes"):
        receive(message(arrays, bytes(most + 2)), numbers=most)


def test_a_product_of_sizes_does_not_run_over():
    """2 ** 64 bytes are none in a machine's own whole numbers."""
    with pytest.raises(ValueError, match="arrays of more than"):
        receive(message([["a", "|u1", [1 << 30, 1 << 30, 16]]]))


def test_sizes_are_checked_before_the_data_is_read():
    for arrays, bounds in (([["a", "|u1", [1 << 30]], ["b", "|u1", [1]]], {}), ([["a", "|u1", [5]]], {"numbers": 4})):
        sent = Sent(message(arrays, b"data"))
        with pytest.raises(ValueError, match="arrays of more than"):
            wire.receive(sent, **bounds)
        assert sent.rest() == b"data"


# --- a text in a message ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", [{}, *({"key": value} for value in (None, 0, 1.5, True, ["t"], {"t": 1}))])
def test_what_is_no_text_is_refused(said):
    with pytest.raises(ValueError, match="no text under key"):
        wire.text_in(said, "key", 10)


def test_a_text_is_cut():
    assert (wire.text_in({"key": ""}, "key", 3), wire.text_in({"key": "abcd"}, "key", 3)) == ("", "abc")


# --- what does not arrive as a whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_a_message_that_ends_early_is_an_end(length):
    with pytest.raises(EOFError):
        receive(WHOLE[:length])


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
def test_a_message_may_arrive_in_pieces_and_another_one_follow(at_once):
    sent = Sent(WHOLE + message([], id=2), at_once)
    assert wire.receive(sent)[1]["a"] == np.zeros(1, np.float32)
    assert wire.receive(sent)[0]["id"] == 2


# --- there and back ---------------------------------------------------------------------------------------------------


ENDS = st.sampled_from("<>")
DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    ENDS.flatmap(lambda end: hnp.integer_dtypes(endianness=end)),
    ENDS.flatmap(lambda end: hnp.unsigned_integer_dtypes(endianness=end)),
    ENDS.flatmap(lambda end: hnp.floating_dtypes(endianness=end, sizes=(16, 32, 64))),
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4))
VIEWS = {
    "itself": lambda a: a,
    "transposed": lambda a: a.T,
    "column by column": lambda a: np.asarray(a, order="F"),
    "every second": lambda a: a[..., ::2] if a.ndim else a,
    "backwards": lambda a: a[::-1] if a.ndim else a,
    "repeated": lambda a: np.broadcast_to(a, (2, *a.shape)),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}
KEYS = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers() | st.text())


@given(
    arrays=st.dictionaries(st.text(max_size=64), st.tuples(ARRAYS, st.sampled_from(sorted(VIEWS))), max_size=5),
    plain=st.dictionaries(st.text().filter(lambda key: key != "arrays"), KEYS, max_size=5),
)
def test_messages_survive_the_way(arrays, plain):
    """Every dtype, both orders of bytes, empty and without axes, however it lies in memory; NaN too, bit by bit."""
    views = {name: VIEWS[view](array) for name, (array, view) in arrays.items()}
    sent = Sent(b"")
    wire.send(sent, plain, views)
    got, back = wire.receive(sent)
    assert {key: value for key, value in got.items() if key != "arrays"} == plain
    assert list(back) == list(views)
    for name, array in views.items():
        assert (back[name].dtype.str, back[name].shape) == (array.dtype.str, array.shape)
        assert back[name].tobytes() == array.tobytes()
    assert sent.rest() == b""


def test_a_lone_surrogate_gets_into_no_text():
    assert wire.text_in({"key": "a\ud800b\udcffc\U0001f600"}, "key", 10) == "a?b?c\U0001f600"
