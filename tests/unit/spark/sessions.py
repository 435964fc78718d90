"""Sessions without a JVM: settings as Spark keeps them, explicit ones apart from defaults."""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkException

DEFAULTS = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.streaming.stateStore.providerClass": "x.HDFSBackedStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false",
}


class Conf:
    def __init__(self, explicit: dict[str, str]) -> None:
        self.explicit = explicit

    @property
    def getAll(self) -> dict[str, str]:
        return dict(self.explicit)

    def get(self, name: str, *default: str | None) -> str | None:
        if default:
            return self.explicit.get(name, default[0])
        value = self.explicit.get(name, DEFAULTS.get(name))
        if value is None:
            raise PySparkException(f"{name} is not set")
        return value

    def set(self, name: str, value: str) -> None:
        self.explicit[name] = value


class Hadoop:
    def __init__(self, files: str) -> None:
        self.files = files

    def hadoopConfiguration(self) -> dict[str, str]:
        return {"fs.defaultFS": self.files}


class Context:
    def __init__(self, master: str, parallelism: int, files: str) -> None:
        self.master, self.defaultParallelism = master, parallelism
        self._jsc = Hadoop(files)


class Session:
    version = "4.3.0"

    def __init__(
        self, master: str = "local[2]", parallelism: int = 2, files: str = "file:///", **conf: Any
    ) -> None:
        settings = {name.replace("__", "."): value for name, value in conf.items()}
        self.conf = Conf({"spark.master": master, **settings})
        self.sparkContext = Context(master, parallelism, files)


class ConnectSession:
    """A client: it has no context."""

    version = "4.3.0"
    session_id = "client"

    def __init__(self, **conf: str) -> None:
        self.conf = Conf({name.replace("__", "."): value for name, value in conf.items()})

    @property
    def sparkContext(self) -> Any:
        raise AssertionError("a client has no context")


ConnectSession.__module__ = "pyspark.sql.connect.session"
