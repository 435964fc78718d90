"""Parquet files with encrypted columns."""

from __future__ import annotations

import base64
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as encryption

TABLE = pa.table({"k": ["a", "b", "a", "b"], "t": [30, 10, 40, 20], "x": [1, 2, 3, 4]})


class Keys(encryption.KmsClient):  # type: ignore[misc]
    """A service that has the keys, as far as a test needs one."""

    def __init__(self, config: encryption.KmsConnectionConfig) -> None:
        super().__init__()

    def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> bytes:
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key: bytes, master_key_identifier: str) -> bytes:
        return base64.b64decode(wrapped_key)


def write_encrypted(path: Path, *, plaintext_footer: bool) -> ds.ParquetFileFormat:
    """Write a file of which only ``t`` can be read without a key; the format has the keys."""
    factory, connection = encryption.CryptoFactory(Keys), encryption.KmsConnectionConfig()
    encrypting = encryption.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["x", "k"]}, plaintext_footer=plaintext_footer
    )
    keys = factory.file_encryption_properties(connection, encrypting)
    with pq.ParquetWriter(path, TABLE.schema, encryption_properties=keys) as writer:
        writer.write_table(TABLE)
    decrypting = encryption.DecryptionConfiguration()
    config = ds.ParquetDecryptionConfig(factory, connection, decrypting)
    options = ds.ParquetFragmentScanOptions(decryption_config=config)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)
