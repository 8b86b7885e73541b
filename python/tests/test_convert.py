"""python -m dynet.convert: NumPy's files from and to those of the library."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dynet as dy
from dynet.convert import convert, main

VERSION_0_1_0 = Path(__file__).parent / "data" / "version-0.1.0.npz"  # of the library's own writer


@pytest.fixture
def pc():
    made = dy.ParameterCollection()
    made.parameters_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3), name="file")
    made.lookup_parameters_from_numpy(np.arange(8, dtype=np.float32).reshape(4, 2), name="E")
    return made


def test_a_file_of_version_0_1_0_is_read(tmp_path):
    for end in "dynet", "safetensors":
        convert(VERSION_0_1_0, tmp_path / f"m.{end}")
    pc = dy.ParameterCollection()
    a, b = pc.add_parameters((2, 3), name="a"), pc.add_lookup_parameters((2, 3), name="b")
    assert dy.load_safetensors(tmp_path / "m.safetensors", pc) == 2
    assert (a.as_array() == 0.5).all() and (b.as_array() == -2).all()
    convert(tmp_path / "m.dynet", tmp_path / "again.npz")
    with np.load(VERSION_0_1_0) as old, np.load(tmp_path / "again.npz") as new:
        assert old.files == new.files
        assert all(np.array_equal(old[name], new[name]) for name in old.files)


def test_a_whole_model_file_comes_back(pc, tmp_path):
    trainer = dy.AdamTrainer(pc)
    dy.squared_norm(pc.parameters_list()[0]).backward()
    trainer.update()
    model, arrays, back = (tmp_path / name for name in ("m.dynet", "m.npz", "back.dynet"))
    dy.save_model(model, pc, trainer)
    convert(model, arrays)
    with np.load(arrays) as loaded:
        assert np.array_equal(loaded["file"], pc.parameters_list()[0].as_array())
        assert loaded["E"].shape == (4, 2)
    convert(arrays, back)
    assert back.read_bytes() == model.read_bytes()
    convert(arrays, tmp_path / "m.safetensors")
    convert(tmp_path / "m.safetensors", back)
    assert back.read_bytes() == model.read_bytes()
    assert not list(tmp_path.glob("*.new"))


def test_arrays_of_every_type_and_order(tmp_path):
    given = {kind: np.asfortranarray(np.arange(6).reshape(2, 3).astype(kind))
             for kind in ("<f8", ">f4", "<f2", ">i8", "<i4", "<i2", "|i1", "<u8", ">u4", "<u2", "|u1", "|b1")}
    given["none"], given["one"] = np.zeros((0, 2), np.float32), np.float32(7)
    np.savez_compressed(tmp_path / "a.npz", **given)
    convert(tmp_path / "a.npz", tmp_path / "a.safetensors")
    convert(tmp_path / "a.safetensors", tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as got:
        for name, array in given.items():
            assert np.array_equal(got[name], array) and got[name].shape == array.shape
            assert got[name].dtype == array.dtype.newbyteorder("<")
    np.save(tmp_path / "a.npy", given[">f4"])
    convert(tmp_path / "a.npy", tmp_path / "c.safetensors")
    convert(tmp_path / "c.safetensors", tmp_path / "c.npy")
    assert np.array_equal(np.load(tmp_path / "c.npy"), given[">f4"])


def test_word_vectors(tmp_path):
    (tmp_path / "v.vec").write_text("2 2\nthe 1 2\ncat 3 4\n")
    convert(tmp_path / "v.vec", tmp_path / "v.npz")
    convert(tmp_path / "v.npz", tmp_path / "w.vec")
    assert (tmp_path / "w.vec").read_text() == (tmp_path / "v.vec").read_text()


def odd_files(folder):
    """Files of NumPy's that are none, or hold what is no array of numbers, and a word of the error."""
    good = VERSION_0_1_0.read_bytes()
    (folder / "empty.npz").write_bytes(b"")
    (folder / "cut.npz").write_bytes(good[:-30])
    (folder / "values.npz").write_bytes(good.replace(b"\0\0\0\x3f", b"\0\0\x40\x3f", 1))
    (folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\0")
    (folder / "lies.npy").write_bytes(
        b"\x93NUMPY\x01\0\x46\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (99,), }".ljust(70) + b"1234")
    np.savez(folder / "objects.npz", a=np.array([{}], object))
    np.save(folder / "texts.npy", np.array(["a"]))
    np.save(folder / "complex.npy", np.zeros(2, complex))
    np.save(folder / "parts.npy", np.zeros(2, [("x", "f4")]))
    with zipfile.ZipFile(folder / "text.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    return {"empty.npz": "", "cut.npz": "", "values.npz": "CRC", "cut.npy": "", "lies.npy": "",
            "objects.npz": "allow_pickle=False", "texts.npy": "no array of floats",
            "complex.npy": "no array of floats", "parts.npy": "no array of floats",
            "text.npz": "no array of floats", "none.npz": "No such file"}


def test_odd_files_are_refused(tmp_path, capsys):
    for name, why in odd_files(tmp_path).items():
        with pytest.raises(dy.errors.FileError, match=f"cannot load .*{name}: .*{why}"):
            convert(tmp_path / name, tmp_path / "out.safetensors")
        assert main([str(tmp_path / name), str(tmp_path / "out.safetensors")]) == 2
        said = capsys.readouterr().err
        assert said.startswith("python -m dynet.convert: cannot load ") and said.count("\n") == 1, said
    assert not (tmp_path / "out.safetensors").exists()


def test_what_a_format_cannot_hold_is_refused(pc, tmp_path):
    dy.save_safetensors(tmp_path / "m.safetensors", pc)
    (tmp_path / "old.npy").write_bytes(b"old")
    with pytest.raises(dy.errors.FileError, match="holds one array, not 2"):
        convert(tmp_path / "m.safetensors", tmp_path / "old.npy")
    assert (tmp_path / "old.npy").read_bytes() == b"old"
    header = b'{"h":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
    (tmp_path / "h.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    with pytest.raises(dy.errors.FileError, match="NumPy has no type BF16, which 'h' has"):
        convert(tmp_path / "h.safetensors", tmp_path / "h.npz")
    with pytest.raises(dy.errors.FileError, match="the name says no format"):
        convert(VERSION_0_1_0, tmp_path / "m.unknown")
    with pytest.raises(dy.errors.FileError, match="No such file"):
        convert(VERSION_0_1_0, tmp_path / "none" / "m.npz")


def test_the_command(tmp_path):
    command = [sys.executable, "-m", "dynet.convert"]
    subprocess.run([*command, VERSION_0_1_0, tmp_path / "m.dynet"], check=True)
    refused = subprocess.run([*command, "none.npz", "m.dynet"], capture_output=True, text=True)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    subprocess.run([*command, "--help"], check=True, capture_output=True)
