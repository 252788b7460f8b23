"""Asks filters through the Python packages themselves, and writes Parquet files.

python.py rbloom FILTER KEYS        prints the keys of a file that pass
python.py pybloom FILTER KEYS       the same
python.py write FOLDER KEYS         writes arrow, groups and duck.parquet with the column `word`
python.py extract FILE TARGET       the first filter of that column, by itself
python.py embed FILE FILTER TARGET  the same file with this filter in its place
python.py probe FILE KEYS           for each key, a line for each row group that may hold it
"""

import hashlib
import sys


def lines(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read().split("\n")[:-1]


def show(keys):
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for key in keys:
        print(key)


def rbloom(path, keys):
    from rbloom import Bloom

    def sha256(key):
        digest = hashlib.sha256(key.encode()).digest()
        return int.from_bytes(digest[:16], "big", signed=True)

    filter = Bloom.load(path, sha256)
    show(key for key in lines(keys) if key in filter)


def pybloom(path, keys):
    from pybloom_live import BloomFilter

    with open(path, "rb") as file:
        filter = BloomFilter.fromfile(file)
    show(key for key in lines(keys) if key in filter)


def write(folder, keys):
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = lines(keys)
    rows = pa.table({"word": words, "id": list(range(len(words)))})
    options = {"word": {"ndv": len(words), "fpp": 0.01}, "id": True}
    pq.write_table(rows, f"{folder}/arrow.parquet", bloom_filter_options=options)
    size = len(words) // 2
    pq.write_table(
        rows, f"{folder}/groups.parquet", row_group_size=size, bloom_filter_options=options
    )
    # DuckDB adds filters to columns that it stores with a dictionary: keys must repeat.
    repeated = pa.concat_tables([rows, rows])
    duckdb.sql(
        f"COPY repeated TO '{folder}/duck.parquet' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 100000)"
    )


def place(path):
    """Where the first filter of the column `word` is: its offset and its length."""
    import duckdb

    return duckdb.execute(
        "SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata(?) "
        "WHERE path_in_schema = 'word' ORDER BY row_group_id LIMIT 1",
        [path],
    ).fetchone()


def extract(path, target):
    offset, length = place(path)
    with open(path, "rb") as file, open(target, "wb") as out:
        file.seek(offset)
        out.write(file.read(length))


def embed(path, filter, target):
    offset, length = place(path)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    with open(filter, "rb") as file:
        ours = file.read()
    assert len(ours) == length, (len(ours), length)
    data[offset : offset + length] = ours
    with open(target, "wb") as out:
        out.write(data)


def probe(path, keys):
    import duckdb

    rows = []
    for key in lines(keys):
        question = "SELECT * FROM parquet_bloom_probe(?, 'word', ?)"
        for _, group, excluded in sorted(duckdb.execute(question, [path, key]).fetchall()):
            if not excluded:
                rows.append(f"{group}\t{key}")
    show(rows)


commands = [rbloom, pybloom, write, extract, embed, probe]
{command.__name__: command for command in commands}[sys.argv[1]](*sys.argv[2:])
